import {isUtf8} from 'node:buffer';
import {visibleLine} from '../../../formats/common/visible.ts';
import {laterVersions, withObjects} from '../../../home/one-change.ts';

/** A later change that overlaps. */
export interface Overlap {
  path: string;
  /** Line in the current file. */
  line: number;
  /** Undefined if it is not committed yet. */
  commit: string | undefined;
  author: string | undefined;
  subject: string | undefined;
  why: string;
}

/** A file after the change, and now. */
interface Texts {
  path: string;
  after: string;
  now: string;
}

/** Limit for checking changes one by one. */
const MAX_LATER_VERSIONS = 500;

/** The first later change that conflicts with the undo, according to `inTheWay`. */
export async function overlapOf(
  home: string,
  commit: string,
  {path, after, now}: Texts,
  inTheWay: (text: string | undefined) => string | undefined,
): Promise<Overlap> {
  const later = (await laterVersions(home, commit, path)).slice(0, MAX_LATER_VERSIONS);
  return withObjects(home, async read => {
    let last = after;
    for (const version of later) {
      const bytes = version.blob === undefined ? undefined : await read(version.blob);
      const text = bytes && isUtf8(bytes) ? bytes.toString() : '';
      const why = inTheWay(bytes && text);
      if (why !== undefined) return {...version, path, line: lineIn(now, last, text), why};
      last = text;
    }
    const own = {commit: undefined, author: undefined, subject: undefined};
    return {...own, path, line: lineIn(now, last, now), why: inTheWay(now) ?? 'it was changed since'};
  });
}

/** The line of `now` that has the first line in which `text` differs from `last`. */
function lineIn(now: string, last: string, text: string): number {
  const [old, own, lines] = [last, text, now].map(each => each.split('\n')) as [string[], string[], string[]];
  let at = 0;
  while (at < own.length && own[at] === old[at]) at++;
  // Blank lines are not distinctive.
  const line = own[at] ?? '';
  if (lines[at] === line || line.trim() === '') return Math.min(at + 1, lines.length);
  const found = lines.indexOf(line);
  return (found === -1 ? Math.min(at, lines.length - 1) : found) + 1;
}

export function overlapWords({path, line, commit, author, subject, why}: Overlap): string {
  const by = commit === undefined ? 'not in the journal yet' : `${commit.slice(0, 7)} ${subject} (${author})`;
  return visibleLine(`${path}:${line}: ${why}: ${by}`);
}
