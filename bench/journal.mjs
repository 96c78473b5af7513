import {execFileSync, spawn} from 'node:child_process';
import {lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {simpleGit} from 'simple-git';
import {openRepository} from '../dist/home/git/git-repository.js';
import {Journal} from '../dist/home/journal.js';
import {maintain} from '../dist/home/maintenance.js';
import {rounds, table, times} from './measure.mjs';
import {beside, steadily} from './person.mjs';
import {atMost, ratioAtLeast, row} from './row.mjs';

const author = {name: 'planner-001', email: 'planner-001@home'};
Object.assign(process.env, {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
});

const git = (dir, ...args) => execFileSync('git', args, {cwd: dir, maxBuffer: 1e9}).toString();
const fileAt = (dir, path) => ({
  path,
  content: {bytes: readFileSync(join(dir, path)), mode: '100644'},
  stat: lstatSync(join(dir, path), {bigint: true}),
});

/** A home of so many sessions, a hundred a folder, committed and packed. */
function home(count) {
  const dir = mkdtempSync(join(tmpdir(), 'agentdir-bench-'));
  git(dir, 'init', '-q', '-b', 'main');
  git(dir, 'config', 'gc.auto', '0');
  const paths = [];
  for (let i = 0; i < count; i++) {
    const path = `sessions/${String(Math.floor(i / 100)).padStart(3, '0')}/s${i}.session.yaml`;
    mkdirSync(dirname(join(dir, path)), {recursive: true});
    writeFileSync(join(dir, path), text(i, 8));
    paths.push(path);
  }
  git(dir, 'add', '-A');
  git(dir, 'commit', '-q', '-m', 'start');
  git(dir, 'gc', '-q');
  return {dir, paths};
}

const text = (i, turns) =>
  `agent_id: planner-001\nsession_id: s${i}\nmessages:\n${`  - role: user\n    content: message of session ${i}\n`.repeat(turns)}`;

/** The same for all: one more message in one file after the other, all over the home. */
function changes({paths}, count, round) {
  return Array.from({length: count}, (_, i) => {
    const k = (i * 7_919) % paths.length;
    const turns = 9 + round + Math.floor(i / paths.length);
    return {path: paths[k], bytes: Buffer.from(`${text(k, turns)}  - role: assistant\n    content: ${round} ${i}\n`)};
  });
}

async function journalRate(place, count, round) {
  const journal = await Journal.open(place.dir, {idleMs: 0});
  const all = changes(place, count, round);
  for (const {path, bytes} of all) writeFileSync(join(place.dir, path), bytes);
  const ready = all.map(({path, bytes}) => ({
    path,
    content: {bytes, mode: '100644'},
    stat: lstatSync(join(place.dir, path), {bigint: true}),
  }));
  let blocked = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    blocked = Math.max(blocked, performance.now() - last - 2);
    last = performance.now();
  }, 2);
  const before = Number(git(place.dir, 'reflog', '--format=%h').split('\n').length);
  const start = performance.now();
  const added = [];
  for (const [i, change] of ready.entries()) {
    added.push(
      journal.add({changes: [change], author, subject: `session(s${i}): turn`, trailers: [['Agent', 'planner-001']]}),
    );
    if (i % 20 === 19) await new Promise(resolve => setImmediate(resolve));
  }
  await Promise.all(added);
  const ms = performance.now() - start;
  clearInterval(timer);
  await journal.close();
  const batches = Number(git(place.dir, 'reflog', '--format=%h').split('\n').length) - before;
  if (git(place.dir, 'status', '--porcelain') !== '') throw new Error('not clean');
  return {rate: (count / ms) * 1000, batch: Math.round(count / batches), blocked};
}

/** fast-import on the same branch: a checkpoint and, if asked, the index after every `per` commits. */
async function importRate({dir, paths}, count, per, index, round) {
  const ready = changes({paths}, count, round).map(({path, bytes}, i) => {
    const message = `session(s${i}): turn\n\nAgent: planner-001\n`;
    const head = `commit refs/heads/main\nauthor planner-001 <planner-001@home> 1700000000 +0000\ncommitter Ada <ada@example.org> 1700000000 +0000\ndata ${message.length}\n${message}${i === 0 ? 'from refs/heads/main^0\n' : ''}M 100644 inline ${path}\ndata ${bytes.length}\n`;
    return Buffer.concat([Buffer.from(head), bytes, Buffer.from('\n')]);
  });
  const start = performance.now();
  const child = spawn('git', ['fast-import', '--quiet', '--done', '--force'], {
    cwd: dir,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let told = () => {};
  child.stdout.on('data', () => told());
  for (let i = 0; i < count; i += per) {
    const reached = new Promise(resolve => (told = resolve));
    child.stdin.write(Buffer.concat([...ready.slice(i, i + per), Buffer.from('checkpoint\nprogress reached\n')]));
    await reached;
    if (index) git(dir, 'read-tree', 'main');
  }
  child.stdin.end('done\n');
  await new Promise(resolve => child.on('close', resolve));
  return (count / (performance.now() - start)) * 1000;
}

async function simpleRate(place, count, round) {
  const simple = simpleGit(place.dir);
  const ready = changes(place, count, round);
  const start = performance.now();
  for (const [i, {path, bytes}] of ready.entries()) {
    writeFileSync(join(place.dir, path), bytes);
    await simple.add([path]);
    await simple.commit(`session(s${i}): turn`, [path]);
  }
  return (count / (performance.now() - start)) * 1000;
}

const middle = values => values.sort((a, b) => a - b)[values.length >> 1];

async function rates() {
  const rows = [];
  for (const count of rounds([1_000, 20_000], [1_000])) {
    const places = {ours: home(count), theirs: home(count), simple: home(count)};
    const ours = [];
    const with50 = [];
    const without50 = [];
    const withSame = [];
    // In turn, so that whatever else this machine does slows all of them.
    for (let round = 0; round < rounds(3, 1); round++) {
      ours.push(await journalRate(places.ours, 5_000, round));
      const {batch} = ours.at(-1);
      with50.push(await importRate(places.theirs, 2_000, 50, true, round * 4));
      without50.push(await importRate(places.theirs, 2_000, 50, false, round * 4 + 1));
      withSame.push(await importRate(places.theirs, 5_000, batch, true, round * 4 + 2));
      git(places.theirs.dir, 'reset', '-q', '--hard');
      git(places.theirs.dir, 'gc', '-q');
    }
    const simple = await simpleRate(places.simple, rounds(40, 15), 0);
    const rate = middle(ours.map(o => o.rate));
    const told = (baseline, least) =>
      row(`commits in a home of ${count.toLocaleString('en-US')} files, to ${baseline.name.split(',')[0]}`, {
        ours: rate,
        unit: 'commits/s',
        baseline,
        goal: ratioAtLeast(least, 'issue 3'),
      });
    told({name: 'simple-git', value: simple}, 20);
    told({name: 'fast-import, same batches', value: middle(withSame)}, 0.7);
    rows.push([
      count,
      rate,
      middle(ours.map(o => o.batch)),
      simple,
      times(rate, simple),
      middle(with50),
      times(rate, middle(with50)),
      middle(without50),
      times(rate, middle(without50)),
      middle(withSame),
      times(rate, middle(withSame)),
      Math.max(...ours.map(o => o.blocked)),
    ]);
    for (const {dir} of Object.values(places)) rmSync(dir, {recursive: true, force: true});
  }
  table(
    'journal, commits/s (flooded; fast-import on the same branch, a checkpoint per 50 commits or per batch of ours)',
    [
      'files',
      'journal',
      'a batch',
      'simple-git',
      'to simple-git',
      'import 50 + index',
      'ratio',
      'import 50',
      'ratio',
      'import batch + index',
      'ratio',
      'loop blocked ms',
    ],
    rows,
  );
}

const sizeOf = dir =>
  Number(
    execFileSync('du', ['-sk', '--apparent-size', join(dir, '.git/objects')])
      .toString()
      .split('\t')[0],
  );
const diskOf = dir =>
  Number(
    execFileSync('du', ['-sk', join(dir, '.git/objects')])
      .toString()
      .split('\t')[0],
  );

const COMMITS = rounds(2_000, 400);

/** What so many commits add to the repository, one by one and flooded, before and after maintenance. */
async function growth() {
  const rows = [];
  for (const [kind, atOnce] of [
    ['one at a time', 1],
    ['flooded', COMMITS],
  ]) {
    const place = home(1_000);
    const before = diskOf(place.dir);
    const bytesBefore = sizeOf(place.dir);
    const journal = await Journal.open(place.dir, {idleMs: 0, minGapMs: 0});
    const all = changes(place, COMMITS, 0);
    for (let i = 0; i < all.length; i += atOnce)
      await Promise.all(
        all.slice(i, i + atOnce).map(({path, bytes}) =>
          journal.add({
            changes: [{path, content: {bytes, mode: '100644'}, stat: undefined}],
            author,
            subject: 'session(s): turn',
            trailers: [],
          }),
        ),
      );
    await journal.close();
    const loose = diskOf(place.dir) - before;
    const apparent = sizeOf(place.dir) - bytesBefore;
    const repository = await openRepository(place.dir);
    const start = performance.now();
    await maintain(repository, 0, new AbortController().signal);
    const took = performance.now() - start;
    repository.cat.close();
    if (kind === 'one at a time')
      row('growth of git by a commit, after maintenance', {
        ours: (diskOf(place.dir) - before) / COMMITS,
        unit: 'KB',
        baseline: {name: 'before it', value: loose / COMMITS},
      });
    rows.push([kind, loose / COMMITS, apparent / COMMITS, (diskOf(place.dir) - before) / COMMITS, took]);
    git(place.dir, 'fsck', '--strict');
    rmSync(place.dir, {recursive: true, force: true});
  }
  table(
    `growth, KB on disk a commit (${COMMITS} commits, 1,000 files)`,
    ['', 'before', 'bytes', 'after maintenance', 'it took ms'],
    rows,
  );
}

/** A person's own commands at 5 changes a second, and how long changes took to be published. */
async function person() {
  const rows = [];
  for (const [everyMs, ms] of [
    [200, rounds(60_000, 8_000)],
    [16, rounds(20_000, 4_000)],
  ]) {
    const place = home(1_000);
    const paths = ['memory/a.md', 'memory/b.md', 'memory/c.md'];
    mkdirSync(join(place.dir, 'memory'));
    for (const path of paths) writeFileSync(join(place.dir, path), '0\n');
    for (const path of ['mine.txt', 'other.txt', 'third.txt']) writeFileSync(join(place.dir, path), '0\n');
    git(place.dir, 'add', '-A');
    git(place.dir, 'commit', '-q', '-m', 'files');
    const journal = await Journal.open(place.dir, {idleMs: 0});
    const options = {
      ms,
      everyMs,
      paths,
      fileAt: path => fileAt(place.dir, path),
      write: (path, line) => writeFileSync(join(place.dir, path), line),
    };
    const [commands, {made, added}] = await Promise.all([beside(place.dir, ms), steadily(journal, options)]);
    await journal.close();
    const failed = commands.filter(({ok}) => !ok);
    const history = new Set(git(place.dir, 'rev-list', 'HEAD').split('\n'));
    const lost = added.filter(({commit}) => !history.has(commit)).length;
    const why = [...new Set(failed.map(({words}) => words.slice(0, 60)))].join('; ');
    if (everyMs === 200) {
      const rate = (failed.length / commands.length) * 100;
      row("a person's git commands that fail beside it", {ours: rate, unit: '%', goal: atMost(1, 'issue 3')});
    }
    row(`commits lost beside it, ${Math.round(1000 / everyMs)} changes/s`, {
      ours: lost,
      unit: '',
      goal: atMost(0, 'issue 3'),
    });
    rows.push([
      (made / ms) * 1000,
      commands.length,
      failed.length,
      `${((failed.length / commands.length) * 100).toFixed(2)} %`,
      lost,
      why,
    ]);
    git(place.dir, 'fsck', '--strict');
    rmSync(place.dir, {recursive: true, force: true});
  }
  table(
    "a person's commit, stash, checkout -b and revert beside the journal",
    ['changes/s', 'commands', 'failed', 'rate', 'commits lost', 'why'],
    rows,
  );
}

export default async function journal() {
  // Maintenance keeps no process alive; here it must.
  const alive = setInterval(() => {}, 1_000);
  await rates();
  await growth();
  await person();
  clearInterval(alive);
}
