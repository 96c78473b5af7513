import {createHash} from 'node:crypto';
import {fieldOf} from '../task/task.ts';
import type {ApprovalItem} from './approval-item.ts';

/**
 * State of a request. `pending`: the daemon has accepted no decision yet, whatever the box says. `withdrawn`: nobody
 * waits for it any more. `superseded`: what it was about changed, so a new request was made.
 */
export type ApprovalState = 'pending' | 'approved' | 'rejected' | 'expired' | 'withdrawn' | 'superseded';

/** A request to exceed a limit. Its box alone decides, at once. */
export function isBudget({type, id}: ApprovalItem): boolean {
  return type === 'budget' && id !== undefined;
}

/** Whether an id is that of a request to exceed a limit. The daemon numbers the requests for one limit. */
export function isBudgetId(id: string): boolean {
  return /^budget-.+-\d+$/.test(id);
}

/** The state recorded by the daemon, as long as the box agrees. A person may take an approval back. */
export function approvalState(item: ApprovalItem): ApprovalState {
  const {decision, status} = item;
  if (isBudget(item)) return decision === 'rejected' && status === 'withdrawn' ? 'withdrawn' : (decision ?? 'pending');
  switch (status) {
    case 'approved':
      return isRecorded(item) ? (decision ?? 'pending') : 'pending';
    case 'rejected':
    case 'expired':
    case 'withdrawn':
    case 'superseded':
      return status;
    default:
      return 'pending';
  }
}

/** False if `status: approved` was written by hand, or what was approved changed later: then it is judged again. */
export function isRecorded(item: ApprovalItem): boolean {
  const {status, decision, outcome, task} = item;
  if (status !== 'approved' || decision !== 'approved' || outcome !== undefined) return true;
  return fieldOf(task, 'taken') === takenMark({...item, edited: fieldOf(task, 'edited_digest')});
}

/** Hash that the daemon writes beside an accepted decision, over everything that it covers. */
export function takenMark(
  of: Pick<ApprovalItem, 'id' | 'digest' | 'command' | 'answer' | 'signature'> & {edited: string | undefined},
): string {
  const {id, digest, command, answer, signature, edited} = of;
  const text = JSON.stringify([id, digest, command, answer, signature, edited].map(value => value ?? null));
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** State of a duplicate id: rejection wins over approval, and pending over decided. */
export function worseState(a: ApprovalState, b: ApprovalState): ApprovalState {
  const order = ['rejected', 'expired', 'pending', 'superseded', 'withdrawn', 'approved'] as const;
  return order.indexOf(a) <= order.indexOf(b) ? a : b;
}
