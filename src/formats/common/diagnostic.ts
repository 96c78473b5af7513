import {type Code, codes, exit, type Severity, UserError} from './errors.ts';

/** A problem at a place in a file. `line` and `column` count from 1, columns in UTF-16 units as in editors. */
export interface Problem {
  code: Code;
  severity: Severity;
  /** Path within the home; filled in by the caller. */
  file: string;
  line: number;
  column: number;
  /** What was expected and what was found. */
  message: string;
  hint: string;
  /** The problem concerns only the task in this line; the rest of the file may be used. */
  task?: number;
}

export interface Place {
  line: number;
  column: number;
}

export function problem(code: Code, place: Place, message: string, hint: string, file = ''): Problem {
  return {code, severity: codes[code], file, line: place.line, column: place.column, message, hint};
}

export function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some(p => p.severity === 'error');
}

/** Codes that concern a single request: only that request is skipped, not the whole file. */
const ofOneRequest: ReadonlySet<Code> = new Set<Code>(['UNCLEAR_DECISION', 'DECISIONS_DIFFER']);

/** Whether a file must not be used or edited. A problem of one task or request concerns that one only. */
export function blocks(problems: readonly Problem[]): boolean {
  return problems.some(isBlocking);
}

function isBlocking({severity, code, task}: Problem): boolean {
  return severity === 'error' && task === undefined && !ofOneRequest.has(code);
}

/** Lines of the tasks that have an error. */
export function wrongTasks(problems: readonly Problem[]): ReadonlySet<number> {
  return new Set(problems.flatMap(({severity, task}) => (severity === 'error' && task !== undefined ? [task] : [])));
}

/** The daemon cannot tell which task is meant, or what a field of it says: it does nothing at all for it. */
const unclear: ReadonlySet<Code> = new Set<Code>(['BAD_ID', 'DUPLICATE_ID', 'DUPLICATE_FIELD', 'BAD_BOX']);

/** Lines of the tasks that the daemon leaves alone, because their ids or fields are ambiguous. */
export function unclearTasks(problems: readonly Problem[]): ReadonlySet<number> {
  return wrongTasks(problems.filter(({code}) => unclear.has(code)));
}

/** Whether a text has an error that the text it was made from did not have. */
export function addsErrors(now: readonly Problem[], before: readonly Problem[]): boolean {
  const errors = (problems: readonly Problem[]) => problems.filter(({severity}) => severity === 'error').length;
  return blocks(now) || errors(now) > errors(before);
}

/** Throws if the file has errors; every edit calls this first. */
export function refuseErrors(problems: readonly Problem[]): void {
  const wrong = problems.find(isBlocking);
  if (wrong)
    throw new UserError(
      `a file with errors is not edited: ${wrong.message}`,
      exit.badFile,
      'fix it first: agentdir check',
    );
}

export function inFile(file: string, problems: readonly Problem[]): Problem[] {
  return problems.map(p => ({...p, file}));
}

/** Compiler order: by file, then by place. */
export function byPlace(a: Problem, b: Problem): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column || (a.code < b.code ? -1 : a.code > b.code ? 1 : 0);
}

/** The known word nearest to `word`, if near enough to be a typo. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = word.length > 4 ? 3 : 2;
  for (const candidate of known) {
    if (candidate === word) return undefined;
    const distance = editDistance(word, candidate, bestDistance);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}

/** Edit distance with transpositions, or `limit` if at least that. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit || a.length > 64) return limit;
  let before: number[] = [];
  let previous = Array.from({length: b.length + 1}, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      row.push(cost);
    }
    before = previous;
    previous = row;
  }
  return Math.min(previous[b.length] ?? limit, limit);
}
