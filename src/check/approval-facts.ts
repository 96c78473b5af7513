import type {ApprovalFile} from '../files/approval.ts';
import type {ApprovalItem} from '../files/approval-item.ts';
import type {Decision} from '../files/approval-review.ts';
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

export function itemFacts(items: readonly ApprovalItem[]): {defines: string[]; items: ItemFact[]; needs: Need[]} {
  const undecided = items.filter(item => !item.decision && isPending(item));
  return {
    defines: [...new Set(items.flatMap(({id}) => (id === undefined ? [] : [`item/${id}`])))],
    items: items
      .filter(item => item.id === undefined || isPending(item))
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

function isPending({status = 'pending'}: ApprovalItem): boolean {
  return status === 'pending';
}

export function pageFacts(path: string, {id, review}: ApprovalFile): {defines?: string[]; page?: PageFact} {
  if (!path.startsWith('approvals/pending/')) return {};
  const stem = stemOf(path);
  const page = {id: id ?? null, decision: review?.decision ?? null, misnamed: id !== undefined && id !== stem};
  return {defines: [`page/${id ?? stem}`], page};
}
