import {execFileSync, spawn, spawnSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {startFakeOpenAI} from '../test/model/fake-openai.mjs';
import {program} from './daemon-home.mjs';
import {median, rounds, table} from './measure.mjs';
import {atMost, moreAtMost, row, skipped} from './row.mjs';

const AGENTS = 1_000;
const MESSAGES = 10_000;
const STREAMING = 20;
const KEYS = rounds(60, 15);

/** Chat as a person feels it: how soon it is there, how soon a key shows while agents write, how much memory it takes. */
export default async function chat() {
  if (spawnSync('script', ['--version']).error) {
    skipped('chat', 'script (bsdutils) is not installed');
    return;
  }
  const server = await startFakeOpenAI({
    keep: false,
    answer: () => ({text: 'several words of an answer '.repeat(2_000), delay: 20}),
  });
  const home = makeChatHome(server.url);
  const daemon = spawn(process.execPath, [program, '--home', home, 'start', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const node = median(() => spawnSync(process.execPath, ['-e', '0'], {stdio: 'ignore'}), {least: 5, most: 10});
    await new Promise(resolve => daemon.stdout.once('data', resolve));
    daemon.stdout.resume();
    await sleep(rounds(3_000, 1_000));
    const paints = [];
    for (let i = 0; i < rounds(7, 3); i++) paints.push(await firstPaint(home));
    const paint = middle(paints);
    const baseline = {name: 'node -e 0', value: node};
    row('the first screen, 1,000 agents', {ours: paint, baseline, goal: moreAtMost(300, 'issue 28')});

    agentdir(home, 'send', 'write', '--to', nameOf(0));
    for (let i = 1; i < STREAMING; i++)
      writeFileSync(
        join(home, `sessions/stream-${i}.session.yaml`),
        `agent_id: ${nameOf(i)}\nmessages:\n  - role: user\n    content: write\n`,
      );
    const terminal = openChat(home);
    await terminal.shows('several words');
    const late = [];
    for (let i = 0; i < KEYS; i++) {
      const typed = 'abcdefghijklmnopqrstuvwxyz'.repeat(4).slice(0, i + 1);
      const begun = performance.now();
      terminal.type(typed.at(-1));
      await terminal.shows(typed.slice(-8));
      late.push(performance.now() - begun);
      await sleep(40);
    }
    late.sort((a, b) => a - b);
    const p95 = late[Math.floor(late.length * 0.95)];
    row('a key shows, while 20 agents write', {ours: middle(late), goal: atMost(50, 'issue 28')});
    row('95 of 100 keys', {ours: p95, goal: atMost(50, 'issue 28')});
    const memory = memoryOf(terminal.pid());
    row('memory, 1,000 agents and 10,000 messages', {ours: memory, unit: 'MB', goal: atMost(150, 'issue 28')});
    terminal.end();
    table(
      'chat on a terminal',
      ['', 'figure'],
      [
        ['node -e 0, ms', node],
        ['first screen, ms', paint],
        ['a key shows, median ms', middle(late)],
        ['a key shows, 95 %, ms', p95],
        ['memory, MB', memory],
      ],
    );
  } finally {
    daemon.kill('SIGKILL');
    await server.close();
    rmSync(home, {recursive: true, force: true, maxRetries: 20, retryDelay: 50});
  }
}

const middle = values => [...values].sort((a, b) => a - b)[values.length >> 1];
const nameOf = i => `agent-${String(i).padStart(4, '0')}`;

function agentdir(home, ...args) {
  execFileSync(process.execPath, [program, '--home', home, ...args], {stdio: 'ignore'});
}

function makeChatHome(url) {
  const home = join(mkdtempSync(join(tmpdir(), 'chat-bench-')), 'home');
  execFileSync(process.execPath, [program, 'init', home], {stdio: 'ignore'});
  for (let i = 0; i < AGENTS; i++)
    writeFileSync(
      join(home, `templates/${nameOf(i)}.agent.yaml`),
      `id: ${nameOf(i)}\ntype: bench\nsystem_prompt: You write.\ncapabilities: [read_file]\n`,
    );
  writeFileSync(
    join(home, 'agentdir.yaml'),
    `format: 1\nname: bench\ndefault_agent: ${nameOf(0)}\nconcurrency: ${STREAMING}\nmodels: [{id: fake-1, base_url: "${url}"}]\n`,
  );
  mkdirSync(join(home, `sessions/${nameOf(0)}`), {recursive: true});
  writeFileSync(join(home, `sessions/${nameOf(0)}/${nameOf(0)}-shared.session.yaml`), longSession());
  return home;
}

function longSession() {
  const time = new Date().toISOString();
  const head = `session_id: ${nameOf(0)}-shared\nagent_id: ${nameOf(0)}\nagent_type: bench\nmodel: default\nshared: true\nsystem_prompt: You write.\ncreated: '${time}'\nupdated: '${time}'\nstatus: sleeping\nmessages:\n`;
  let text = head;
  for (let i = 0; i < MESSAGES; i += 2)
    text += `  - timestamp: '${time}'\n    role: user\n    from: human\n    content: Question ${i}\n  - timestamp: '${time}'\n    role: assistant\n    model: fake-1\n    content: Answer ${i}\n`;
  return text;
}

/** From the start of the program to the bytes of its first status bar. */
async function firstPaint(home) {
  const begun = performance.now();
  const terminal = openChat(home);
  await terminal.shows('[+New]');
  const ms = performance.now() - begun;
  terminal.end();
  await terminal.ended;
  return ms;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are told so what to do
const SEQUENCES = /\u001b\[[0-9;?]*[ -/]*[@-~]/g;

/** Chat under a pseudo-terminal of 80×24. */
function openChat(home) {
  const command = `stty rows 24 cols 80; exec '${process.execPath}' '${program}' --home '${home}' chat`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {env: {...process.env, TERM: 'xterm-256color'}});
  let shown = '';
  let listen = () => {};
  child.stdout.on('data', chunk => {
    shown = (shown + chunk).slice(-200_000);
    listen();
  });
  return {
    ended: new Promise(resolve => child.once('exit', resolve)),
    type: keys => child.stdin.write(keys),
    shows: text =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`chat does not show ${text}: ${shown.slice(-2_000)}`)), 30_000);
        listen = () => {
          if (!shown.replace(SEQUENCES, '').includes(text)) return;
          clearTimeout(timer);
          listen = () => {};
          resolve();
        };
        listen();
      }),
    pid: () => Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ')[0]),
    end: () => child.kill('SIGTERM'),
  };
}

function memoryOf(pid) {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}
