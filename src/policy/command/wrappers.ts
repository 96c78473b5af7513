import {commandKind, ownEntry} from './command-name.ts';
import {abbreviates} from './deny.ts';
import {linesInArguments} from './program-text.ts';
import {readLine} from './shell.ts';
import {shellOnly} from './shell-only.ts';
import type {WrapperSyntax} from './table/row.ts';
import {rows} from './table/rows.ts';
import {type InnerCommand, innerOfCapsh, innerOfFind, innerOfGit, innerOfShell} from './wrapper-cases.ts';

export interface UnwrappedCommand {
  why: string | undefined;
  doubts: string[];
}

const deepest = 16;
/** Limit in characters on inner lines per command; the first line is read whatever its length. */
const mostText = 262_144;
const tooDeep = 'wraps commands too deep to follow';

/**
 * Call `visit` with each command that `argv` would run, at any depth. Must not throw. Adds a doubt where it cannot
 * follow. `input` returns the texts on standard input, for a shell that runs its input.
 */
export function unwrap(
  argv: readonly string[],
  visit: (inner: string[]) => void,
  input: () => readonly string[] = () => [],
): UnwrappedCommand {
  const doubts = new Set<string>();
  const work = [{base: argv, start: 0, depth: 0, seen: new Set<number>()}];
  const lines = new Set<string>();
  let text = 0;
  let why: string | undefined;
  for (let item = work.pop(); item !== undefined; item = work.pop()) {
    const {base, start, depth, seen} = item;
    if (seen.has(start)) continue;
    seen.add(start);
    const words = start === 0 ? base : base.slice(start);
    if (depth > 0) visit([...words]);
    const kind = commandKind(words[0] ?? '');
    const inner = innerOf(kind, words);
    if (depth === 0) why = inner.why;
    if (inner.doubt !== undefined) doubts.add(inner.doubt);
    if (depth === deepest) {
      if (inner.why !== undefined) doubts.add(tooDeep);
      continue;
    }
    for (const at of inner.starts ?? []) work.push({base, start: start + at, depth: depth + 1, seen});
    const commands = [...(inner.commands ?? [])];
    const read = inner.reads ? input() : [];
    for (const line of [...(inner.lines ?? []), ...linesInArguments(kind, words), ...read]) {
      if (lines.has(line)) continue;
      if (text > mostText) {
        doubts.add(tooDeep);
        break;
      }
      lines.add(line);
      text += line.length;
      const reading = readLine(line);
      for (const why of reading.doubts) doubts.add(`runs a line that ${why}`);
      for (const segment of reading.segments) commands.push(segment.argv);
    }
    for (const command of commands) work.push({base: command, start: 0, depth: depth + 1, seen: new Set()});
  }
  return {why, doubts: [...doubts]};
}

function innerOf(kind: string, argv: readonly string[]): InnerCommand {
  const row = ownEntry(rows, kind);
  if (row?.shell) return innerOfShell(kind, argv);
  if (kind === 'eval') return {why: 'eval runs its words as a line', lines: [operandsOf(argv).join(' ')]};
  if (kind === 'trap') return {why: 'trap runs its first word as a line', lines: operandsOf(argv).slice(0, 1)};
  if (kind === 'alias') return {why: onlyInShell(kind), lines: argv.slice(1).map(word => word.replace(/^[^=]*=/, ''))};
  if (kind === 'find' || kind === 'fd') return innerOfFind(kind, argv);
  if (kind === 'capsh') return innerOfCapsh(argv);
  if (row?.runsWords)
    return {why: `${kind} runs its words as lines`, lines: argv.slice(1).map(word => word.replace(/^--[\w-]+=/, ''))};
  if (kind === 'git') return innerOfGit(argv);
  if (kind === 'command' && /^-p*[vV]/.test(argv[1] ?? '')) return {why: 'command only looks a name up'};
  if (shellOnly.has(kind)) return {why: onlyInShell(kind)};
  if (row?.wraps) return innerOfRunner(kind, row.wraps, argv, 1);
  const subs = row?.subcommands ?? {};
  const at = argv.findIndex((word, i) => i > 0 && ownEntry(subs, word)?.wraps !== undefined);
  const syntax = subs[argv[at] ?? '']?.wraps;
  return syntax ? innerOfRunner(`${kind} ${argv[at]}`, syntax, argv, at + 1) : {};
}

function onlyInShell(kind: string): string {
  return `${kind} means something only inside a shell`;
}

function operandsOf(argv: readonly string[]): readonly string[] {
  return argv.slice(argv[1] === '--' ? 2 : 1);
}

/** Limit on options missing in a runner's table. */
const mostUnknown = 16;

function innerOfRunner(name: string, runner: WrapperSyntax, argv: readonly string[], from: number): InnerCommand {
  const starts = new Set<number>();
  const lines = new Set<string>();
  const commands: string[][] = [];
  const branches = [{at: from, operands: runner.operands ?? 0, program: ''}];
  let unknown = 0;
  for (let branch = branches.pop(); branch !== undefined; branch = branches.pop()) {
    let {at, operands, program} = branch;
    for (; at < argv.length; at++) {
      const word = argv[at] ?? '';
      if (word === '--') {
        if (runner.optional && at + 1 < argv.length) starts.add(at + 1);
        at += operands + 1;
        break;
      }
      const kind = wordKind(runner, word);
      if (isListed(runner.program, word.split('=', 1)[0] ?? ''))
        program = word.includes('=') ? word.slice(word.indexOf('=') + 1) : (argv[at + 1] ?? '');
      if (kind === 'line') lines.add(attachedLine(runner, word) ?? argv[++at] ?? '');
      else if (kind === 'valued') at++;
      // The option may take the next word or not: try both.
      else if (kind === 'unknown' && ++unknown <= mostUnknown) branches.push({at: at + 2, operands, program});
      else if (kind === 'operand') {
        if (operands-- === 0) break;
        if (runner.optional) starts.add(at);
        if (program !== '' && operands === 0) {
          at++;
          break;
        }
      }
    }
    if (program !== '') commands.push([program, ...argv.slice(at)]);
    else if (at < argv.length) starts.add(at);
  }
  const before =
    runner.before === undefined ? -1 : argv.findIndex((word, i) => i >= from && isListed(runner.before, word));
  if (before > 0 && before + 1 < argv.length) starts.add(before + 1);
  for (let i = from; runner.anywhere && i < argv.length; i++) {
    const word = argv[i] ?? '';
    if (wordKind(runner, word) === 'line') lines.add(attachedLine(runner, word) ?? argv[i + 1] ?? '');
  }
  if (runner.joined) for (const at of starts) lines.add(argv.slice(at).join(' '));
  // Without a command of its own, `parallel ::: LINE LINE` runs each line.
  const listed = argv.indexOf(':::');
  if (runner.joined && starts.has(listed)) for (const line of argv.slice(listed + 1)) lines.add(line);
  const inner: InnerCommand = {
    starts: runner.joined ? [] : [...starts],
    commands,
    lines: [...lines].filter(line => line !== ''),
  };
  if (!runner.bare || starts.size > 0 || lines.size > 0) inner.why = `${name} runs other words as a command`;
  if (runner.reads && starts.size === 0) inner.reads = true;
  if (unknown > mostUnknown) inner.doubt = `gives ${name} too many options to follow`;
  return inner;
}

function wordKind(runner: WrapperSyntax, word: string): 'line' | 'valued' | 'plain' | 'unknown' | 'operand' {
  if (isListed(runner.strings, word) || attachedLine(runner, word) !== undefined) return 'line';
  // `-qc`: the last of combined letters.
  if (/^-[A-Za-z]{2,}$/.test(word) && isListed(runner.strings, `-${word.at(-1)}`)) return 'line';
  if (isListed(runner.valued, word)) return 'valued';
  if (word.startsWith('-')) return isPlainOption(runner, word) ? 'plain' : 'unknown';
  return runner.assignments && /^[A-Za-z_]\w*=/.test(word) ? 'plain' : 'operand';
}

/** `--command=LINE`, `-cLINE`, or `-vcLINE`. */
function attachedLine(runner: WrapperSyntax, word: string): string | undefined {
  if (runner.strings === undefined || !word.startsWith('-')) return undefined;
  if (word.startsWith('--')) {
    const at = word.indexOf('=');
    return at > 0 && isListed(runner.strings, word.slice(0, at)) ? word.slice(at + 1) : undefined;
  }
  for (let i = 1; i < word.length - 1; i++) {
    if (isListed(runner.strings, `-${word.charAt(i)}`)) return word.slice(i + 1);
    if (runner.plain?.includes(word.charAt(i)) !== true) return undefined;
  }
  return undefined;
}

/** A lone dash, a long option with its value or known to take none, a letter with its value, or letters without one. */
function isPlainOption(runner: WrapperSyntax, word: string): boolean {
  if (word.startsWith('--')) return word.includes('=') || isListed(runner.switches, word);
  if (word.length > 2 && isListed(runner.valued, word.slice(0, 2))) return true;
  return [...word.slice(1)].every(letter => (runner.plain ?? '').includes(letter));
}

/** Long options match in abbreviations too. */
function isListed(list: string | undefined, option: string): boolean {
  return list?.split(' ').some(listed => listed === option || abbreviates(option, listed)) === true;
}
