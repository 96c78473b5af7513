import {execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {commitCall, keepFound, openWorkspace} from '../dist/effects/workspace/repository.js';
import {rounds, table, times} from './measure.mjs';
import {row} from './row.mjs';

const ROUNDS = rounds(60, 20);
const env = {PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1'};
for (const who of ['AUTHOR', 'COMMITTER']) Object.assign(env, {[`GIT_${who}_NAME`]: 'a', [`GIT_${who}_EMAIL`]: 'a@b'});

/** The history around a call that changes one file, against `git add -A && git commit` of the same; taken in turns. */
export default async function workspace() {
  const rows = [];
  for (const count of [100, 5_000]) rows.push(...(await measured(count)));
  table('workspaces, ms a call', ['', 'median', 'to git add -A && commit'], rows);
}

async function measured(count) {
  const home = mkdtempSync(join(tmpdir(), 'agentdir-bench-'));
  const of = {home, agent: 'coder'};
  const ours = join(home, 'workspaces/coder');
  const bare = join(home, 'bare');
  const git = (...args) => execFileSync('git', args, {cwd: bare, env});
  try {
    for (const dir of [ours, bare]) fill(dir, count);
    git('init', '-q');
    git('add', '-A');
    git('commit', '-qm', 'all');
    const begun = performance.now();
    await openWorkspace(of);
    const first = performance.now() - begun;
    let n = 0;
    const call = async paths => {
      const commit = {session: 's', call: `c${n++}`, words: 'write_file d1/f1'};
      const change = () => writeFileSync(join(ours, 'd1/f1'), `${n}\n`);
      const start = performance.now();
      await openWorkspace(of);
      await keepFound(of, paths, commit);
      const between = performance.now();
      change();
      const changed = performance.now();
      const {commit: id} = await commitCall(of, commit, paths);
      if (!id) throw new Error('nothing was committed');
      return performance.now() - start - (changed - between);
    };
    const work = {
      'a write tool': () => call(['d1/f1']),
      'a command': () => call(undefined),
      'git add -A && git commit': () => {
        writeFileSync(join(bare, 'd1/f1'), `${n++}\n`);
        const start = performance.now();
        git('add', '-A');
        git('commit', '-qm', 'one');
        return performance.now() - start;
      },
    };
    const ms = Object.fromEntries(Object.keys(work).map(name => [name, []]));
    for (let round = 0; round < ROUNDS; round++)
      for (const [name, one] of Object.entries(work)) ms[name].push(await one());
    const medians = Object.entries(ms).map(([name, list]) => [name, list.sort((a, b) => a - b)[ROUNDS >> 1]]);
    const base = medians.at(-1)[1];
    for (const [name, ours] of medians.slice(0, -1))
      row(`history around ${name}, ${count.toLocaleString('en-US')} files`, {
        ours,
        baseline: {name: 'git add && commit', value: base},
      });
    return [
      ...medians.map(([name, median]) => [`${name}, ${count} files`, median, times(median, base)]),
      [`first open, ${count} files found`, first, ''],
    ];
  } finally {
    rmSync(home, {recursive: true, force: true});
  }
}

function fill(dir, count) {
  for (let i = 0; i < count; i++) {
    const folder = join(dir, `d${i % 50}`);
    if (i < 50) mkdirSync(folder, {recursive: true});
    writeFileSync(join(folder, `f${i}`), `${i}\n`.repeat(40));
  }
}
