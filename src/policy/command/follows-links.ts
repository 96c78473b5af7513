import {commandKind} from './command-name.ts';
import {abbreviates} from './deny.ts';

/** Letters by which a command follows links that nobody named; `''`: of any other command. */
const letters: Readonly<Record<string, string>> = {grep: 'R', tree: 'l', diff: 'r', '': 'LH'};
const words = ['--follow', '--dereference', '--dereference-recursive', '--dereference-command-line'];
const recursive = ['--recursive'];

/** Why a command may read through links it meets on its way; undefined: it is not known to. */
export function followsLinks(argv: readonly string[]): string | undefined {
  const [name = '', ...rest] = argv;
  const kind = commandKind(name);
  const risky = Object.hasOwn(letters, kind) ? (letters[kind] ?? '') : (letters[''] ?? '');
  const long = kind === 'diff' ? [...words, ...recursive] : words;
  const option = rest.find(word =>
    word.startsWith('--')
      ? long.some(flag => word === flag || abbreviates(word, flag))
      : word === '-follow' || (word.startsWith('-') && [...risky].some(letter => word.includes(letter))),
  );
  return option === undefined ? undefined : `\`${name} ${option}\` may follow links out of the workspace`;
}
