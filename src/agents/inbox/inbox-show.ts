import {unreadFacts} from '../../check/facts.ts';
import {type Problem, problem} from '../../formats/common/diagnostic.ts';
import {reportProblems, setFacts} from '../../loop/accept-version.ts';
import {HALF_SAVED_MS} from '../../loop/half-saved.ts';
import type {LookOutcome} from '../../loop/queue.ts';
import {troubleText} from '../../loop/troubles.ts';
import type {InboxReading} from '../state/inboxes.ts';
import type {With} from '../state/parts.ts';
import type {InboxBatch} from './inbox-batch.ts';

/** Report why a line has to wait, or clear the report. */
export function showBlocked(
  daemon: With<'files' | 'reports'>,
  reading: InboxReading,
  blocked: InboxBatch['blocked'],
): void {
  const {path} = reading;
  const {agent, problem: wrong, line} = blocked ?? {};
  const waits = agent === undefined ? wrong?.message : `there is no agent "${agent}"`;
  if (waits === reading.waitsFor) return;
  reading.waitsFor = waits;
  const facts = unreadFacts(path, wrong ? [wrong] : []);
  const refers = agent === undefined ? [] : [{name: agent, line: line ?? 1, column: 1}];
  setFacts(daemon.files, path, {...facts, ...(refers.length > 0 && {refers})});
  reportProblems(daemon);
}

export function showUnreadable(
  daemon: With<'files' | 'reports' | 'inboxes'>,
  path: string,
  error: NodeJS.ErrnoException,
): LookOutcome {
  const message = `expected a readable file, found ${error.code ?? error.message}`;
  const hint = 'check its owner and permissions: ls -l';
  const found: Problem = problem('UNREADABLE', {line: 1, column: 1}, message, hint, path);
  daemon.inboxes.readingOf(path).waitsFor = troubleText(path, error);
  setFacts(daemon.files, path, unreadFacts(path, [found]));
  reportProblems(daemon);
  return {after: 2 * HALF_SAVED_MS};
}
