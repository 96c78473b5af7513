import {parseApproval} from '../approval/approval.ts';
import {APPROVALS_FILE, type ApprovalItem, readApprovalItems} from '../approval/approval-item.ts';
import {approvalState, isBudget, isRecorded} from '../approval/approval-state.ts';
import {hasErrors} from '../common/diagnostic.ts';
import {taskChanges} from '../merge/merge-task-changes.ts';
import {fieldOf, type Task} from '../task/task.ts';
import {type TaskChange, updateTasks} from '../task/task-edit.ts';
import {parseTasks} from '../task/task-parse.ts';

/** The queue without the decisions of a change, or why that is impossible. */
export type QueueUndo = {text: string; asked: readonly string[]} | {refused: string; hint?: string};

const OF_A_DECISION = [
  'approved_by',
  'approved_at',
  'rejected_by',
  'rejected_at',
  'rejection_reason',
  'always',
  'answer',
  'signature',
  'taken',
  'edited',
  'edited_digest',
  'original',
  'rule',
];

/** Ids of requests that a change of the queue decided. */
export function decidedBy(before: string | undefined, after: string): string[] {
  const was = itemsOf(before ?? '');
  return [...itemsOf(after)].flatMap(([id, {decision}]) =>
    decision !== undefined && was.get(id)?.decision !== decision ? [id] : [],
  );
}

/**
 * Reset decided requests to pending, for a new decision. `started`: since when the call of a request runs or ran, by
 * its session. Never creates an approval.
 */
export function withoutDecisions(
  now: string,
  ids: readonly string[],
  command: (id: string) => string | undefined,
  started: (item: ApprovalItem) => string | undefined,
): QueueUndo {
  const file = parseTasks(now);
  if (hasErrors(file.problems)) return {refused: `${APPROVALS_FILE} has errors`, hint: 'agentdir check'};
  const items = itemsOf(now);
  const changes: [Task, TaskChange][] = [];
  const asked: string[] = [];
  for (const id of ids) {
    const item = items.get(id);
    if (!item) return {refused: `${id} is no longer in ${APPROVALS_FILE}: it is over`, hint: `agentdir show ${id}`};
    const why = whyOver(item, started(item));
    if (why !== undefined) return {refused: `${id} ${why}`};
    if (item.decision === undefined) continue;
    const there = OF_A_DECISION.filter(key => fieldOf(item.task, key) !== undefined);
    const fields: Record<string, string | undefined> = Object.fromEntries(there.map(key => [key, undefined]));
    if (fieldOf(item.task, 'status') !== undefined) fields.status = 'pending';
    if (isBudget(item) && item.outcome !== undefined) fields.outcome = undefined;
    // Its page shows the original request, and an approval must run what is shown.
    const asWas = command(id) ?? fieldOf(item.task, 'original');
    if (asWas !== undefined && asWas !== item.command) fields.command = asWas;
    changes.push([item.task, {box: '_', fields}]);
    asked.push(id);
  }
  return {text: changes.length === 0 ? now : updateTasks(file, changes), asked};
}

function whyOver(item: ApprovalItem, started: string | undefined): string | undefined {
  if (isBudget(item)) return undefined;
  const {outcome, status, task} = item;
  const ran = started ?? fieldOf(task, 'executed_at');
  if (ran !== undefined)
    return `was approved and has run (${ran}${outcome === undefined ? '' : `: ${outcome}`}): a decision cannot be undone after that`;
  if (outcome !== undefined) return `is over: ${outcome}`;
  if (status !== undefined && status !== 'pending' && status !== 'approved')
    return `is ${status}, and its agent was told so: to have it asked again, tell the agent (agentdir send)`;
  return undefined;
}

/** A request that `text` approves, or no longer rejects, unlike `now`: only a fresh decision may do that. */
export function decidesIn(now: string, text: string): {id: string; as: 'approved' | 'open'} | undefined {
  const is = itemsOf(now);
  for (const [id, item] of itemsOf(text)) {
    const was = is.get(id);
    if (item.decision === 'approved' && was?.decision !== 'approved') return {id, as: 'approved'};
    if (was && approvalState(was) === 'rejected' && approvalState(item) !== 'rejected') return {id, as: 'open'};
    if (was && item.decision === 'approved' && !isRecorded(item) && isRecorded(was)) return {id, as: 'approved'};
  }
  return undefined;
}

/** Whether a page newly approves. */
export function approvesOnPage(now: string | undefined, text: string): boolean {
  const says = (page: string) => parseApproval(page).review?.decision;
  return says(text) === 'approved' && (now === undefined || says(now) !== 'approved');
}

/** Describe a change of the queue by the daemon, and why it is not undone. */
export function queueWords(before: string | undefined, after: string): string | undefined {
  const was = itemsOf(before ?? '');
  const is = itemsOf(after);
  for (const [id, item] of is) {
    const old = was.get(id);
    if (!old) return `${id} was asked: the call waits, and would ask again. To answer it: agentdir reject ${id}`;
    const {fields} = taskChanges(old.task, item.task);
    if (fields.some(({key}) => key === 'outcome' || key === 'executed_at'))
      return `the outcome of ${id} is a record (${item.outcome ?? ''}), and stays`;
    if (fields.some(({key}) => key === 'status' || key === 'taken'))
      return `the daemon recorded the decision about ${id}: undo the decision itself, if it has not run yet`;
  }
  for (const id of was.keys()) if (!is.has(id)) return `${id} is over, and was only moved to the archive`;
  return undefined;
}

function itemsOf(text: string): Map<string, ApprovalItem> {
  const {items} = readApprovalItems(parseTasks(text));
  return new Map(items.flatMap(item => (item.id === undefined ? [] : [[item.id, item]])));
}
