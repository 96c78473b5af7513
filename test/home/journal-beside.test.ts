import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, it} from 'vitest';
import {beside, steadily} from '../../bench/person.mjs';
import {environment, git} from '../cli/run.ts';
import {entry, fileAt, lines, open, repository, soundness} from './repository.ts';

const MS = 6_000;

it('beside a person who commits, stashes, branches and reverts, nothing is lost on either side', async () => {
  const paths = [0, 1, 2, 3, 4].map(i => `memory/${i}.md`);
  const mine = {'mine.txt': '0\n', 'other.txt': '0\n', 'third.txt': '0\n'};
  const dir = await repository({...Object.fromEntries(paths.map(path => [path, 'start\n'])), ...mine});
  const journal = await open(dir, {minGapMs: 250});
  const [commands, {made, added}] = await Promise.all([
    beside(dir, MS, {env: environment}),
    steadily(journal, {
      ms: MS,
      everyMs: 200,
      paths,
      fileAt: path => fileAt(dir, path),
      write: (path, line) => writeFileSync(join(dir, path), line),
    }),
  ]);
  await journal.refresh();
  await Promise.all(paths.map(path => journal.add(entry(fileAt(dir, path), 'settled'))));

  const history = new Set(lines(await git(dir, 'rev-list', 'HEAD')));
  const lost = added.filter(({commit}) => !history.has(commit));
  if (lost.length > 0) console.log(await git(dir, 'reflog', '--all'));
  expect(lost).toEqual([]);
  const subjects = lines(await git(dir, 'log', '--format=%s'));
  const theirs = commands.filter(({ok, command}) => ok && command.startsWith('git commit'));
  for (const {command} of theirs) expect(subjects).toContain(command.slice(command.indexOf('-m ') + 3));
  const failed = commands.filter(({ok}) => !ok);
  console.log(`${commands.length} commands, ${made} changes, failed: ${JSON.stringify(failed)}`);
  // No file that was made is missing, HEAD holds what the files do, and no commit of theirs touched a file of ours.
  for (let i = 0; i < made; i += 2) expect(await git(dir, 'show', `HEAD:memory/new-${i}.md`)).toBe(`${i}\n`);
  for (const path of paths) expect(await git(dir, 'show', `HEAD:${path}`)).toBe(readFileSync(join(dir, path), 'utf8'));
  expect(await git(dir, 'log', '--author=Ada', '--grep=mine', '--format=%s', '--', 'memory')).toBe('');
  expect((await soundness(dir)).replace(/^.. (?:mine|other|third)\.txt\n/gm, '')).toBe('');
  // How many find a lock of ours depends on the machine (npm run bench journal); that git finds anything amiss does not.
  expect(failed.filter(({words}) => /corrupt|damaged|broken|bad |missing|unable to read/i.test(words))).toEqual([]);
});
