import type {WaitingKind} from '../formats/waiting.ts';

/** Something in a file that waits for a person. */
export interface Need {
  what: Exclude<WaitingKind, 'error' | 'warning'>;
  id: string | null;
  /** May come from an agent: escape it before showing it. */
  title: string;
  line: number;
  /** The time in the file, unvalidated. */
  since: string | null;
  /** Ids of tasks that must be completed first. */
  after?: readonly string[];
  /** The session that works on the task: while it exists, the task does not wait for a person. */
  left?: string;
  /** An approval was decided when that did not count: why, and what to do. */
  again?: string;
  /** State of the task; `pending` for an approval, `error` for a session. `pending` keeps `start --once` from exiting 0. */
  /** The person whose task it is, if it is not yours: one listed under `people`. */
  who?: string;
  state: 'pending' | 'in_progress' | 'blocked' | 'error';
}

const MAX_NEED_TITLE = 160;

/** The title on one line, shortened. */
export function shortTitle(title: string): string {
  const line = title
    .slice(0, 4 * MAX_NEED_TITLE)
    .replace(/\s+/g, ' ')
    .trim();
  // Do not split a surrogate pair.
  return line.length <= MAX_NEED_TITLE ? line : `${line.slice(0, MAX_NEED_TITLE - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
