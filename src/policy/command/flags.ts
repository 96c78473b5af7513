import {commandKind, ownEntry} from './command-name.ts';
import {abbreviates} from './deny.ts';
import {flagTable, type RiskyUse, type Uses} from './flag-table.ts';
import {readingSubcommands} from './reading-subcommands.ts';
import {riskyScripts} from './scripts.ts';
import {isLiteral, literalPrefix} from './words.ts';

/** Known risky arguments. An allow rule must spell these out; a `*` does not cover them. */
export function riskyUses(argv: readonly string[]): RiskyUse[] {
  const kind = commandKind(argv[0] ?? '');
  const args = kind === 'tar' ? dashed(argv) : argv;
  const {found, uses} = subcommands(kind, args);
  const all = found.flatMap(({path, at}) => {
    const entry = ownEntry(flagTable, path);
    return entry ? [optionUses(entry, args), operandUses(entry, args, at)].flat() : [];
  });
  const globals = ownEntry(flagTable, kind)?.globals;
  if (globals !== undefined) all.push(...globalUses(globals, args, found[1]?.at ?? args.length));
  return [uses, all, riskyScripts(kind, args)]
    .flat()
    .map(use => ({...use, reason: `\`${`${kind} ${use.flag}`.trim()}\` ${use.reason}`}));
}

/** Whether a rule's word at the position of the use spells it out. */
export function spells(word: string | undefined, use: RiskyUse): boolean {
  if (word === undefined) return false;
  return isLiteral(word) || (use.flag.startsWith('-') && literalPrefix(word).startsWith(use.flag));
}

/** Known paths (`git`, `git remote`, …) with the index of their last word. Subcommands not known to read are uses. */
function subcommands(kind: string, args: readonly string[]): {found: {path: string; at: number}[]; uses: RiskyUse[]} {
  let last = {path: kind, at: 0};
  const found = [last];
  const uses: RiskyUse[] = [];
  for (;;) {
    const reading = ownEntry(readingSubcommands, last.path);
    const index = args.findIndex((word, i) => i > last.at && !word.startsWith('-'));
    const word = args[index];
    if (reading === undefined || word === undefined) return {found, uses};
    if (!reading.split(' ').includes(word.toLowerCase())) {
      uses.push({index, flag: word, reason: 'is not known to only read'});
    }
    last = {path: `${last.path} ${word}`, at: index};
    found.push(last);
  }
}

function optionUses(entry: Uses, args: readonly string[]): RiskyUse[] {
  const lists = [
    [entry.runs, 'runs or loads something else'],
    [entry.writes, 'writes or changes something'],
    [entry.sends, 'sends data or reaches another machine'],
  ] as const;
  return lists.flatMap(([list, reason]) =>
    list === undefined ? [] : optionsIn(list, entry.whole === true, args).map(use => ({...use, reason})),
  );
}

function optionsIn(list: string, whole: boolean, args: readonly string[]): {index: number; flag: string}[] {
  const flags = list.split(' ');
  return args.flatMap((word, index) => {
    if (index === 0 || !word.startsWith('-')) return [];
    const name = word.split('=', 1)[0] ?? word;
    return flags.some(flag => isOption(flag, name, word, whole)) ? [{index, flag: name}] : [];
  });
}

function isOption(flag: string, name: string, word: string, whole: boolean): boolean {
  if (flag.startsWith('=')) return name === flag.slice(1);
  if (flag.startsWith('--')) return name === flag || abbreviates(name, flag);
  if (name === flag || (flag.length > 2 && name === `-${flag}`)) return true;
  return flag.length === 2 && !whole && !word.startsWith('--') && word.includes(flag.charAt(1));
}

/** Options before the subcommand, except harmless ones: `git -p log` starts a pager, `git log -p` does not. */
function globalUses(harmless: string, args: readonly string[], before: number): RiskyUse[] {
  const known = harmless.split(' ');
  return args.slice(1, before).flatMap((word, i) => {
    if (!word.startsWith('-') || known.includes(word)) return [];
    return [{index: i + 1, flag: word.split('=', 1)[0] ?? word, reason: 'may load settings or start a program'}];
  });
}

function operandUses(entry: Uses, args: readonly string[], after: number): RiskyUse[] {
  const {operands} = entry;
  if (!operands) return [];
  if (isHarmlessForm(operands, args.slice(after + 1))) return [];
  const uses: RiskyUse[] = [];
  let seen = 0;
  let ended = false;
  for (const [index, word] of args.entries()) {
    if (index <= after) continue;
    if (!ended && word.startsWith('-') && word !== '-') {
      ended = word === '--';
    } else if (++seen >= operands.from && !operands.unless?.test(word)) {
      uses.push({index, flag: word, reason: operands.why});
    }
  }
  if (seen === 0 && entry.bare !== undefined && !isOnlyInformation(args.slice(1)))
    uses.push({index: args.length, flag: '', reason: entry.bare});
  return uses;
}

/** An option makes operands harmless only if it comes first: `git branch --format --list x` creates x. */
function isHarmlessForm({unlessOption, past}: NonNullable<Uses['operands']>, rest: readonly string[]): boolean {
  if (unlessOption === undefined) return false;
  const first = rest.find(word => !/^--[\w-]+=/.test(word) && past?.split(' ').includes(word) !== true);
  return first !== undefined && unlessOption.split(' ').includes(first.split('=', 1)[0] ?? first);
}

function isOnlyInformation(rest: readonly string[]): boolean {
  return rest.length > 0 && rest.every(word => /^(--version|--help|-V|-v|-h)$/.test(word));
}

/** `tar xf` means `tar -xf`. */
function dashed(argv: readonly string[]): readonly string[] {
  const [command = '', first, ...rest] = argv;
  return first === undefined || first.startsWith('-') ? argv : [command, `-${first}`, ...rest];
}
