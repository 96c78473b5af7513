import {appendFileSync, existsSync, readFileSync} from 'node:fs';
import {dirname, join, resolve} from 'node:path';
import {makeFolders} from './disk/make-folders.ts';
import {git} from './git/git.ts';

/** Files that the daemon derives. */
const derived = ['.agentdir/', '.agentdir-*.tmp', 'NEEDS_YOU.md'];

/**
 * Hide derived files from `git status`. If .gitignore does not list them, as in a home not made by `init`, add them to git's
 * info/exclude, which is untracked, so that no file of the person's changes.
 */
export async function excludeDerived(home: string): Promise<void> {
  const ignored = linesOf(join(home, '.gitignore'));
  if (derived.every(line => ignored.includes(line))) return;
  const found = await git(home, ['rev-parse', '--git-path', 'info/exclude', '--show-prefix']);
  const [file = '', prefix = ''] = found.stdout.split('\n');
  if (found.code !== 0 || file === '') return;
  const path = resolve(home, file);
  const excluded = linesOf(path);
  // Temporary files may be in any folder.
  const anchored = (line: string) => (line.includes('*') ? line : `/${prefix}${line}`);
  const missing = derived.map(anchored).filter(line => !excluded.includes(line));
  if (missing.length === 0) return;
  makeFolders(dirname(path));
  appendFileSync(path, `${excluded.length > 1 && excluded.at(-1) !== '' ? '\n' : ''}${missing.join('\n')}\n`);
}

function linesOf(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split(/\r?\n/) : [];
}
