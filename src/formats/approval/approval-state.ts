import {createHash} from 'node:crypto';
import {fieldOf} from '../task/task.ts';
import type {ApprovalItem} from './approval-item.ts';

/**
 * What became of a request. `pending`: the daemon has taken no decision yet, whatever the box says. `withdrawn`: nobody
 * waits for it any more. `superseded`: what it was about has changed, so it was asked anew.
 */
export type ApprovalState = 'pending' | 'approved' | 'rejected' | 'expired' | 'withdrawn' | 'superseded';

/** A request to go on beyond a limit. Its box alone decides, at once. */
export function isBudget({type, id}: ApprovalItem): boolean {
  return type === 'budget' && id !== undefined;
}

/** Of a call: what the daemon has recorded, as long as the box agrees. A person may take an approval back. */
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

/**
 * Not, if somebody wrote `status: approved` by hand, or changed what was approved after the daemon had taken it: then it
 * is looked at anew, in both places.
 */
export function isRecorded(item: ApprovalItem): boolean {
  const {status, decision, outcome, task} = item;
  if (status !== 'approved' || decision !== 'approved' || outcome !== undefined) return true;
  return fieldOf(task, 'taken') === takenMark({...item, edited: fieldOf(task, 'edited_digest')});
}

/** What the daemon writes beside a decision that it has taken: over all that it counts for. */
export function takenMark(
  of: Pick<ApprovalItem, 'id' | 'digest' | 'command' | 'answer' | 'signature'> & {edited: string | undefined},
): string {
  const {id, digest, command, answer, signature, edited} = of;
  const text = JSON.stringify([id, digest, command, answer, signature, edited].map(value => value ?? null));
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** Of an id that is there twice: no wins over yes, and what is open over what is decided. */
export function worseState(a: ApprovalState, b: ApprovalState): ApprovalState {
  const order = ['rejected', 'expired', 'pending', 'superseded', 'withdrawn', 'approved'] as const;
  return order.indexOf(a) <= order.indexOf(b) ? a : b;
}
