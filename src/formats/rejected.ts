import {type Problem, problem} from './common/diagnostic.ts';

export interface Rejected {
  /** Id of the failed delivery. */
  id: string;
  /** Inbox file, such as inbox/slack.jsonl. */
  file: string;
  line: number;
  at: string;
  reason: string;
  /** An unknown agent: the line is delivered as soon as the agent exists. */
  to?: string;
  /** Content of the line, if it is text. */
  text?: string;
  base64?: string;
  /** Size of the line, if only its first bytes are kept. */
  bytes?: number;
}

export interface RejectedFile {
  text: string;
  entries: readonly (Rejected & {at_line: number})[];
  problems: Problem[];
}

const MOST_SHOWN = 1_000;
const HINT = 'fix the lines you need and append them to the inbox again; then delete them here, or delete this file';

/** Must not throw. Ignores lines that are no entries. Consecutive entries with the same reason give one problem. */
export function parseRejected(text: string): RejectedFile {
  const entries: (Rejected & {at_line: number})[] = [];
  let line = 0;
  for (const source of text.split('\n')) {
    line++;
    const entry = readEntry(source);
    if (entry) entries.push({...entry, at_line: line});
  }
  return {text, entries, problems: problemsOf(entries)};
}

function problemsOf(entries: RejectedFile['entries']): Problem[] {
  const runs: {first: RejectedFile['entries'][number]; last: Rejected; count: number}[] = [];
  for (const entry of entries) {
    if (entry.to !== undefined) continue;
    const run = runs.at(-1);
    if (run?.first.file === entry.file && run.first.reason === entry.reason) {
      run.last = entry;
      run.count++;
    } else runs.push({first: entry, last: entry, count: 1});
  }
  return runs.slice(0, MOST_SHOWN).map(({first: {at_line, line, file, reason}, last, count}) => {
    const which =
      count === 1 ? `line ${line} of ${file} is` : `${count} lines of ${file}, ${line} to ${last.line}, are`;
    return problem('BAD_LINE', {line: at_line, column: 1}, `${which} set aside: ${reason}`, HINT);
  });
}

function readEntry(source: string): Rejected | undefined {
  if (!source.startsWith('{')) return undefined;
  try {
    const {id, file, line, reason} = JSON.parse(source) as Partial<Rejected>;
    const whole = typeof id === 'string' && typeof file === 'string' && typeof line === 'number';
    return whole && typeof reason === 'string' ? (JSON.parse(source) as Rejected) : undefined;
  } catch {
    return undefined;
  }
}

export function rejectedLine(entry: Rejected): string {
  return `${JSON.stringify(entry)}\n`;
}

/** Remove the entries of these ids, which have been delivered. */
export function withoutEntries({text, entries}: RejectedFile, gone: ReadonlySet<string>): string {
  const lines = text.split('\n');
  const out = new Set(entries.filter(({id}) => gone.has(id)).map(({at_line}) => at_line));
  return lines.filter((_, i) => !out.has(i + 1)).join('\n');
}

export function stringifyRejected(file: RejectedFile): string {
  return file.text;
}
