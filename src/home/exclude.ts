import {appendFileSync, existsSync, mkdirSync, readFileSync} from 'node:fs';
import {dirname, join, resolve} from 'node:path';
import {git} from './git/git.ts';

/** What the daemon itself puts into a home beside the files of the journal. */
const derived = ['.agentdir/', '.agentdir-*.tmp', 'NEEDS_YOU.md'];

/**
 * What the daemon derives never shows in the person's git status. Where their .gitignore does not name it, as in a home
 * that was not made by `init`, git's own list of exclusions does: it is not tracked, so no file of theirs is touched.
 */
export async function excludeDerived(home: string): Promise<void> {
  const own = linesOf(join(home, '.gitignore'));
  if (derived.every(line => own.includes(line))) return;
  const found = await git(home, ['rev-parse', '--git-path', 'info/exclude', '--show-prefix']);
  const [file = '', prefix = ''] = found.stdout.split('\n');
  if (found.code !== 0 || file === '') return;
  const path = resolve(home, file);
  const there = linesOf(path);
  // A file that is being written may stand in any folder.
  const anchored = (line: string) => (line.includes('*') ? line : `/${prefix}${line}`);
  const missing = derived.map(anchored).filter(line => !there.includes(line));
  if (missing.length === 0) return;
  mkdirSync(dirname(path), {recursive: true});
  appendFileSync(path, `${there.length > 1 && there.at(-1) !== '' ? '\n' : ''}${missing.join('\n')}\n`);
}

function linesOf(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split(/\r?\n/) : [];
}
