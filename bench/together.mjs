import {execFileSync, spawn} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {createInterface} from 'node:readline';
import {setTimeout as sleep} from 'node:timers/promises';
import {startFakeOpenAI} from '../test/model/fake-openai.mjs';
import {program} from './daemon-home.mjs';
import {times as ratio, rounds, table} from './measure.mjs';
import {ratioAtMost, row} from './row.mjs';

const SIZES = [100, Number(process.env.TASKS ?? 10_000)];
const AGENTS = {100: 10, [SIZES[1]]: Number(process.env.AGENTS ?? 1_000)};
const ROUNDS = Number(process.env.ROUNDS ?? rounds(30, 8));
const PER_FILE = 100;
const middle = values => [...values].sort((a, b) => a - b)[values.length >> 1];

/**
 * Agents that work together: a task is ticked, and one in another file that depends on it reaches its agent's model. Two
 * homes, one with few tasks and one with many, taken in turns, so that load falls on both.
 */
export default async function together() {
  const asked = new Map();
  const server = await startFakeOpenAI({
    keep: false,
    answer: ({messages}) => {
      const id = /^Id: (\S+)$/m.exec(messages.findLast(({role}) => role === 'user')?.content ?? '')?.[1];
      asked.get(id)?.(performance.now());
      return {text: 'noted'};
    },
  });
  const homes = SIZES.map(size => ({size, home: makeHome(size), ms: []}));
  try {
    for (const each of homes) each.daemon = await start(each.home, server.url);
    for (let i = -3; i < ROUNDS; i++)
      for (const {size, home, ms} of homes) {
        const n = i + 3;
        const path = join(home, `tasks/first-${n}.task.md`);
        const reached = new Promise(resolve => asked.set(`then-${size}-${n}`, resolve));
        const text = readFileSync(path, 'utf8');
        const began = performance.now();
        writeFileSync(path, text.replace('- [/]', '- [x]'));
        const at = await Promise.race([reached, sleep(20_000)]);
        if (i >= 0) ms.push((at ?? Number.NaN) - began);
        await sleep(60);
      }
    const [few, many] = homes;
    row(`task ticked → its dependent asks, ${many.size.toLocaleString('en-US')} tasks`, {
      ours: middle(many.ms),
      baseline: {name: `of ${few.size} tasks`, value: middle(few.ms)},
      goal: ratioAtMost(2, 'issue 7'),
    });
    table(
      'a task ticked by hand, until the agent of one that depends on it asks its model, ms',
      ['tasks, agents', 'median', 'ratio', 'goal'],
      [
        [`${few.size}, ${AGENTS[few.size]}`, middle(few.ms), '', ''],
        [`${many.size}, ${AGENTS[many.size]}`, middle(many.ms), ratio(middle(many.ms), middle(few.ms)), '≤ 2'],
      ],
    );
    table(
      'start of the daemon in these homes, ms',
      ['tasks', 'until it serves'],
      homes.map(({size, daemon}) => [`${size}`, daemon.ready]),
    );
  } finally {
    for (const {daemon, home} of homes) {
      if (daemon) await daemon.stop();
      rmSync(dirname(home), {recursive: true, force: true});
    }
    await server.close();
  }
}

function makeHome(size) {
  const home = join(mkdtempSync(join(tmpdir(), 'agentdir-bench-')), 'home');
  execFileSync(process.execPath, [program, 'init', home], {stdio: 'ignore'});
  const agents = AGENTS[size];
  for (let i = 0; i < agents; i++)
    writeFileSync(
      join(home, `templates/a${i}.agent.yaml`),
      `id: a${i}\ntype: worker\nsystem_prompt: You work.\ncapabilities: [update_task]\n`,
    );
  mkdirSync(join(home, 'tasks'), {recursive: true});
  for (let from = 0; from < size; from += PER_FILE) {
    const tasks = Array.from({length: Math.min(PER_FILE, size - from)}, (_, k) => {
      const n = from + k;
      return `- [x] B @a${n % agents} #bench "task ${n}"\n  id: t${n}\n  created: 2026-01-01T00:00:00.000Z\n  completed: 2026-01-02T00:00:00.000Z`;
    });
    writeFileSync(join(home, `tasks/many-${from}.task.md`), `## TODO\n\n${tasks.join('\n')}\n`);
  }
  for (let n = 0; n < ROUNDS + 3; n++) {
    writeFileSync(
      join(home, `tasks/first-${n}.task.md`),
      `- [/] "first ${n}"\n  id: first-${size}-${n}\n  started: 2026-01-01T00:00:00.000Z\n`,
    );
    writeFileSync(
      join(home, `tasks/then-${n}.task.md`),
      `- [ ] @a${n % agents} "then ${n}"\n  id: then-${size}-${n}\n  created: 2026-01-01T00:00:00.000Z\n  depends_on: first-${size}-${n}\n`,
    );
  }
  execFileSync('git', ['-C', home, 'add', '-A'], {stdio: 'ignore'});
  execFileSync('git', ['-C', home, '-c', 'user.name=b', '-c', 'user.email=b@b', 'commit', '-qm', 'many'], {
    stdio: 'ignore',
  });
  return home;
}

async function start(home, url) {
  const began = performance.now();
  const child = spawn(process.execPath, [program, 'start', '--json'], {
    cwd: home,
    env: {...process.env, OPENAI_BASE_URL: url, OPENAI_MODEL: 'fake-1'},
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const serving = new Promise(resolve => {
    createInterface({input: child.stdout}).on('line', line => {
      if (JSON.parse(line).event === 'serving') resolve(performance.now() - began);
    });
  });
  const ready = await serving;
  await sleep(3_000);
  const exited = new Promise(resolve => child.once('exit', resolve));
  return {
    ready,
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
  };
}
