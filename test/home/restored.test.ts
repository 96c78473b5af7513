import {expect, it} from 'vitest';
import {git} from '../cli/run.ts';
import {open, repository, write} from './repository.ts';

const PATH = 'memory/a.md';

it.each([
  ['reset', ['reset', '-q', '--hard']],
  ['reset to another commit', ['reset', '-q', '--hard', 'HEAD~']],
  ['stash', ['stash', '-q']],
])('git %s restores what HEAD has of a file', async (_, command) => {
  const dir = await repository({[PATH]: 'old\n'});
  await git(dir, 'commit', '-q', '--allow-empty', '-m', 'later');
  const journal = await open(dir);
  await new Promise(resolve => setTimeout(resolve, 1_000 - (Date.now() % 1_000)));
  const edited = Date.now();
  write(dir, PATH, 'new\n');
  expect(journal.isRestored(PATH, edited)).toBe(false);
  await git(dir, ...command);
  await journal.refresh();
  expect(journal.isRestored(PATH, edited)).toBe(true);
  // Another text is nobody's restoring.
  write(dir, PATH, 'newer\n');
  expect(journal.isRestored(PATH, edited)).toBe(false);
});

it('a save of what HEAD has, and a commit of another file, restore nothing', async () => {
  const dir = await repository({[PATH]: 'old\n', 'memory/b.md': 'b\n'});
  const journal = await open(dir);
  await new Promise(resolve => setTimeout(resolve, 1_000 - (Date.now() % 1_000)));
  const edited = Date.now();
  write(dir, PATH, 'new\n');
  write(dir, PATH, 'old\n');
  write(dir, 'memory/b.md', 'bb\n');
  await git(dir, 'commit', '-q', '-am', 'b');
  await journal.refresh();
  expect(journal.isRestored(PATH, edited)).toBe(false);
});
