import {commandKind, ownEntry} from './command-name.ts';
import {abbreviates} from './deny.ts';

/** Option letters that make a command follow links it encounters; `''` is the default. */
const letters: Readonly<Record<string, string>> = {grep: 'R', tree: 'l', diff: 'r', '': 'LH'};
const words = ['--follow', '--dereference', '--dereference-recursive', '--dereference-command-line'];
const recursive = ['--recursive'];

/** Why a command may read through links it encounters; undefined: not known to. */
export function followsLinks(argv: readonly string[]): string | undefined {
  const [name = '', ...rest] = argv;
  const kind = commandKind(name);
  const risky = ownEntry(letters, kind) ?? letters[''] ?? '';
  const long = kind === 'diff' ? [...words, ...recursive] : words;
  const option = rest.find(word =>
    word.startsWith('--')
      ? long.some(flag => word === flag || abbreviates(word, flag))
      : word === '-follow' || (word.startsWith('-') && [...risky].some(letter => word.includes(letter))),
  );
  return option === undefined ? undefined : `\`${name} ${option}\` may follow links out of the workspace`;
}
