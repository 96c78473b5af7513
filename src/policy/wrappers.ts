import {kindOf} from './command-name.ts';
import {readLine} from './shell.ts';
import {type Inner, innerOfFind, innerOfGit, innerOfShell} from './wrapper-cases.ts';
import {type Runner, runners, shellOnly, shells, subRunners} from './wrapper-table.ts';

export interface Unwrapped {
  why: string | undefined;
  doubts: string[];
}

const deepest = 16;
/** Characters of inner lines to read for one command; the first is read whatever its length. */
const mostText = 262_144;
const tooDeep = 'wraps commands too deep to follow';

/**
 * Hands each command that `argv` would run, however deep, to `visit`. Must not throw. Where it cannot follow, it doubts.
 */
export function unwrap(argv: readonly string[], visit: (inner: string[]) => void): Unwrapped {
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
    const inner = innerOf(words);
    if (depth === 0) why = inner.why;
    if (inner.doubt !== undefined) doubts.add(inner.doubt);
    if (depth === deepest) {
      if (inner.why !== undefined) doubts.add(tooDeep);
      continue;
    }
    for (const at of inner.starts ?? []) work.push({base, start: start + at, depth: depth + 1, seen});
    const commands = [...(inner.commands ?? [])];
    for (const line of inner.lines ?? []) {
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

function innerOf(argv: readonly string[]): Inner {
  const kind = kindOf(argv[0] ?? '');
  if (shells.has(kind)) return innerOfShell(kind, argv);
  if (kind === 'eval') return {why: 'eval runs its words as a line', lines: [argv.slice(1).join(' ')]};
  if (kind === 'trap') return {why: 'trap runs its first word as a line', lines: argv.slice(1, 2)};
  if (kind === 'find') return innerOfFind(argv);
  if (kind === 'git') return innerOfGit(argv);
  if (kind === 'command' && /^-p*[vV]/.test(argv[1] ?? '')) return {why: 'command only looks a name up'};
  if (shellOnly.has(kind)) return {why: `${kind} means something only inside a shell`};
  const runner = Object.hasOwn(runners, kind) ? runners[kind] : undefined;
  if (runner) return innerOfRunner(kind, runner, argv, 1);
  const subs = Object.hasOwn(subRunners, kind) ? subRunners[kind] : undefined;
  const at = subs ? argv.findIndex((word, i) => i > 0 && Object.hasOwn(subs, word)) : -1;
  const sub = subs?.[argv[at] ?? ''];
  return sub ? innerOfRunner(`${kind} ${argv[at]}`, sub, argv, at + 1) : {};
}

/** Options that the table of a runner does not know, after which the search is given up. */
const mostUnknown = 16;

function innerOfRunner(name: string, runner: Runner, argv: readonly string[], from: number): Inner {
  const starts = new Set<number>();
  const lines = new Set<string>();
  const branches = [{at: from, operands: runner.operands ?? 0}];
  let unknown = 0;
  for (let branch = branches.pop(); branch !== undefined; branch = branches.pop()) {
    let {at, operands} = branch;
    for (; at < argv.length; at++) {
      const word = argv[at] ?? '';
      if (word === '--') {
        at += operands + 1;
        break;
      }
      const kind = wordKind(runner, word);
      if (kind === 'line') lines.add(attachedLine(runner, word) ?? argv[++at] ?? '');
      else if (kind === 'valued') at++;
      // It may take the next word or not: both are looked at.
      else if (kind === 'unknown' && ++unknown <= mostUnknown) branches.push({at: at + 2, operands});
      else if (kind === 'operand' && operands-- === 0) break;
    }
    if (at < argv.length) starts.add(at);
  }
  if (runner.joined) for (const at of starts) lines.add(argv.slice(at).join(' '));
  const inner: Inner = {starts: runner.joined ? [] : [...starts], lines: [...lines].filter(line => line !== '')};
  if (!runner.bare || starts.size > 0 || lines.size > 0) inner.why = `${name} runs other words as a command`;
  if (unknown > mostUnknown) inner.doubt = `gives ${name} too many options to follow`;
  return inner;
}

function wordKind(runner: Runner, word: string): 'line' | 'valued' | 'plain' | 'unknown' | 'operand' {
  if (isListed(runner.strings, word) || attachedLine(runner, word) !== undefined) return 'line';
  // `-qc`: the last of several letters.
  if (/^-[A-Za-z]{2,}$/.test(word) && isListed(runner.strings, `-${word.at(-1)}`)) return 'line';
  if (isListed(runner.valued, word)) return 'valued';
  if (word.startsWith('-') && word !== '-') return isPlainOption(runner, word) ? 'plain' : 'unknown';
  return runner.assignments && /^[A-Za-z_]\w*=/.test(word) ? 'plain' : 'operand';
}

/** `--command=LINE` or `-cLINE`. */
function attachedLine(runner: Runner, word: string): string | undefined {
  const at = word.startsWith('--') ? word.indexOf('=') : 2;
  if (at < 2 || word.length <= at || !isListed(runner.strings, word.slice(0, at))) return undefined;
  return word.slice(word.startsWith('--') ? at + 1 : at);
}

/** A long option, a letter with its value attached, or letters known to take none. */
function isPlainOption(runner: Runner, word: string): boolean {
  if (word.startsWith('--')) return true;
  if (word.length > 2 && isListed(runner.valued, word.slice(0, 2))) return true;
  return [...word.slice(1)].every(letter => (runner.plain ?? '').includes(letter));
}

function isListed(list: string | undefined, option: string): boolean {
  return list?.split(' ').includes(option) === true;
}
