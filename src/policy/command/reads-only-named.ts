import {commandKind} from './command-name.ts';

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));

/** Commands that print no file content, or only that of files they name. */
const plain = words(
  'echo printf pwd date uname uptime whoami id hostname ps df free true false which basename dirname seq sleep test kill ' +
    'ls stat du tree mkdir rmdir touch chmod chown chgrp rm unlink truncate cat head tail wc nl sort uniq cut tr column ' +
    'cmp comm sha256sum md5sum cksum jq tee',
);
/** Subcommands that show only the repository or a service. */
const subcommands: Readonly<Record<string, ReadonlySet<string>>> = {
  git: words('status log show branch rev-parse ls-files ls-tree describe tag shortlog blame ls-remote'),
  docker: words('ps images version'),
};
/** Letters of grep except those that read folders or lists. */
const grepOptions = /^-[ivnclowxEFGPHhqsaABCm0-9]+$/;

/**
 * Whether a command is known to print only files that its words name: it neither walks folders nor runs anything that
 * might. Used where nothing can be hidden from a command, so unknown commands may read anything.
 */
export function readsOnlyNamed(argv: readonly string[]): boolean {
  const [name = '', ...args] = argv;
  if (args.length === 1 && args[0] === '--version') return true;
  // Lists of files: --files0-from and abbreviations.
  if (args.some(word => word.startsWith('--f'))) return false;
  const kind = commandKind(name);
  if (kind === 'grep') return args.every(word => !word.startsWith('-') || grepOptions.test(word));
  if (kind === 'find') return !args.some(word => /^-(?:exec|ok|files|f)/.test(word));
  if (Object.hasOwn(subcommands, kind)) return subcommands[kind]?.has(args[0] ?? '') === true;
  return plain.has(kind);
}
