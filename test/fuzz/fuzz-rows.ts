import {parseAllowlist} from '../../src/formats/allowlist.ts';
import type {Policy} from '../../src/formats/rule.ts';
import {knownUse} from '../../src/policy/command/known-use.ts';
import type {CommandRow} from '../../src/policy/command/table/row.ts';
import {judge} from '../../src/policy/judge.ts';
import {
  everySpelling,
  gluedLetters,
  harmfulBehindDashes,
  lettersWithoutDash,
  randomSpelling,
  type Spelling,
} from './option-spellings.ts';
import {type Random, randomFrom} from './random.ts';
import {randomScripts} from './random-scripts.ts';
import {argvOf, isExpected, type NamedRow, namedRows} from './row-samples.ts';
import type {TraceEvent} from './trace-events.ts';
import type {Tracer} from './traced-run.ts';

/** A use that the policy allows by its row, although the program does more than the row says. */
interface RowViolation {
  argv: readonly string[];
  why: string;
}

interface RowOutcome {
  /** Uses that ran. */
  ran: number;
  /** Rows whose program is not installed here. */
  missing: readonly string[];
  violations: RowViolation[];
}

/** How the policy reads a use. */
export interface UseReading {
  allowed: boolean;
  /** Paths that the program may read; undefined: it walks folders. */
  files: readonly string[] | undefined;
}

interface RowFuzz {
  rows: Readonly<Record<string, CommandRow>>;
  read: (argv: readonly string[]) => UseReading;
  /** Each runs one program at a time. */
  tracers: readonly Tracer[];
  /** How many uses to run at most. */
  runs: number;
  /** How many random scripts to run, of each command that takes one. */
  scripts?: number;
  seed: number;
  progress?: (done: number) => void;
}

/** Run uses that rows call harmless, and compare what programs do with what the rows say. */
export async function fuzzRows({rows, read, tracers, runs, scripts = 0, seed, progress}: RowFuzz): Promise<RowOutcome> {
  const random = randomFrom(seed);
  const named = namedRows(rows);
  const all = named.flatMap(row => usesOf(row, random)).filter(({argv}) => read(argv).allowed);
  const uses = [...shuffled(all, random).slice(0, runs), ...harmlessScripts(named, read, scripts, random)];
  const baselines = new Map<NamedRow, Promise<readonly TraceEvent[] | undefined> | undefined>();
  const violations = new Map<string, RowViolation>();
  const missing = new Set<string>();
  let ran = 0;
  /** What the command does without options, if the policy allows that. */
  const usualEvents = (row: NamedRow, tracer: Tracer): Promise<readonly TraceEvent[] | undefined> | undefined => {
    const plain = argvOf(row, []);
    const usual = baselines.get(row) ?? (read(plain).allowed ? tracer.run(plain) : undefined);
    baselines.set(row, usual);
    return usual;
  };
  const work = async (tracer: Tracer): Promise<void> => {
    for (let use = uses.pop(); use !== undefined; use = uses.pop()) {
      const {row, argv} = use;
      const before = use.plain ? [] : await usualEvents(row, tracer);
      const events = await tracer.run(argv);
      if (events === undefined) missing.add(row.path[0] ?? '');
      else ran++;
      progress?.(ran);
      const found = complaints(row, read(argv), events ?? [], before ?? []);
      if (found.length === 0) continue;
      // What an earlier use left behind may have misled this one: a violation counts if it is seen twice.
      tracer.renew();
      const again = complaints(row, read(argv), (await tracer.run(argv)) ?? [], before ?? []).map(firstWord);
      for (const why of found.filter(text => again.includes(firstWord(text)))) {
        // Once for each row and kind of event: names of options and temporary files vary.
        const key = `${row.path.join(' ')} ${firstWord(why)} ${argv.includes(why.split(' ')[1] ?? '')}`;
        const known = violations.get(key);
        if (!known || known.argv.length > argv.length) violations.set(key, {argv, why});
      }
    }
  };
  await Promise.all(tracers.map(work));
  return {ran, missing: [...missing].sort(), violations: [...violations.values()]};
}

interface Use {
  row: NamedRow;
  argv: readonly string[];
  /** Without options: nothing that it does is known from another use. */
  plain?: true;
}

function usesOf(row: NamedRow, random: Random): Use[] {
  const single = everySpelling(row.row);
  const together = Array.from({length: Math.ceil(single.length / 10)}, () => randomSpelling(row.row, random));
  const odd = [...lettersWithoutDash(row.row), ...harmfulBehindDashes(row.row)].map(words => [...row.path, ...words]);
  const withOptions = [
    ...[...single, ...together].flatMap(options => placements(row, options)),
    ...gluedLetters(row.row).map(options => argvOf(row, options)),
    ...odd,
  ].map((argv): Use => ({row, argv}));
  return [{row, argv: argvOf(row, []), plain: true}, ...withOptions];
}

/** Random scripts that the rows call harmless: a small part of all that are made. */
function harmlessScripts(named: readonly NamedRow[], read: RowFuzz['read'], count: number, random: Random): Use[] {
  return named.flatMap(row => {
    const made = randomScripts(row.name, 50 * count, random).map((script): Use => {
      return {row, argv: [...row.path, script, 'b'], plain: true};
    });
    return made.filter(({argv}) => read(argv).allowed).slice(0, count);
  });
}

/** Options before the operands, and behind them, where some programs read no options any more. */
function placements(row: NamedRow, options: Spelling): string[][] {
  const usual = argvOf(row, []);
  return [argvOf(row, options), [...usual, ...options]];
}

const policies = new Map<string, Policy>();

/** How the table of the policy reads a use, with a rule that allows any use of the command. */
export function readByTable(argv: readonly string[]): UseReading {
  const [command = ''] = argv;
  const policy = policies.get(command) ?? parseAllowlist(`version: 1\ncommands: {allow: ["${command} *"]}`).policy;
  policies.set(command, policy);
  const use = knownUse(argv);
  return {
    allowed: judge(argv.map(quoted).join(' '), policy).verdict === 'allow',
    files: use?.walks ? undefined : use?.files.map(({path}) => path.replace(/^\.\//, '')),
  };
}

function quoted(word: string): string {
  return /^[\w./:=,%+-]+$/.test(word) ? word : `'${word}'`;
}

function complaints(
  row: NamedRow,
  {files}: UseReading,
  events: readonly TraceEvent[],
  usual: readonly TraceEvent[],
): string[] {
  const found: string[] = [];
  const known = new Set(usual.map(({kind, what}) => `${kind} ${what}`));
  for (const event of events)
    if (!known.has(`${event.kind} ${event.what}`) && !isExpected(row, event)) found.push(`${event.kind} ${event.what}`);
  // Git reads files through its index.
  if (files === undefined || row.name.startsWith('git ')) return found;
  const opened = new Set(events.filter(({kind}) => kind === 'reads').map(({what}) => what));
  for (const file of opened)
    if (isInput(file) && !files.includes(file) && !known.has(`reads ${file}`))
      found.push(`reads ${file}, not known as a file`);
  // The program took the first file for the value of an option, and the row did not.
  const [first, second] = files.filter(isSample);
  if (second !== undefined && !opened.has(first ?? '') && opened.has(second))
    found.push(`skips ${first}, but reads ${second}`);
  return found;
}

function firstWord(text: string): string {
  return text.split(' ', 1)[0] ?? '';
}

/** Files that the workspace has. */
function isSample(path: string): boolean {
  return /^(?:a|b|p|one|empty|[xy]\.\w+)$/.test(path);
}

/** Files of the workspace, not those of the system. */
function isInput(path: string): boolean {
  return !path.startsWith('/') && !path.startsWith('.git') && path !== '.' && path !== '';
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const copy = [...items];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = random.int(i + 1);
    [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
  }
  return copy;
}
