import type {ApprovalItem} from './approval-item.ts';

/** What became of a request for more; `withdrawn`: nobody waits for it any more. */
export type BudgetState = 'pending' | 'approved' | 'rejected' | 'withdrawn';

/** A request to go on beyond a limit. Its box alone decides. */
export function isBudget({type, id}: ApprovalItem): boolean {
  return type === 'budget' && id !== undefined;
}

/** The box, but for what the daemon itself rejected. */
export function budgetState({decision, status}: ApprovalItem): BudgetState {
  return decision === 'rejected' && status === 'withdrawn' ? 'withdrawn' : (decision ?? 'pending');
}
