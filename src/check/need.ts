/** Something in a file that waits for a person. */
export interface Need {
  what: 'task' | 'stalled' | 'approval' | 'session';
  id: string | null;
  /** As an agent may have written it: make it visible before showing it. */
  title: string;
  line: number;
  /** A time, as far as the file says; whatever stands there. */
  since: string | null;
  /** Ids of tasks that are to be completed before a person can do it. */
  after?: readonly string[];
  /** The session that an agent is at it in: as long as that is there, it does not wait for a person. */
  left?: string;
  /** Of the task; `pending` of an approval, `error` of a session. What is pending keeps `start --once` from exiting 0. */
  state: 'pending' | 'in_progress' | 'blocked' | 'error';
}

const MAX_NEED_TITLE = 160;

/** Enough of a title to know what it is about, on one line. */
export function shortTitle(title: string): string {
  const line = title
    .slice(0, 4 * MAX_NEED_TITLE)
    .replace(/\s+/g, ' ')
    .trim();
  // Not in the middle of a character.
  return line.length <= MAX_NEED_TITLE ? line : `${line.slice(0, MAX_NEED_TITLE - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
