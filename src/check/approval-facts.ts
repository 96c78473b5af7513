import type {ApprovalFile} from '../files/approval.ts';
import {APPROVALS_FILE, type ApprovalItem} from '../files/approval-item.ts';
import type {Decision} from '../files/approval-review.ts';
import type {BudgetState} from '../files/budget-item.ts';
import {budgetState, isBudget} from '../files/budget-item.ts';
import type {Place} from '../files/diagnostic.ts';
import {stemOf} from '../files/key.ts';
import {fieldOf} from '../files/task.ts';
import {type Need, shortTitle} from './need.ts';

/** An item of the approval queue of which the daemon has recorded no decision, or that has no id. */
export interface ItemFact extends Place {
  id: string | null;
  decision: Decision | null;
  agent: string | null;
  session: string | null;
}

/** A page in approvals/pending. */
export interface PageFact {
  /** Null: its title has none. */
  id: string | null;
  decision: Decision | null;
  /** The title has another id than the file name. */
  misnamed: boolean;
}

/** An item without an id is a problem and nothing to decide: no call waits for it. Nor does one for what is in the archive. */
export function itemFacts(
  path: string,
  items: readonly ApprovalItem[],
): {defines: string[]; items?: ItemFact[]; needs?: Need[]} {
  const defines = [...new Set(items.flatMap(({id}) => (id === undefined ? [] : [`item/${id}`])))];
  if (path !== APPROVALS_FILE) return {defines};
  const undecided = items.filter(item => item.id !== undefined && !item.decision && isPending(item));
  return {
    defines,
    items: items
      .filter(item => item.id === undefined || (isPending(item) && !isBudget(item)))
      .map(item => ({
        line: item.task.line,
        column: item.task.column + 1,
        id: item.id ?? null,
        decision: item.decision ?? null,
        agent: item.agent ?? null,
        session: fieldOf(item.task, 'session') ?? null,
      })),
    needs: undecided.map(({id = null, task}) => ({
      what: 'approval',
      id,
      title: shortTitle(task.title),
      line: task.line,
      since: fieldOf(task, 'created') ?? null,
      state: 'pending',
    })),
  };
}

/** Who waits for these is the daemon's business: it withdraws what nobody waits for. Of a doubled id, reject wins. */
export function budgetFacts(items: readonly ApprovalItem[]): {budgets?: Record<string, BudgetState>} {
  const budgets: Record<string, BudgetState> = {};
  for (const item of items) {
    if (!isBudget(item) || item.id === undefined) continue;
    const before = Object.hasOwn(budgets, item.id) ? budgets[item.id] : undefined;
    budgets[item.id] = before === 'rejected' ? before : budgetState(item);
  }
  return Object.keys(budgets).length > 0 ? {budgets} : {};
}

function isPending({status = 'pending'}: ApprovalItem): boolean {
  return status === 'pending';
}

export function pageFacts(path: string, {id, review}: ApprovalFile): {defines?: string[]; page?: PageFact} {
  if (!path.startsWith('approvals/pending/')) return {};
  const stem = stemOf(path);
  const page = {id: id ?? null, decision: review?.decision ?? null, misnamed: id !== undefined && id !== stem};
  return {defines: [`page/${id ?? stem}`], page};
}
