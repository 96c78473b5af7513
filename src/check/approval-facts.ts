import type {ApprovalFile} from '../formats/approval/approval.ts';
import {AGAIN} from '../formats/approval/approval-again.ts';
import {APPROVALS_FILE, type ApprovalItem} from '../formats/approval/approval-item.ts';
import type {Decision} from '../formats/approval/approval-review.ts';
import {type ApprovalState, approvalState, isBudget, worseState} from '../formats/approval/approval-state.ts';
import {hasErrors, type Place, type Problem} from '../formats/common/diagnostic.ts';
import {stemOf} from '../formats/common/key.ts';
import {isTime} from '../formats/common/values.ts';
import {fieldOf} from '../formats/task/task.ts';
import {type Need, shortTitle} from './need.ts';

/** A queue item without a recorded decision, or without an id. */
export interface ItemFact extends Place {
  id: string | null;
  decision: Decision | null;
  agent: string | null;
  session: string | null;
}

/** A page in approvals/pending. */
export interface PageFact {
  /** Null: the title has no id. */
  id: string | null;
  decision: Decision | null;
  /** The id in the title differs from the file name. */
  misnamed: boolean;
}

/** A name that the approval queue defines while it has no errors. */
export const SOUND_QUEUE = 'queue/sound';

/** Facts of the approval queue. An item without an id is a problem, not a need. The archive has neither. */
export function itemFacts(
  path: string,
  {items, problems}: {items: readonly ApprovalItem[]; problems: readonly Problem[]},
): {defines?: string[]; items?: ItemFact[]; needs?: Need[]} {
  if (path !== APPROVALS_FILE) return {};
  const undecided = items.filter(item => item.id !== undefined && !item.decision && isPending(item));
  return {
    ...(!hasErrors(problems) && {defines: [SOUND_QUEUE]}),
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
      ...(fieldOf(task, AGAIN) !== undefined && {again: fieldOf(task, AGAIN) ?? ''}),
      state: 'pending',
    })),
  };
}

/** States of all requests, and when the first open one expires. The daemon withdraws requests that no session needs. */
export function stateFacts(items: readonly ApprovalItem[]): {
  approvals?: Record<string, ApprovalState>;
  expires?: string;
} {
  let expires: string | undefined;
  let first = Number.POSITIVE_INFINITY;
  const approvals: Record<string, ApprovalState> = {};
  for (const item of items) {
    if (item.id === undefined) continue;
    const state = approvalState(item);
    const before = Object.hasOwn(approvals, item.id) ? approvals[item.id] : undefined;
    approvals[item.id] = before === undefined ? state : worseState(before, state);
    const ends = state === 'pending' ? fieldOf(item.task, 'expires') : undefined;
    const time = ends !== undefined && isTime(ends) ? Date.parse(ends) : Number.NaN;
    if (!(time < first)) continue;
    first = time;
    expires = ends;
  }
  return {...(Object.keys(approvals).length > 0 && {approvals}), ...(expires !== undefined && {expires})};
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
