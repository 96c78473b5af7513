import {commandKind, ownEntry} from './command-name.ts';
import {rows} from './table/rows.ts';
import {unwrap} from './wrappers.ts';

/** Why a command, possibly wrapped, contacts other machines; undefined: not known to. */
export function sendsOut(argv: readonly string[]): string | undefined {
  let found = reasonFor(argv);
  unwrap(argv, inner => {
    found ??= reasonFor(inner);
  });
  return found;
}

function reasonFor(argv: readonly string[]): string | undefined {
  const [name = '', ...args] = argv;
  const kind = commandKind(name);
  // Between two local paths, rsync stays local.
  if (kind === 'rsync' && !args.some(word => /^[^/]*:/.test(word))) return undefined;
  const reaches = ownEntry(rows, kind)?.reaches ?? '';
  if (reaches === true) return `${name} reaches other machines`;
  const listed = reaches.split(',').filter(words => words !== '');
  const [first = '', second = ''] = args.filter(word => !word.startsWith('-'));
  const sub = [first, `${first} ${second}`, ...(kind === 'git' ? [] : [second])].find(words => listed.includes(words));
  if (sub !== undefined) return `${name} ${sub} reaches other machines`;
  // Plain yarn installs what the manifest names.
  return kind === 'yarn' && first === '' ? 'yarn reaches other machines' : undefined;
}
