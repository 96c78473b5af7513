import {type CommandRow, parseOptions} from '../../src/policy/command/table/row.ts';
import type {Random} from './random.ts';

/** Options in some spelling, without operands. */
export type Spelling = readonly string[];

interface RowOption {
  name: string;
  role: string | undefined;
  optional: boolean;
}

/** `value-file` and `helper` are files of the workspace that no operand names: opened only if a value is taken for a file. */
const VALUES = ['1', 'value-file', '@value-file', './helper', 'always', 'name', '%s', '2,3'] as const;

function optionsOf(row: CommandRow): RowOption[] {
  return parseOptions(row.options ?? '', true).map(([name, {role, optional}]) => ({name, role, optional}));
}

/** Every option of a row: alone, with values attached and separate, in a cluster, negated, and abbreviated. */
export function everySpelling(row: CommandRow): Spelling[] {
  const all = optionsOf(row);
  return all.flatMap(option => [...spellingsOf(option), ...variants(option), ...clusters(option, all)]);
}

const LETTERS = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'];

/**
 * A letter with a value, and any letter behind it: to the row that is the value, and some programs take it for a further
 * option, with values from the words that follow.
 */
export function gluedLetters(row: CommandRow): Spelling[] {
  return optionsOf(row).flatMap(({name, role, optional}) =>
    role !== undefined && !optional && /^-[A-Za-z]$/.test(name)
      ? LETTERS.map(letter => [`${name}${letter}`, '1', 'out'])
      : [],
  );
}

/** `tar tfI ARCHIVE PROGRAM`: letters without a dash, and any letter that takes the second of their values. */
export function lettersWithoutDash(row: CommandRow): Spelling[] {
  return row.style === 'tar' ? LETTERS.map(letter => [`tf${letter}`, 'x.tar', './helper']) : [];
}

/** Options that the row calls harmful, behind `--`, where some programs still read them. */
export function harmfulBehindDashes(row: CommandRow): Spelling[] {
  const harmful = parseOptions(row.spelled ?? '', false);
  return harmful.map(([name, {role}]) => ['--', '.', name, ...(role === undefined ? [] : ['out'])]);
}

/** Some options of a row together. */
export function randomSpelling(row: CommandRow, random: Random): Spelling {
  const all = optionsOf(row);
  return all.length === 0 ? [] : random.some(2, 4, () => random.pick(spellingsOf(random.pick(all)))).flat();
}

function spellingsOf({name, role, optional}: RowOption): Spelling[] {
  if (name === '-#') return [['-5']];
  if (role === undefined) return [[name]];
  const attached = VALUES.map(value => [`${name}${name.startsWith('--') ? '=' : ''}${value}`]);
  return optional ? [[name], ...attached] : [...attached, ...VALUES.map(value => [name, value])];
}

/** Spellings that the row does not list. The policy may still take some for harmless. */
function variants({name, role}: RowOption): Spelling[] {
  if (!name.startsWith('--')) return [];
  const base = name.slice(2);
  const negated = base.startsWith('no-') ? `--${base.slice(3)}` : `--no-${base}`;
  const abbreviated = base.length > 5 ? [`--${base.slice(0, -1)}`, `--${base.slice(0, 4)}`] : [];
  const empty = role === undefined ? [] : [`${name}=`];
  return [negated, ...abbreviated, ...empty].map(word => [word]);
}

/** A letter behind another that takes no value, and a letter with a value in front of others. */
function clusters({name, role, optional}: RowOption, all: readonly RowOption[]): Spelling[] {
  if (!/^-[A-Za-z0-9]$/.test(name)) return [];
  const letters = all.flatMap(other =>
    other.role === undefined && /^-[A-Za-z]$/.test(other.name) ? other.name[1] : [],
  );
  const others = letters.filter(letter => letter !== name[1]).slice(0, 2);
  return others.flatMap(letter => [
    ...spellingsOf({name, role, optional}).map(([first = '', ...rest]) => [`-${letter}${first.slice(1)}`, ...rest]),
    [`${name}${letter}`, '1'],
  ]);
}
