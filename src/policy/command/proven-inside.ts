import {commandKind} from './command-name.ts';
import {type KnownUse, knownUse} from './known-use.ts';

/**
 * Why a command is not proven to read only files of the workspace that its words name, and to change nothing;
 * otherwise its use, of which the paths are still to be checked for links.
 */
export function provenToRead(argv: readonly string[]): KnownUse | string {
  const use = knownUse(argv);
  const name = argv[0] ?? '';
  if (use === undefined) return `no use of \`${name}\` is known to be harmless`;
  const [unknown] = use.unknown;
  if (unknown) return unknown.reason;
  if (use.changes) return `\`${name}\` changes files`;
  if (use.service || use.network) return `\`${name}\` asks a service or another machine`;
  if (use.machine) return `\`${name}\` shows more than the workspace`;
  if (use.guesses) return `\`${name}\` opens other files than it is given`;
  if (use.follows) return `\`${argv.join(' ')}\` may follow links out of the workspace`;
  return use;
}

/**
 * Whether a command is known to print only files that its words name: it neither walks folders nor runs anything that
 * might. Used where nothing can be hidden from a command, so unknown commands may read anything.
 */
export function readsOnlyNamed(argv: readonly string[]): boolean {
  const use = knownUse(argv);
  return use !== undefined && use.unknown.length === 0 && (!use.walks || use.lists === true);
}

/** All files that a command reads, if it is known to read no others. */
export function filesNamed(argv: readonly string[]): string[] | undefined {
  const use = knownUse(argv);
  // git obeys files of the repository that no word names.
  if (!use || use.unknown.length > 0 || use.walks || use.guesses || use.service || commandKind(argv[0] ?? '') === 'git')
    return undefined;
  return use.files.map(({path}) => path);
}
