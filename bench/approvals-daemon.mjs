// node approvals-daemon.mjs HOME, forked: serve the home in this process and do what the parent says, one thing after the
// other; answer with how long it took.
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {runPrograms} from '../dist/effects/sandbox/run.js';
import {serveHere} from './serve-here.mjs';

const home = process.argv[2];
const {served, when} = serveHere(home);

const now = () => performance.timeOrigin + performance.now();
const pathOf = id => join(home, `sessions/bench/${id}.session.yaml`);
const pageOf = id => join(home, `approvals/pending/${id}.approval.md`);
const queue = join(home, 'tasks/approvals.task.md');

function say(id, what) {
  const time = new Date().toISOString();
  writeFileSync(
    pathOf(id),
    `session_id: ${id}\nagent_id: bench\nagent_type: bench\nmodel: default\nsystem_prompt: You plan.\ncreated: '${time}'\nupdated: '${time}'\nstatus: active\nmessages:\n  - timestamp: '${time}'\n    role: user\n    from: human\n    content: ${what}\n`,
  );
}

const answered = id => when(({event, session, calls}) => event === 'answered' && session === id && calls === 0);

/** Until item and page are on disk. */
async function asked(id) {
  const {happening} = await when(({event, session}) => event === 'asked' && session === id);
  while (!existsSync(pageOf(happening.id))) await sleep(1);
  return {approval: happening.id, at: now()};
}

const COMMAND = 'date +%s.%N';

const work = {
  /** A message, two trivial calls, an answer in the file. */
  turn: async id => {
    const done = answered(id);
    const start = performance.now();
    say(id, 'plain');
    return {ms: (await done).at - start};
  },
  ask: async id => {
    const there = asked(id);
    const start = now();
    say(id, 'ask');
    const {approval, at} = await there;
    return {ms: at - start, approval};
  },
  /** Tick the box: until the command notes the time itself. */
  decide: async (id, approval) => {
    const text = readFileSync(queue, 'utf8');
    const at = text.lastIndexOf('- [_]', text.indexOf(`id: ${approval}`));
    const ticked = `${text.slice(0, at)}- [x]${text.slice(at + 5)}`;
    const done = answered(id);
    const start = now();
    writeFileSync(queue, ticked);
    await done;
    const noted = /"stdout":"([\d.]+)/.exec(readFileSync(pathOf(id), 'utf8'))?.[1];
    return {ms: Number(noted) * 1000 - start};
  },
  /** The same command, under the same sandbox, with nothing before it. */
  bare: async () => {
    const out = [];
    const workspace = join(home, 'workspaces/bench');
    const program = {argv: ['bash', '-c', COMMAND], operator: '', confined: true, network: false};
    const start = now();
    await runPrograms({
      ...{programs: [program], home, workspace, readOnly: false, mark: 'bench', timeoutMs: 10_000},
      ...{mostOutput: 1 << 20, signal: new AbortController().signal, onOutput: (_, chunk) => out.push(chunk)},
    });
    return {ms: Number(out.join('')) * 1000 - start};
  },
  /** So many at once: until all wait. */
  fill: async (prefix, many) => {
    const ids = Array.from({length: many}, (_, i) => `${prefix}${i}`);
    const all = Promise.all(ids.map(asked));
    for (const id of ids) say(id, 'ask');
    const start = now();
    await all;
    return {ms: now() - start};
  },
};

mkdirSync(join(home, 'sessions/bench'), {recursive: true});
const {at} = await when(({event}) => event === 'serving');
process.send({ready: at});
process.on('message', async ({task, args}) => {
  if (task === 'stop') {
    process.kill(process.pid, 'SIGTERM');
    await served;
    process.disconnect();
  } else process.send(await work[task](...args));
});
