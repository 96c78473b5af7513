import {commandKind, ownEntry} from './command-name.ts';
import {scriptOperands} from './script-operands.ts';
import {rows} from './table/rows.ts';
import {unwrap} from './wrappers.ts';

/** Why a command may run files of its working directory, which an agent can write; undefined: not known to. */
export function runsLocalCode(argv: readonly string[]): string | undefined {
  let found = reasonFor(argv);
  const {doubts} = unwrap(argv, inner => {
    found ??= reasonFor(inner);
  });
  return found ?? doubts[0] ?? scriptIn(argv);
}

/**
 * Why a command may run agent-written code although a person's rule lets it out of the sandbox. Paths elsewhere are
 * fine, because the rule spelled them out. `isOurs`: whether agents could write a path.
 */
export function runsOurCode(argv: readonly string[], isOurs: (path: string) => boolean): string | undefined {
  if (onlyTells(argv)) return undefined;
  const {named, reads} = scriptOperands('', [{argv}]);
  const script = named.find(isOurs);
  if (script !== undefined) return `${argv[0]} does what ${script} says`;
  if (reads) return `${argv[0]} runs what it reads`;
  let found = otherCode(argv);
  const {doubts} = unwrap(argv, inner => {
    found ??= otherCode(inner);
  });
  return found ?? (doubts[0] === undefined ? undefined : `${argv[0]} ${doubts[0]}`);
}

/** Only relative paths count: a rule had to spell out absolute ones. */
function scriptIn(argv: readonly string[]): string | undefined {
  if (onlyTells(argv)) return undefined;
  const script = scriptOperands('', [{argv}]).named.find(path => !path.startsWith('/'));
  return script === undefined ? undefined : `${argv[0]} does what ${script} says`;
}

function onlyTells(argv: readonly string[]): boolean {
  return argv.length === 2 && argv[1] === '--version';
}

function reasonFor(argv: readonly string[]): string | undefined {
  const [name = '', ...args] = argv;
  const kind = commandKind(name).split(' ', 1)[0] ?? '';
  if (ownEntry(rows, kind)?.shell && !onlyTells(argv) && !args.some(word => /^-[A-Za-z]*c/.test(word)))
    return `${name} runs a program from a file, or what it reads`;
  return otherCode(argv);
}

/** Code other than named scripts. */
function otherCode(argv: readonly string[]): string | undefined {
  const [name = ''] = argv;
  const kind = commandKind(name).split(' ', 1)[0] ?? '';
  return ownEntry(rows, kind)?.builds && !onlyTells(argv) ? `${name} does what files of the workspace say` : undefined;
}
