import type {Rule} from '../../formats/rule.ts';
import {baseName, commandKind, ownEntry} from './command-name.ts';
import {rows} from './table/rows.ts';
import {isLiteral, looseMatch} from './words.ts';

/** Long forms of letters for commands whose row has none. */
const usualForms: Readonly<Record<string, string>> = {r: 'recursive', R: 'recursive', f: 'force', a: 'all'};

/**
 * Whether a deny rule covers this command. Generous: a path counts as its last component, an alias as the command, `*`
 * is anything, options match in any order and spelling, and a word after an option may be its value.
 */
export function denies(rule: Rule, argv: readonly string[]): boolean {
  const [command, ...rest] = rule.words;
  if (command === undefined) return rule.open;
  if (!isCommand(command, argv[0] ?? '')) return false;
  return inOrder(rest, rule.open, argv.slice(1)) || asSet(command, rest, rule.open, argv.slice(1));
}

/** Whether a deny rule may cover a command of this name, judged by its first word. */
export function mayDeny(rule: Rule, name: string): boolean {
  const [command] = rule.words;
  return command === undefined || isCommand(command, name);
}

function isCommand(word: string, name: string): boolean {
  const wanted = word.toLowerCase();
  const given = name.toLowerCase();
  return [given, baseName(given), commandKind(given)].some(form => looseMatch(wanted, form));
}

function inOrder(words: readonly string[], open: boolean, given: readonly string[]): boolean {
  if (open ? given.length < words.length : given.length !== words.length) return false;
  return words.every((word, i) => looseMatch(word, given[i] ?? ''));
}

function asSet(command: string, words: readonly string[], open: boolean, given: readonly string[]): boolean {
  const kind = commandKind(command);
  const wanted = readArguments(kind, words);
  const got = readArguments(kind, given);
  if (!wanted.options.every(option => hasOption(kind, got, option))) return false;
  // `git push` without options matches only that; a rule that names options allows for further ones.
  if (!open && wanted.options.length === 0 && got.options.length > 0) return false;
  return operandsMatch(wanted.operands, open, got.operands);
}

interface Arguments {
  words: readonly string[];
  options: string[];
  /** Canonical name of each option: letters split and in long form. */
  names: ReadonlySet<string>;
  operands: Operand[];
}

interface Operand {
  text: string;
  /** It follows an option, so it may be the value of that option. */
  mayBeValue: boolean;
}

/** Match the wanted operands in order, `*` once or more; skip only words that may be option values. */
function operandsMatch(wanted: readonly Operand[], open: boolean, got: readonly Operand[]): boolean {
  let reached = new Set([0]);
  for (const operand of got) {
    const next = new Set<number>();
    for (const at of reached) {
      const word = wanted[at];
      if (operand.mayBeValue || (word === undefined && open) || wanted[at - 1]?.text === '*') next.add(at);
      if (word !== undefined && looseMatch(word.text, operand.text)) next.add(at + 1);
    }
    reached = next;
  }
  return reached.has(wanted.length);
}

function readArguments(kind: string, words: readonly string[]): Arguments {
  const options: string[] = [];
  const operands: Operand[] = [];
  let ended = false;
  let mayBeValue = false;
  for (const word of kind === 'kill' ? killArguments(words) : words) {
    // Operands of dd act as options.
    const isOption = !ended && (kind === 'dd' ? word.includes('=') : word.startsWith('-') && word !== '-');
    if (!ended && word === '--') ended = true;
    else if (isOption) options.push(word);
    else operands.push({text: word, mayBeValue});
    mayBeValue = isOption && !word.includes('=');
  }
  return {words, options, names: new Set(options.flatMap(option => namesOf(kind, option))), operands};
}

/** `-9`, `-s 9`, `-s KILL` and `--signal=SIGKILL` become `-KILL`; `--` only keeps `-1` from being a signal. */
function killArguments(words: readonly string[]): string[] {
  const named = words.join('\0').replace(/(^|\0)(?:-[sn]\0?|--signal[=\0])(?=[A-Za-z0-9])/g, '$1-');
  return named
    .split('\0')
    .filter(word => word !== '--' && word !== '')
    .map(word => (/^-(?:9|(?:sig)?kill)$/i.test(word) ? '-KILL' : word));
}

/** Whether `option` is present, in any spelling. */
function hasOption(kind: string, got: Arguments, option: string): boolean {
  if (got.options.some(other => looseMatch(option, other))) return true;
  if (kind === 'dd') return false;
  const [name, value] = cut(option);
  if (value !== undefined) {
    return got.words.some((word, i) => abbreviates(word, name) && looseMatch(value, got.words[i + 1] ?? ''));
  }
  if (!isLiteral(option)) return false;
  return namesOf(kind, option).every(
    wanted => got.names.has(wanted) || [...got.names].some(other => abbreviates(other, wanted)),
  );
}

/** `-rf` becomes `--recursive` and `--force`; a letter without a long form stays. */
function namesOf(kind: string, option: string): string[] {
  if (option.startsWith('--') || ownEntry(rows, kind)?.style === 'words') return [cut(option)[0]];
  const forms = ownEntry(rows, kind)?.long ?? usualForms;
  return [...option.slice(1)].map(letter => (Object.hasOwn(forms, letter) ? `--${forms[letter]}` : `-${letter}`));
}

function cut(option: string): [string, string | undefined] {
  const at = option.indexOf('=');
  return at < 0 ? [option, undefined] : [option.slice(0, at), option.slice(at + 1)];
}

/** `--recur` for `--recursive`. */
export function abbreviates(given: string, long: string): boolean {
  return given.length > 2 && given.startsWith('--') && long.startsWith(given);
}
