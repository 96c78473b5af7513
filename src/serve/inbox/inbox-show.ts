import {unreadFacts} from '../../check/facts.ts';
import {type Problem, problem} from '../../files/diagnostic.ts';
import type {Outcome} from '../../queue.ts';
import {DOUBTFUL_MS} from '../doubt.ts';
import type {Serving} from '../serving.ts';
import {reportProblems, setFacts} from '../state.ts';
import {inWords} from '../troubles.ts';
import type {Batch} from './inbox-batch.ts';
import type {Reading} from './inboxes.ts';

/** Tell why a line has to wait, or that none has. */
export function showBlocked(serving: Serving, reading: Reading, blocked: Batch['blocked']): void {
  const {path} = reading;
  const {agent, problem: wrong, line} = blocked ?? {};
  const waits = agent === undefined ? wrong?.message : `there is no agent "${agent}"`;
  if (waits === reading.waits) return;
  reading.waits = waits;
  const facts = unreadFacts(path, wrong ? [wrong] : []);
  const refers = agent === undefined ? [] : [{name: agent, line: line ?? 1, column: 1}];
  setFacts(serving, path, {...facts, ...(refers.length > 0 && {refers})});
  reportProblems(serving);
}

export function showUnreadable(serving: Serving, path: string, error: NodeJS.ErrnoException): Outcome {
  const message = `expected a readable file, found ${error.code ?? error.message}`;
  const hint = 'look at its owner and permissions: ls -l';
  const found: Problem = problem('UNREADABLE', {line: 1, column: 1}, message, hint, path);
  serving.inboxes.of(path).waits = inWords(path, error);
  setFacts(serving, path, unreadFacts(path, [found]));
  reportProblems(serving);
  return {after: 2 * DOUBTFUL_MS};
}
