import {execFileSync, spawn} from 'node:child_process';
import {mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {globTool} from '../dist/effects/tools/glob.js';
import {grepTool} from '../dist/effects/tools/grep.js';
import {rounds, table, times} from './measure.mjs';
import {ratioAtMost, row, skipped} from './row.mjs';
import {makeTree} from './search-tree.mjs';

const FILES = 10_000;
const RUNS = Number(process.env.RUNS ?? rounds(15, 5));

/** grep and glob against ripgrep and find in one folder; all runs by turns, the start of a process included. */
export default async function tools() {
  const home = mkdtempSync(join(tmpdir(), 'agentdir-bench-tools-'));
  try {
    const workspace = join(home, 'workspaces/coder');
    mkdirSync(workspace, {recursive: true});
    makeTree(workspace, FILES);
    const ripgrep = has('rg');
    if (!ripgrep) skipped('grep', 'ripgrep is not installed');
    if (ripgrep) await compareGrep(home, workspace);
    await compareGlob(home, workspace, ripgrep);
  } finally {
    rmSync(home, {recursive: true, force: true});
  }
}

async function compareGrep(home, workspace) {
  const cases = [
    ['a literal, 20 hits', {pattern: 'needleInHaystack'}, ['needleInHaystack']],
    ['a literal, no hit', {pattern: 'nothingLikeThisIsThere'}, ['nothingLikeThisIsThere']],
    ['a regex, 50 hits', {pattern: 'function \\w+Request\\('}, ['function \\w+Request\\(']],
    ['a regex without a literal, no hit', {pattern: '[A-Z]{3}\\d{5}'}, ['[A-Z]{3}\\d{5}']],
    ['two alternatives, 20 hits', {pattern: 'needleIn|haystackIn'}, ['needleIn|haystackIn']],
    ['only *.ts', {pattern: 'needleIn\\w+', glob: '*.ts'}, ['-g', '*.ts', 'needleIn\\w+']],
    ['ignore_case, 20 hits', {pattern: 'NEEDLEinhaystack', ignore_case: true}, ['-i', 'NEEDLEinhaystack']],
  ];
  const rows = [];
  for (const [name, args, options] of cases) {
    const theirs = async () => (await run('rg', ['--no-require-git', '-n', ...options, '.'], workspace)).length;
    const ours = async () => (await grepTool.execute(args, contextOf(home))).matches;
    const {a, b, counts, block} = await byTurns(theirs, ours);
    rows.push([name, counts.join(' '), a, b, times(b, a), block]);
    row(`grep, ${name}`, {ours: b, baseline: {name: 'ripgrep', value: a}, goal: ratioAtMost(3, 'issue 5')});
  }
  const head = ['grep', 'hits (both)', 'rg -n, ms', 'ours, ms', 'ratio', 'others wait, ms'];
  table(`grep in ${FILES} files`, head, rows);
}

async function compareGlob(home, workspace, ripgrep) {
  const find = args => async () => (await run('find', ['.', ...args, '-type', 'f'], workspace)).length;
  const rows = [];
  for (const [name, pattern, findArgs] of [
    ['**/*.yaml, all seen', '**/*.yaml', ['-name', '*.yaml']],
    ['**/*.ts, cut at 1,000', '**/*.ts', ['-name', '*.ts']],
    ['**/*, cut at 1,000', '**/*', []],
  ]) {
    const ours = async () => (await globTool.execute({pattern}, contextOf(home))).files.length;
    const {a, b, counts, block} = await byTurns(find(findArgs), ours);
    row(`glob ${name}`, {ours: b, baseline: {name: 'find', value: a}, goal: ratioAtMost(3, 'issue 5')});
    const files = async () => (await run('rg', ['--no-require-git', '--files', '-g', pattern, '.'], workspace)).length;
    const c = ripgrep ? (await byTurns(files, ours)).a : undefined;
    rows.push([name, counts.join(' '), a, c ?? '', b, times(b, a), c ? times(b, c) : '', block]);
  }
  const head = [
    'glob',
    'files (both)',
    'find, ms',
    'rg --files, ms',
    'ours, ms',
    'to find',
    'to rg',
    'others wait, ms',
  ];
  table(`glob in ${FILES} files`, head, rows);
}

function contextOf(home) {
  const none = () => [];
  const {signal} = new AbortController();
  return {home, agent: 'coder', session: 'coder-1', call: 'call-1', signal, agents: none, sessions: none};
}

/** Medians of both, one after the other each time; and how long ours kept others waiting at worst. */
async function byTurns(theirs, ours) {
  const took = {a: [], b: []};
  const counts = [await theirs(), await ours()];
  for (let i = 0; i < RUNS; i++) {
    took.a.push(await timed(theirs));
    took.b.push(await timed(ours));
  }
  const [a, b] = [took.a, took.b].map(list => list.sort((x, y) => x - y)[list.length >> 1]);
  const blocks = [];
  for (let i = 0; i < 7; i++) blocks.push(await longestBlock(ours));
  return {a, b, counts, block: blocks.sort((x, y) => x - y)[blocks.length >> 1]};
}

/** The longest time between two turns of the event loop; timed apart, because those who wait take time too. */
async function longestBlock(work) {
  let longest = 0;
  let last = performance.now();
  let working = true;
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (working) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  working = false;
  return longest;
}

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function run(command, args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {cwd, stdio: ['ignore', 'pipe', 'inherit']});
    let out = '';
    child.stdout.setEncoding('utf8').on('data', text => {
      out += text;
    });
    child.once('error', reject);
    child.once('close', () => resolve(out.split('\n').slice(0, -1)));
  });
}

function has(command) {
  try {
    execFileSync(command, ['--version'], {stdio: 'ignore'});
    return true;
  } catch {
    return false;
  }
}
