import {execFileSync, fork} from 'node:child_process';
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {findBubblewrap} from '../dist/effects/sandbox/bubblewrap.js';
import {startFakeOpenAI} from '../test/model/fake-openai.mjs';
import {commitAll, program, sessionText} from './daemon-home.mjs';
import {times as ratio, rounds, table} from './measure.mjs';
import {moreAtMost, ratioAtMost, skipped, row as tell} from './row.mjs';

const PENDING = Number(process.env.PENDING ?? rounds(1_000, 300));
const ROUNDS = Number(process.env.ROUNDS ?? rounds(40, 10));
const STARTS = rounds(5, 2);

const middle = values => [...values].sort((a, b) => a - b)[values.length >> 1];
const part = (values, share) => [...values].sort((a, b) => a - b)[Math.floor(values.length * share)];

/**
 * Approvals: how soon a command that a person approves runs, and what a queue of many that wait costs others. Two homes with as
 * many sessions, each with a daemon of its own, taken in turns, so that load falls on both.
 */
export default async function approvals() {
  const bubblewrap = await findBubblewrap();
  if (!bubblewrap || 'problem' in bubblewrap)
    return skipped('a command approved', `no bubblewrap: ${bubblewrap?.problem ?? 'not installed'}`);
  const server = await startFakeOpenAI({keep: false, answer: part => answer(part)});
  const homes = {none: makeHome(server.url, PENDING), many: makeHome(server.url, 0)};
  try {
    const first = await start(homes.many);
    const filled = await first.do('fill', 'pending', PENDING);
    await sleep(2_000);
    await first.stop();
    const starts = {none: [], many: []};
    for (let i = 0; i < STARTS; i++)
      for (const [name, home] of Object.entries(homes)) {
        const daemon = await start(home);
        starts[name].push(daemon.ready);
        await sleep(500);
        await daemon.stop();
      }
    const none = await start(homes.none);
    const many = await start(homes.many);
    await sleep(2_000);
    const both = await inTurns({none, many});
    await Promise.all([none.stop(), many.stop()]);
    print(both, starts, filled);
  } finally {
    await server.close();
    for (const home of Object.values(homes)) rmSync(home, {recursive: true, force: true});
  }
}

async function inTurns(daemons) {
  const all = {};
  for (const name of Object.keys(daemons)) all[name] = {turn: [], ask: [], decide: [], bare: []};
  for (let i = -5; i < ROUNDS; i++)
    for (const [name, daemon] of Object.entries(daemons)) {
      const note = (what, {ms}) => i >= 0 && all[name][what].push(ms);
      note('turn', await daemon.do('turn', `turn${i + 5}`));
      await sleep(30);
      const id = `ask${i + 5}`;
      const asked = await daemon.do('ask', id);
      note('ask', asked);
      await sleep(100);
      note('decide', await daemon.do('decide', id, asked.approval));
      await sleep(30);
      note('bare', await daemon.do('bare'));
      await sleep(30);
    }
  return all;
}

/** A message: two trivial calls, or a command that must be asked about. Their results: "done". */
function answer({messages}) {
  if (messages.at(-1).role === 'tool') return {text: 'done'};
  if (messages.at(-1).content.includes('ask'))
    return {calls: [{name: 'execute_command', arguments: {command: 'date +%s.%N', reason: 'to see what time it is'}}]};
  return {calls: ['a', 'b'].map(id => ({id, name: 'list_sessions', arguments: {agent: 'nobody'}}))};
}

function print({none, many}, starts, filled) {
  const wait = `${PENDING.toLocaleString('en-US')} wait`;
  const told = (name, a, b, goal) =>
    tell(name, {ours: middle(b), baseline: {name: 'none waits', value: middle(a)}, ...goal});
  const alone = ({bare}) => ({name: 'the command alone', value: middle(bare)});
  tell('ticked → the command runs, confined', {
    ours: middle(none.decide),
    baseline: alone(none),
    goal: moreAtMost(30, 'issue 6'),
  });
  tell(`the same while ${wait}`, {ours: middle(many.decide), baseline: alone(many)});
  told(`a plain turn while ${wait}`, none.turn, many.turn, {goal: ratioAtMost(1.5, 'issue 6')});
  told(`asking while ${wait}`, none.ask, many.ask);
  told(`start while ${wait}`, starts.none, starts.many);
  table(
    'an approval ticked in the queue until the command itself notes the time, ms',
    ['', 'median', 'p95', 'the command alone, as confined', 'beyond it'],
    [
      ['nothing else waits', none],
      [`${PENDING} others wait`, many],
    ].map(([name, {decide, bare}]) => [
      name,
      middle(decide),
      part(decide, 0.95),
      middle(bare),
      middle(decide) - middle(bare),
    ]),
  );
  const row = (name, a, b) => [name, middle(a), middle(b), ratio(middle(b), middle(a))];
  table(
    `beside ${PENDING} approvals that wait, ms`,
    ['', 'none', `${PENDING}`, ''],
    [
      row('a plain turn, from the save to the answer in the file', none.turn, many.turn),
      row('asking, from the save to item and page', none.ask, many.ask),
      row('start of the daemon, until it serves', starts.none, starts.many),
    ],
  );
  console.log(`\n${PENDING} sessions that ask at once: ${(filled.ms / 1000).toFixed(1)} s`);
}

async function start(home) {
  const child = fork(fileURLToPath(new URL('approvals-daemon.mjs', import.meta.url)), [home]);
  const next = () => new Promise(resolve => child.once('message', resolve));
  const {ready} = await next();
  const exited = new Promise(resolve => child.once('exit', resolve));
  return {
    ready,
    do: (task, ...args) => {
      const done = next();
      child.send({task, args});
      return done;
    },
    stop: () => {
      child.send({task: 'stop'});
      return exited;
    },
  };
}

function makeHome(url, sessions) {
  const home = mkdtempSync(join(tmpdir(), 'approvals-bench-'));
  execFileSync(process.execPath, [program, 'init', home], {stdio: 'ignore'});
  const put = (path, text) => writeFileSync(join(home, path), text);
  put(
    'agentdir.yaml',
    `format: 1\nname: home\ndefault_agent: bench\nmodels:\n  - {id: fake, base_url: "${url}"}\ndefault_model: fake\n`,
  );
  put(
    'templates/bench.agent.yaml',
    'id: bench\ntype: bench\nsystem_prompt: You plan.\ncapabilities: [list_sessions, execute_command]\n',
  );
  put('allowlist.yaml', 'version: 1\n');
  mkdirSync(join(home, 'workspaces/bench'), {recursive: true});
  mkdirSync(join(home, 'sessions/bench'), {recursive: true});
  for (let i = 0; i < sessions; i++) put(`sessions/bench/old${i}.session.yaml`, sessionText(`old${i}`));
  commitAll(home);
  return home;
}
