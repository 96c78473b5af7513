import {spawn} from 'node:child_process';
import {mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {hashOf} from '../dist/effects/search/file-index.js';
import {forgetIndexes, writeIndexes} from '../dist/effects/search/indexes.js';
import {nearestTo} from '../dist/effects/search/meaning.js';
import {searchFilesTool} from '../dist/effects/tools/search-files.js';
import {makeRedactor} from '../dist/policy/redact/redact.js';
import {rounds, table, times} from './measure.mjs';
import {atMost, row} from './row.mjs';

const NOTES = 5000;
const RUNS = Number(process.env.RUNS ?? rounds(15, 5));
const VECTORS = 50_000;
const DIMS = 512;

/** search_files on notes of 2 KB; beside it ripgrep for the same words, its start included. */
export default async function search() {
  const home = mkdtempSync(join(tmpdir(), 'agentdir-bench-search-'));
  try {
    const workspace = join(home, 'workspaces/coder');
    mkdirSync(join(home, 'memory'), {recursive: true});
    const word = makeNotes(workspace);
    // What has just changed is read twice.
    await new Promise(resolve => setTimeout(resolve, 200));
    const context = contextOf(home);
    const find = query => searchFilesTool.execute({query}, context);
    const heap = heapUsed();
    const all = async () => {
      // On a busy machine one search does not read them all.
      while ((await find(word(4000))).incomplete);
    };
    const first = await measured(all);
    const megabytes = heapUsed() - heap;
    const saving = await measured(() => writeIndexes(home));
    forgetIndexes(home);
    const restart = await measured(() => find(word(4000)));
    const folder = join(home, '.agentdir/search');
    const disk = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0) / 1e6;

    const rows = [];
    const cases = [
      ['a rare word', word(9000)],
      ['three words', `${word(30)} ${word(400)} ${word(5000)}`],
      ['five usual words', [100, 150, 200, 250, 300].map(word).join(' ')],
      ['a sentence', [60, 40, 30, 3000, 0, 2000, 70, 4000].map(word).join(' ')],
      ['a sentence of usual words', [60, 90, 120, 300, 200, 150, 70, 400].map(word).join(' ')],
      ['only words that are everywhere', `${word(0)} ${word(1)} ${word(2)}`],
      ['a misspelt word', `${word(4000)}x`],
    ];
    for (const [name, query] of cases) {
      const {ms: ours, cpu} = await medianOf(() => find(query));
      const {ms: theirs} = await medianOf(() => ripgrep(query, workspace));
      const {block} = await measured(() => find(query));
      rows.push([name, ours, cpu, theirs ?? '', theirs ? times(ours, theirs) : '', block]);
      const baseline = theirs && {baseline: {name: 'ripgrep', value: theirs}};
      row(`search, ${name}`, {ours, ...baseline, goal: atMost(50, 'issue 6')});
    }
    let edit = 0;
    const changed = await medianOf(() => {
      writeFileSync(join(workspace, 'folder-1/note-1.md'), `# Changed\n\n${edit++} ${word(77)}\n`);
      return find(cases[1][1]);
    });
    rows.push(['three words, one file changed', changed.ms, changed.cpu, '', '', '']);
    row('search, three words, one file changed', {ours: changed.ms, goal: atMost(50, 'issue 6')});
    row('its index is made of 5,000 notes', {ours: first.ms});
    row('its index in memory', {ours: megabytes, unit: 'MB'});
    table(`search_files in ${NOTES} notes`, ['', 'ours, ms', 'of CPU', 'rg, ms', 'ratio', 'others wait, ms'], rows);
    table(
      'its index',
      ['', 'ms', 'others wait, ms'],
      [
        ['made of all files, then searched', first.ms, first.block],
        ['written to disk', saving.ms, saving.block],
        ['read from disk, then searched', restart.ms, restart.block],
      ],
    );
    console.log(`${megabytes.toFixed(0)} MB in memory, ${disk.toFixed(1)} MB on disk`);
    await compareVectors();
  } finally {
    rmSync(home, {recursive: true, force: true});
  }
}

async function compareVectors() {
  const passages = Array.from({length: VECTORS}, (_, i) => ({passage: {hash: hashOf(`${i}`)}}));
  const block = 1024;
  const blocks = Array.from({length: Math.ceil(VECTORS / block)}, () =>
    Float32Array.from({length: block * DIMS}, () => Math.random() - 0.5),
  );
  const vectors = {path: '', dims: DIMS, at: new Map(passages.map(({passage}, i) => [passage.hash, i])), blocks};
  const query = Float32Array.from({length: DIMS}, () => Math.random() - 0.5);
  const {signal} = new AbortController();
  const near = () => nearestTo(query, vectors, passages, 100, signal);
  const {ms, cpu} = await medianOf(near);
  const {block: wait} = await measured(near);
  row('the nearest of 50,000 vectors', {ours: ms});
  table(
    'the nearest vectors',
    ['', 'ms', 'of CPU', 'others wait, ms'],
    [[`of ${VECTORS} with ${DIMS} numbers`, ms, cpu, wait]],
  );
}

/** Words as often as in a language, one of them by its place in that order; all notes are the same each time. */
function makeNotes(workspace) {
  let state = 7;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const syllables =
    'ba ce di fo gu ha je ki lo mu na pe ri so tu va we yo zu tra ple sti gro qua ent ion est ver'.split(' ');
  const vocabulary = new Set();
  while (vocabulary.size < 20_000) {
    const length = 2 + Math.floor(random() * 3.5);
    vocabulary.add(Array.from({length}, () => syllables[Math.floor(random() * syllables.length)]).join(''));
  }
  const words = [...vocabulary];
  const word = () => words[Math.floor(words.length ** random()) - 1];
  for (let i = 0; i < NOTES; i++) {
    let text = `# ${word()} ${word()}\n`;
    for (let part = 0; part < 3; part++) {
      text += `\n## ${word()} ${word()}\n\n`;
      const end = text.length + 630;
      while (text.length < end) text += `${word()}${random() < 0.1 ? '.\n' : ' '}`;
    }
    const folder = join(workspace, `folder-${i % 50}`);
    mkdirSync(folder, {recursive: true});
    writeFileSync(join(folder, `note-${i}.md`), `${text}\n`);
  }
  return at => words[at];
}

function contextOf(home) {
  const none = () => [];
  const {signal} = new AbortController();
  const redact = makeRedactor([]);
  const workspace = join(home, 'workspaces/coder');
  return {
    home,
    workspace,
    agent: 'coder',
    session: 'coder-1',
    call: 'call-1',
    signal,
    redact,
    agents: none,
    sessions: none,
  };
}

function heapUsed() {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1e6;
}

/** Medians; the time of the CPU says how it would be on a machine that does nothing else. */
async function medianOf(work) {
  const took = {ms: [], cpu: []};
  await work();
  for (let i = 0; i < RUNS; i++) {
    const start = performance.now();
    const before = process.cpuUsage();
    if ((await work()) === undefined) return {};
    const {user, system} = process.cpuUsage(before);
    took.ms.push(performance.now() - start);
    took.cpu.push((user + system) / 1000);
  }
  const [ms, cpu] = [took.ms, took.cpu].map(list => list.sort((a, b) => a - b)[list.length >> 1]);
  return {ms, cpu};
}

/** How long it takes, and the longest time between two turns of the event loop. */
async function measured(work) {
  let block = 0;
  let last = performance.now();
  let working = true;
  const turn = () => {
    const now = performance.now();
    block = Math.max(block, now - last);
    last = now;
    if (working) setImmediate(turn);
  };
  setImmediate(turn);
  const start = performance.now();
  await work();
  const ms = performance.now() - start;
  working = false;
  return {ms, block};
}

/** Undefined if it is not installed. */
function ripgrep(query, cwd) {
  return new Promise(resolve => {
    const args = ['--no-require-git', '-n', '-i', query.replaceAll(' ', '|'), '.'];
    const child = spawn('rg', args, {cwd, stdio: ['ignore', 'pipe', 'ignore']});
    let bytes = 0;
    child.stdout.on('data', chunk => {
      bytes += chunk.length;
    });
    child.once('error', () => resolve(undefined));
    child.once('close', () => resolve(bytes));
  });
}
