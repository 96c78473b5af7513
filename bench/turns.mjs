import {execFile, execFileSync} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {startFakeOpenAI} from '../test/model/fake-openai.mjs';
import {commitAll, program} from './daemon-home.mjs';
import {times as ratio, rounds, table} from './measure.mjs';
import {atMost, ratioAtLeast, ratioAtMost, row} from './row.mjs';

const SESSIONS = 200;
const ROUNDS = rounds(5, 2);
const TURNS = 100;

const middle = values => [...values].sort((a, b) => a - b)[values.length >> 1];
const part = (values, share) => [...values].sort((a, b) => a - b)[Math.floor(values.length * share)];

/**
 * Turns: how soon a saved message is at the model, what a turn costs beside the bare loop, early and late in a session.
 * The model server is this process; the bare loop and the daemon each are one of their own, and drive themselves.
 */
export default async function turns() {
  const server = await startFakeOpenAI({answer: twoCalls});
  const home = makeHome(server.url);
  try {
    // Before and after, for times and rates: what else the machine does meanwhile falls on both.
    const before = await inChild(new URL('bare-loop.mjs', import.meta.url), server.url);
    const ours = await inChild(new URL('turns-daemon.mjs', import.meta.url), home);
    const bare = both(before, await inChild(new URL('bare-loop.mjs', import.meta.url), server.url));
    const arrivals = server.requests.map(({at}) => performance.timeOrigin + at);
    const reactions = saves => saves.map(save => arrivals.find(at => at > save) - save);
    const measured = {
      ...ours,
      edited: reactions(ours.edited),
      renamed: reactions(ours.renamed),
      sent: reactions(ours.sent),
    };
    print(bare, measured);
    tell(bare, measured);
    if (server.violations.length > 0) throw new Error(`invalid requests: ${JSON.stringify(server.violations[0])}`);
  } finally {
    await server.close();
    rmSync(home, {recursive: true, force: true});
  }
}

async function inChild(script, argument) {
  const args = [fileURLToPath(script), argument, String(SESSIONS), String(ROUNDS), String(TURNS)];
  const {stdout} = await promisify(execFile)(process.execPath, args, {maxBuffer: 1 << 26});
  return JSON.parse(stdout);
}

function both(a, b) {
  return {times: [...a.times, ...b.times], growing: a.growing, rate: (a.rate + b.rate) / 2};
}

/** A message: two trivial calls. Their results: "done". */
export function twoCalls({messages}, n) {
  if (messages.at(-1).role === 'tool') return {text: 'done'};
  return {
    calls: ['a', 'b'].map(name => ({id: `call_${n}_${name}`, name: 'list_sessions', arguments: {agent: 'nobody'}})),
  };
}

function tell(bare, ours) {
  row('message saved in place → request at the model', {ours: middle(ours.edited), goal: atMost(15, 'issue 4')});
  row('message saved by rename → request at the model', {ours: middle(ours.renamed), goal: atMost(4, 'issue 22')});
  row('the same by agentdir send, its save alone', {ours: middle(ours.sent)});
  const baseline = {name: 'bare openai loop', value: middle(bare.times)};
  const goal = ratioAtMost(3, 'issue 4');
  row('a turn, from the question to the answer', {ours: middle(ours.worked), baseline, goal});
  row('a turn, from the save of agentdir send', {ours: middle(ours.sentTurns), baseline});
  row('a turn, from a save in place', {ours: middle(ours.turned), baseline, goal});
  row('a turn, until all of it is in git', {ours: middle(ours.committed), baseline});
  row(`turns ${TURNS - 9} to ${TURNS} of a conversation`, {
    ours: late(ours.growing),
    baseline: {name: 'turns 2 to 11', value: early(ours.growing)},
    goal: ratioAtMost(1.5, 'issue 4'),
  });
  row(`${SESSIONS} sessions at once`, {
    ours: ours.rate,
    unit: 'turns/s',
    baseline: {name: 'bare openai loop', value: bare.rate},
    goal: ratioAtLeast(1 / 3, 'issue 4'),
  });
  row(`memory after ${190 + TURNS + SESSIONS * ROUNDS} turns`, {ours: ours.rss, unit: 'MB'});
}

const early = values => middle(values.slice(1, 11));
const late = values => middle(values.slice(-10));

function print(bare, ours) {
  const base = middle(bare.times);
  table(
    'a message saved by an editor until its request is at the model, ms',
    ['', 'median', 'p95'],
    [
      ['saved in place', middle(ours.edited), part(ours.edited, 0.95)],
      ['saved by rename', middle(ours.renamed), part(ours.renamed, 0.95)],
      ['saved by agentdir send (its save alone)', middle(ours.sent), part(ours.sent, 0.95)],
    ],
  );
  table(
    'one turn: a message, two trivial calls, an answer, ms',
    ['', 'median', 'p95', 'to the bare loop'],
    [
      ['bare openai loop', base, part(bare.times, 0.95), ''],
      [
        'agentdir, from the first question to the answer in the file',
        middle(ours.worked),
        part(ours.worked, 0.95),
        ratio(middle(ours.worked), base),
      ],
      [
        'agentdir, from the save of agentdir send to the answer in the file',
        middle(ours.sentTurns),
        part(ours.sentTurns, 0.95),
        ratio(middle(ours.sentTurns), base),
      ],
      [
        'agentdir, from the save to the answer in the file',
        middle(ours.turned),
        part(ours.turned, 0.95),
        ratio(middle(ours.turned), base),
      ],
      [
        'agentdir, from the save until all is committed',
        middle(ours.committed),
        part(ours.committed, 0.95),
        ratio(middle(ours.committed), base),
      ],
    ],
  );
  table(
    'one conversation, ms a turn (from the save to the answer in the file)',
    ['', 'turns 2 to 11', `turns ${TURNS - 9} to ${TURNS}`, 'growth'],
    [
      ['bare openai loop', early(bare.growing), late(bare.growing), ratio(late(bare.growing), early(bare.growing))],
      ['agentdir', early(ours.growing), late(ours.growing), ratio(late(ours.growing), early(ours.growing))],
    ],
  );
  table(
    `${SESSIONS} sessions at once, turns/s of one process`,
    ['', 'turns/s', 'to the bare loop', 'memory after all, MB'],
    [
      ['bare openai loop', bare.rate, '', ''],
      ['agentdir, every change on disk and in git', ours.rate, ratio(ours.rate, bare.rate), ours.rss],
    ],
  );
}

export function makeHome(url, ofModel = '') {
  const home = mkdtempSync(join(tmpdir(), 'turns-bench-'));
  execFileSync(process.execPath, [program, 'init', home], {stdio: 'ignore'});
  writeFileSync(
    join(home, 'agentdir.yaml'),
    `format: 1\nname: home\ndefault_agent: bench\nconcurrency: 64\nmodels:\n  - {id: fake, base_url: "${url}"${ofModel}}\ndefault_model: fake\n`,
  );
  writeFileSync(
    join(home, 'templates/bench.agent.yaml'),
    'id: bench\ntype: bench\nsystem_prompt: You plan.\ncapabilities: [list_agents, list_sessions]\n',
  );
  commitAll(home);
  return home;
}
