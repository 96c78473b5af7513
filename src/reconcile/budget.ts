import {type ApprovalItem, newApprovalItem} from '../files/approval-item.ts';
import {type BudgetState, isBudget} from '../files/budget-item.ts';
import type {Session} from '../files/session.ts';
import type {SessionHeader} from '../files/session-schema.ts';
import type {Task, TaskFile} from '../files/task.ts';
import {addTasks, type TaskChange, updateTasks} from '../files/task-edit.ts';
import {parseTasks} from '../files/task-parse.ts';
import {afterWait} from './after-wait.ts';
import type {Completed} from './complete.ts';
import {budgetItem} from './limit-words.ts';
import type {Reached} from './limits.ts';
import {withHeader} from './turn.ts';

/** A session as it is to be written, and why. */
export interface ChangedSession {
  session: Session;
  words: string;
}

/** The session as it waits for a person to grant more. */
export function waitForMore(session: Session, reached: Reached, now: string): ChangedSession {
  return changed(session, {status: 'waiting', waiting_for: reached.id}, now, `waits for ${reached.id}`);
}

/** What a session does when its wait is over. Undefined: it goes on waiting, or does not wait. */
export function endWait(
  session: Session,
  {state, reached, now}: {state: (id: string) => BudgetState | undefined; reached: Iterable<Reached>; now: string},
): ChangedSession | undefined {
  const {status, waiting_for: id} = session.header ?? {};
  if (id === undefined) return undefined;
  // A person has set another status; the engine looks at the limits again when it has something to do.
  if (status !== 'waiting') return changed(session, {waiting_for: undefined}, now, `no longer waits for ${id}`);
  const became = state(id);
  const next = afterWait(id, became, reached);
  if (next === 'wait') return undefined;
  if (next === 'pause')
    return changed(session, {status: 'paused', waiting_for: undefined}, now, `paused, since ${id} was rejected`);
  const why = became === 'approved' ? 'was approved' : 'is not needed any more';
  return changed(session, {status: 'active', waiting_for: undefined}, now, `goes on, since ${id} ${why}`);
}

function changed(session: Session, keys: Partial<SessionHeader>, now: string, words: string): ChangedSession {
  return {session: withHeader(session, keys, now), words};
}

export interface QueueContext {
  now: string;
  /** Whose decision it is if the item does not say: `Ada <ada@example.org>`. */
  by: string;
  /** What sessions wait for, by id: limits that are still reached. */
  asked: ReadonlyMap<string, Reached>;
  /** How many sessions wait for it. */
  waiting: (id: string) => number;
}

/**
 * The approval queue with the requests that sessions wait for, what was decided about others recorded, and those
 * withdrawn that nobody waits for. Undefined if all that is there. Items of other types are not touched.
 */
export function completeQueue(
  file: TaskFile & {items: readonly ApprovalItem[]},
  context: QueueContext,
): Completed | undefined {
  const changes: [Task, TaskChange][] = [];
  const words: string[] = [];
  const there = new Set<string>();
  for (const item of file.items) {
    if (!isBudget(item) || item.id === undefined) continue;
    there.add(item.id);
    const change = recorded(item, item.id, context);
    if (!change) continue;
    changes.push([item.task, change]);
    words.push(`${item.id} ${change.fields?.status}`);
  }
  let text = changes.length > 0 ? updateTasks(file, changes) : file.text;
  const missing = [...context.asked.values()].filter(({id}) => !there.has(id));
  if (missing.length > 0)
    text = addTasks(
      changes.length > 0 ? parseTasks(text) : file,
      missing.map(reached => newApprovalItem(budgetItem(reached, context.now))),
    );
  for (const {id} of missing) words.push(`${id} asked`);
  if (words.length === 0) return undefined;
  const rest = words.length > 2 ? ` and ${words.length - 2} more` : '';
  return {text, words: words.slice(0, 2).join(', ') + rest, tasks: []};
}

/** What is to be written into an item that is as its person left it. */
function recorded(item: ApprovalItem, id: string, {now, by, asked, waiting}: QueueContext): TaskChange | undefined {
  const {decision, status = 'pending', by: said, at} = item;
  const sessions = waiting(id) === 1 ? '1 session' : `${waiting(id)} sessions`;
  const decided = (verb: 'approved' | 'rejected', outcome: string): TaskChange => ({
    fields: {status: verb, [`${verb}_by`]: said ?? by, [`${verb}_at`]: at ?? now, outcome},
  });
  switch (decision) {
    case 'approved':
      return status === 'approved' ? undefined : decided('approved', `granted; ${sessions} may go on`);
    case 'rejected':
      if (status === 'rejected' || status === 'withdrawn') return undefined;
      return decided('rejected', `${sessions} paused`);
    default:
      if (asked.has(id)) return status === 'pending' ? undefined : {fields: {status: 'pending'}};
      return {box: '-', fields: {status: 'withdrawn', outcome: `no session needs it any more (${now})`}};
  }
}
