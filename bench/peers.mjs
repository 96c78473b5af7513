import {execFile, execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, rmSync, statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {startFakeOpenAI} from '../test/model/fake-openai.mjs';
import {invalid} from '../test/model/strict-chat.mjs';
import {times as ratio, rounds, table} from './measure.mjs';
import {ratioAtMost, row, skipped} from './row.mjs';
import {makeHome, twoCalls} from './turns.mjs';

const TURNS = 20;
const CONVERSATIONS = rounds(5, 2);
const folder = fileURLToPath(new URL('peers', import.meta.url));
const middle = values => [...values].sort((a, b) => a - b)[values.length >> 1];

/** What each keeps of a conversation: a question, an answer with two calls, their results, an answer. @openai/agents has an item for each call. */
const peers = [
  {name: 'raw openai loop', script: 'raw.mjs', kept: undefined},
  {name: 'agentdir', script: 'agentdir.mjs', kept: 5 * TURNS},
  {name: 'LangGraph, SQLite', script: 'langgraph.mjs', kept: 5 * TURNS, installed: true},
  {name: '@openai/agents, SQLite', script: 'openai-agents.mjs', kept: 6 * TURNS, installed: true},
];

/** The same conversation of twenty turns with two calls each, on a model without latency, by agentdir and by others; each a process of its own. */
export default async function compare() {
  const missing = await install();
  const found = new Map();
  for (const peer of peers) {
    if (peer.installed && missing) skipped(peer.name, missing);
    else
      try {
        found.set(peer.name, await measured(peer));
      } catch (error) {
        // Of others only told: what they cannot do must not hide what we did.
        if (!peer.installed) throw error;
        console.error(error);
        skipped(peer.name, error.message.split('\n')[0]);
      }
  }
  print(found);
  tell(found);
}

/** Why they are not there. Their packages are no part of the product: fetched when they are wanted, and again after a change. */
async function install() {
  const there = join(folder, 'node_modules/.package-lock.json');
  const lock = join(folder, 'package-lock.json');
  if (existsSync(there) && statSync(there).mtimeMs >= statSync(lock).mtimeMs) return undefined;
  console.error('peers: npm ci --prefix bench/peers, some minutes the first time');
  try {
    await promisify(execFile)('npm', ['ci', '--prefix', folder, '--no-audit', '--no-fund'], {timeout: 900_000});
    return undefined;
  } catch (error) {
    const lines = `${error.stderr ?? ''}\n${error.message}`
      .split('\n')
      .filter(line => line !== '' && !line.startsWith('npm warn'));
    return `npm ci --prefix bench/peers failed: ${lines[0] ?? error.code}`;
  }
}

/** It is checked that each did the same: requests, calls, answers, and what it keeps. */
async function measured({name, script, kept}) {
  const server = await startFakeOpenAI({
    check: asLoose,
    answer: (request, n) => (isAnswer(request) ? done(request) : twoCalls(request, n)),
  });
  const place = script === 'agentdir.mjs' ? makeHome(server.url) : mkdtempSync(join(tmpdir(), 'peers-bench-'));
  try {
    const first = script === 'agentdir.mjs' ? place : server.url;
    const args = [join(folder, script), first, place, String(CONVERSATIONS), String(TURNS)];
    const {stdout} = await promisify(execFile)(process.execPath, args, {maxBuffer: 1 << 26, timeout: 300_000});
    const result = JSON.parse(stdout.trim().split('\n').at(-1));
    const wanted = 2 * TURNS * (CONVERSATIONS + 1);
    const results = server.requests.filter(({body}) => isAnswer(body)).map(({body}) => lastResults(body));
    if (server.violations.length > 0) throw new Error(`${name}: ${JSON.stringify(server.violations[0])}`);
    if (server.count !== wanted) throw new Error(`${name}: expected ${wanted} requests, got ${server.count}`);
    if (results.length !== wanted / 2 || results.some(count => count !== 2))
      throw new Error(`${name}: expected 2 results in each of ${wanted / 2} requests`);
    if (kept !== undefined && (result.kept !== kept || result.last !== `done ${TURNS}`))
      throw new Error(`${name}: expected ${kept} kept, the last "done ${TURNS}", got ${result.kept}, "${result.last}"`);
    return {...result, disk: kept === undefined ? undefined : diskOf(place)};
  } finally {
    await server.close();
    rmSync(place, {recursive: true, force: true});
  }
}

/** OpenAI puts up with more than the server does: the name of a tool in its results (LangGraph), texts in parts (@openai/agents). */
function asLoose(body) {
  const plain = ({content, name, ...rest}) => ({
    ...rest,
    ...(content !== undefined && {content: Array.isArray(content) ? content.map(({text}) => text).join('') : content}),
    ...(name !== undefined && rest.role !== 'tool' && {name}),
  });
  return invalid({...body, messages: body.messages.map(plain)});
}

const isAnswer = ({messages}) => messages.at(-1).role === 'tool';
/** It says how many questions there were: who forgets some is found out. */
const done = ({messages}) => ({text: `done ${messages.filter(({role}) => role === 'user').length}`});
const lastResults = ({messages}) => messages.length - 1 - messages.findLastIndex(({role}) => role !== 'tool');
const diskOf = path => Number(execFileSync('du', ['-sk', path], {encoding: 'utf8'}).split('\t')[0]) / 1024;

const median = ({times}, key = 'ms') => middle(times.map(time => time[key]));
const ofTurns = ({times}, wanted) => middle(times.filter(({turn}) => wanted(turn)).map(({ms}) => ms));
const early = result => ofTurns(result, turn => turn > 1 && turn <= 6);
const late = result => ofTurns(result, turn => turn > TURNS - 5);

function print(found) {
  const base = median(found.get('raw openai loop'));
  const lines = [...found].map(([name, result]) => [
    name,
    median(result),
    ratio(median(result), base),
    early(result),
    late(result),
    result.cpu,
    result.most,
    result.disk ?? '',
  ]);
  const ours = found.get('agentdir');
  const inGit = [
    'agentdir, until it is in git',
    median(ours, 'later'),
    ratio(median(ours, 'later'), base),
    '',
    '',
    '',
    '',
    '',
  ];
  table(
    `a conversation of ${TURNS} turns with two calls each, ms a turn`,
    ['', 'median', 'to raw', 'turns 2 to 6', 'the last 5', 'CPU', 'memory at its most, MB', 'disk, MB'],
    [...lines.slice(0, 2), inGit, ...lines.slice(2)],
  );
}

function tell(found) {
  const ours = found.get('agentdir');
  const against = (name, result, value) => ({baseline: {name, value: value(result)}});
  for (const [name, result] of found) {
    if (name === 'agentdir') continue;
    // Issue 4: ahead of LangGraph.
    const goal = name.startsWith('LangGraph') && {goal: ratioAtMost(1, 'issue 4')};
    const to = name.split(',')[0];
    row(`a turn of ${TURNS}, answer on disk, to ${to}`, {
      ours: median(ours),
      ...against(name, result, median),
      ...goal,
    });
    row(`a turn of ${TURNS}, in git, to ${to}`, {ours: median(ours, 'later'), ...against(name, result, median)});
    row(`CPU of a turn of ${TURNS}, to ${to}`, {ours: ours.cpu, ...against(name, result, ({cpu}) => cpu)});
    row(`memory at its most, to ${to}`, {ours: ours.most, unit: 'MB', ...against(name, result, ({most}) => most)});
  }
}
