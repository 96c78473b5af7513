import {execFileSync, spawn} from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {createInterface} from 'node:readline';
import {setTimeout as sleep} from 'node:timers/promises';
import {startFakeOpenAI} from '../test/model/fake-openai.mjs';
import {program} from './daemon-home.mjs';
import {times as ratio, rounds, table} from './measure.mjs';
import {atLeast, atMost, ratioAtMost, row} from './row.mjs';

const LINES = Number(process.env.LINES ?? rounds(100_000, 30_000));
const GB = Number(process.env.INBOX_GB ?? rounds(1, 0.25));
const ROUNDS = Number(process.env.ROUNDS ?? rounds(15, 6));
const middle = values => [...values].sort((a, b) => a - b)[values.length >> 1];
const worst = values => Math.max(...values);

/**
 * Lines of an inbox. Many at once, all for one agent, while another agent has its turns: a message by hand in its session until its model
 * is asked. Then a line appended to a large file, and to a small one, taken in turns.
 */
export default async function inbox() {
  const asked = new Map();
  const server = await startFakeOpenAI({
    keep: false,
    answer: ({messages}) => {
      const text = messages.findLast(({role}) => role === 'user')?.content ?? '';
      for (const [id, resolve] of asked) if (text.includes(id)) resolve(performance.now());
      return {text: 'noted'};
    },
  });
  const home = makeHome();
  const daemon = await start(home, server.url);
  try {
    await turnsOf(home, asked, 'warm', 5);
    const idle = await turnsOf(home, asked, 'idle', ROUNDS);
    const lines = Array.from({length: LINES}, (_, i) => JSON.stringify(record(i)));
    const began = performance.now();
    appendFileSync(join(home, 'inbox/many.jsonl'), `${lines.join('\n')}\n`);
    let over = false;
    const busy = [];
    const others = (async () => {
      for (let n = 0; !over; n++) busy.push(...(await turnsOf(home, asked, `busy-${n}`, 1)));
    })();
    while (readLines(home, 'many') < LINES) await sleep(50);
    const took = performance.now() - began;
    over = true;
    await others;
    row(`${LINES.toLocaleString('en-US')} lines of an inbox`, {
      ours: LINES / (took / 1000),
      unit: 'lines/s',
      goal: atLeast(5_000, 'issue 8'),
    });
    row("another agent's turn meanwhile", {
      ours: middle(busy),
      baseline: {name: 'nothing else to do', value: middle(idle)},
    });
    row("another agent's turn meanwhile, the worst", {
      ours: worst(busy),
      baseline: {name: 'nothing else to do', value: worst(idle)},
      goal: atMost(500, 'our reading of "without blocking" in issue 8'),
    });
    table(
      `${LINES.toLocaleString('en-US')} lines appended at once, for one agent`,
      ['', 'lines/s', 'goal'],
      [[`delivered, durable and in the cursor after ${(took / 1000).toFixed(1)} s`, LINES / (took / 1000), '≥ 5,000']],
    );
    table(
      "another agent's turn, ms: a message by hand until its model is asked",
      ['', 'median', 'worst', 'turns', 'ratio'],
      [
        ['nothing else to do', middle(idle), worst(idle), idle.length, ''],
        ['while the lines come in', middle(busy), worst(busy), busy.length, ratio(middle(busy), middle(idle))],
      ],
    );
    const ids = deliveries(home);
    row('lines of it that are not delivered once', {
      ours: LINES - new Set(ids).size + (ids.length - new Set(ids).size),
      unit: '',
      goal: atMost(0, 'issue 8'),
    });
    console.log(`\n${ids.length} lines in sessions, ${new Set(ids).size} different`);
    await largeFile(home, asked);
    row('memory of the daemon at its most', {ours: daemon.mostMemory(), unit: 'MB'});
    console.log(`memory of the daemon at its most: ${daemon.mostMemory()} MB`);
  } finally {
    await daemon.stop();
    rmSync(dirname(home), {recursive: true, force: true});
    await server.close();
  }
}

/** Of a file that is read already: what one more line costs. */
async function largeFile(home, asked) {
  const filler = `${JSON.stringify({direction: 'out', text: 'x'.repeat(4_000)})}\n`;
  const block = Buffer.from(filler.repeat(256));
  const size = GB * 1024 ** 3;
  const fd = openSync(join(home, 'inbox/large.jsonl'), 'a');
  let written = 0;
  const began = performance.now();
  while (written < size) written += writeSync(fd, block);
  closeSync(fd);
  writeFileSync(join(home, 'inbox/small.jsonl'), filler);
  const count = (written / block.length) * 256;
  while (readLines(home, 'large') < count) await sleep(100);
  const took = (performance.now() - began) / 1000;
  const ms = {large: [], small: []};
  for (let i = -3; i < ROUNDS; i++)
    for (const name of ['large', 'small']) {
      const id = `${name}-${i}-x`;
      const seen = new Promise(resolve => asked.set(id, resolve));
      const start = performance.now();
      appendFileSync(join(home, `inbox/${name}.jsonl`), `${JSON.stringify({text: id, to: 'worker'})}\n`);
      const at = await Promise.race([seen, sleep(20_000)]);
      if (i >= 0) ms[name].push((at ?? Number.NaN) - start);
      await sleep(100);
    }
  row(`a line appended to ${GB} GB → the model asked`, {
    ours: middle(ms.large),
    baseline: {name: 'to some KB', value: middle(ms.small)},
    goal: ratioAtMost(2, 'our reading of "costs what was appended" in issue 8'),
  });
  table(
    'a line appended, until the model of its agent is asked, ms',
    ['file', 'median', 'worst', 'ratio', 'goal'],
    [
      ['of some KB', middle(ms.small), worst(ms.small), '', ''],
      [`of ${GB} GB`, middle(ms.large), worst(ms.large), ratio(middle(ms.large), middle(ms.small)), '≤ 2'],
    ],
  );
  console.log(`\n${GB} GB of lines that are not to be delivered were read in ${took.toFixed(1)} s`);
}

function record(i) {
  return {text: `message ${i} of many, with some words in it`, from: `user-${i % 50}`, channel: 'ops', ts: `17595${i}`};
}

async function turnsOf(home, asked, name, count) {
  const ms = [];
  for (let i = 0; i < count; i++) {
    const id = `${name}-${i}-y`;
    const seen = new Promise(resolve => asked.set(id, resolve));
    const began = performance.now();
    writeFileSync(
      join(home, `sessions/${id}.session.yaml`),
      `agent_id: worker\nmessages:\n  - role: user\n    content: ${id}\n`,
    );
    ms.push(((await Promise.race([seen, sleep(20_000)])) ?? Number.NaN) - began);
    await sleep(50);
  }
  return ms;
}

/** How many lines the cursor has. */
function readLines(home, name) {
  try {
    return Number(/^line: (\d+)/m.exec(readFileSync(join(home, `state/inbox/${name}.yaml`), 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function deliveries(home) {
  const found = [];
  for (const entry of readdirSync(join(home, 'sessions'), {recursive: true}))
    if (entry.endsWith('.yaml'))
      for (const [, id] of readFileSync(join(home, 'sessions', entry), 'utf8').matchAll(/delivery: (inbox\/many\S+)/g))
        found.push(id);
  return found;
}

function makeHome() {
  const home = join(mkdtempSync(join(tmpdir(), 'agentdir-bench-')), 'home');
  execFileSync(process.execPath, [program, 'init', home], {stdio: 'ignore'});
  const template = (id, model) =>
    `id: ${id}\ntype: worker\nmodel: ${model}\nsystem_prompt: You work.\ncapabilities: [list_agents]\n`;
  writeFileSync(join(home, 'templates/reader.agent.yaml'), template('reader', 'playbook'));
  writeFileSync(join(home, 'templates/worker.agent.yaml'), template('worker', 'fake-1'));
  writeFileSync(join(home, 'agentdir.yaml'), 'format: 1\ndefault_agent: reader\n');
  mkdirSync(join(home, 'inbox'), {recursive: true});
  execFileSync('git', ['-C', home, 'add', '-A'], {stdio: 'ignore'});
  execFileSync('git', ['-C', home, '-c', 'user.name=b', '-c', 'user.email=b@b', 'commit', '-qm', 'many'], {
    stdio: 'ignore',
  });
  return home;
}

async function start(home, url) {
  const child = spawn(process.execPath, [program, 'start', '--json'], {
    cwd: home,
    env: {...process.env, OPENAI_BASE_URL: url, OPENAI_MODEL: 'fake-1'},
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise(resolve => {
    createInterface({input: child.stdout}).on('line', line => {
      if (JSON.parse(line).event === 'serving') resolve();
    });
  });
  await sleep(1_000);
  const exited = new Promise(resolve => child.once('exit', resolve));
  return {
    mostMemory: () =>
      Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024),
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
  };
}
