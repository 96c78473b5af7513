import {execFile} from 'node:child_process';
import {rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {startFakeOpenAI} from '../test/model/fake-openai.mjs';
import {commitAll} from './daemon-home.mjs';
import {times as ratio, rounds, table} from './measure.mjs';
import {ratioAtMost, row, skipped} from './row.mjs';
import {makeHome} from './turns.mjs';

const BLOCKS = rounds(8, 0);
const middle = values => [...values].sort((a, b) => a - b)[values.length >> 1];

/** One task for another agent: what it adds to a turn, beside a turn with a trivial call. The model answers at once. */
export default async function delegation() {
  if (BLOCKS === 0) return skipped('a task for another agent adds CPU', 'it takes 40 s');
  const server = await startFakeOpenAI({keep: false, answer: planned});
  const home = makeHome(server.url);
  try {
    const template = 'id: bench\ntype: bench\nsystem_prompt: You plan.\ncapabilities: [task, list_sessions]\n';
    writeFileSync(join(home, 'templates/bench.agent.yaml'), template);
    writeFileSync(join(home, 'allowlist.yaml'), 'version: 1\ntools: {task: allow}\n');
    commitAll(home);
    const script = fileURLToPath(new URL('delegation-daemon.mjs', import.meta.url));
    const {stdout} = await promisify(execFile)(process.execPath, [script, home, String(BLOCKS)], {timeout: 300_000});
    const {plain, delegating} = JSON.parse(stdout);
    const cells = name => [middle(plain[name]), middle(delegating[name])];
    table(
      `a turn with a trivial call, and one that gives a task to another agent; ${BLOCKS} blocks of each`,
      ['', 'trivial call', 'task', ''],
      [
        ['CPU of the daemon, ms a turn', ...cells('cpu'), ratio(...cells('cpu').reverse())],
        ['from the save to the answer in the file, ms', ...cells('took'), ratio(...cells('took').reverse())],
      ],
    );
    const added = name => ({
      ours: middle(delegating[name]) - middle(plain[name]),
      baseline: {name: 'a turn with a trivial call', value: middle(plain[name])},
    });
    row('a task for another agent adds CPU', {...added('cpu'), goal: ratioAtMost(2, 'issue 25')});
    row('a task for another agent adds time', added('took'));
    if (server.violations.length > 0) throw new Error(`invalid requests: ${JSON.stringify(server.violations[0])}`);
  } finally {
    await server.close();
    rmSync(home, {recursive: true, force: true});
  }
}

function planned({messages}, n) {
  if (messages.at(-1).role === 'tool') return {text: 'done'};
  const asked = messages.find(({role}) => role === 'user')?.content ?? '';
  if (asked.includes('Give it away'))
    return {calls: [{id: `call_${n}`, name: 'task', arguments: {agent_type: 'bench', description: 'Look.'}}]};
  if (asked.includes('Look.')) return {text: 'Redis is up.'};
  return {calls: [{id: `call_${n}`, name: 'list_sessions', arguments: {agent: 'nobody'}}]};
}
