import {AGAIN} from '../formats/approval/approval-again.ts';
import {type Grants, grantFields} from '../formats/approval/approval-grants.ts';
import {type ApprovalItem, newApprovalItem} from '../formats/approval/approval-item.ts';
import {isBudget, isRecorded, takenMark} from '../formats/approval/approval-state.ts';
import {fieldOf, type Task, type TaskFile} from '../formats/task/task.ts';
import {addTasks, type TaskChange, updateTasks} from '../formats/task/task-edit.ts';
import {parseTasks} from '../formats/task/task-parse.ts';
import type {NewTask} from '../formats/task/task-text.ts';
import {type CallRequest, requestItem} from './call-request.ts';
import type {CompletedFile} from './complete.ts';
import {budgetItem} from './limit-words.ts';
import type {ReachedLimit} from './limits.ts';

/** A valid decision to record. */
export type CountedDecision =
  | {decision: 'rejected'; by: string; at: string; reason: string | undefined}
  | {
      decision: 'approved';
      by: string;
      at: string;
      /** The person's edit; `original` only where the item shows it. */
      edited: {digest: string; grants: Grants; original?: string | undefined; command?: string | undefined} | undefined;
      answer: string | undefined;
      /** The result of `always: true`. */
      rule: string | undefined;
    };

/** The outcome of an approved call. */
export interface CallOutcome {
  status?: 'superseded';
  executed_at?: string | undefined;
  outcome: string;
}

export interface QueueContext {
  now: string;
  /** Default author of decisions: `Ada <ada@example.org>`. */
  by: string;
  /** Reached limits that sessions wait for, by request id. */
  asked: ReadonlyMap<string, ReachedLimit>;
  /** How many sessions wait for a request. */
  waiting: (id: string) => number;
  /** Requests of calls that are not in the queue yet. */
  requests: Iterable<CallRequest>;
  /** Valid decisions, by id. */
  taken: ReadonlyMap<string, CountedDecision>;
  outcomeOf: (id: string) => CallOutcome | undefined;
  /** Whether the session is gone or no longer knows the request. */
  isGone: (id: string) => boolean;
  /** When a request was approved, if the item does not say. */
  saidAt: (id: string) => string | undefined;
  /** Why a decision on the page of a request did not count. */
  againOf: (id: string) => string | undefined;
}

/**
 * Update the approval queue: add new requests, record decisions and outcomes, and withdraw requests that no session
 * waits for. Undefined if nothing changes.
 */
export function completeQueue(
  file: TaskFile & {items: readonly ApprovalItem[]},
  context: QueueContext,
): CompletedFile | undefined {
  const changes: [Task, TaskChange][] = [];
  const words: string[] = [];
  const approvals: string[] = [];
  const decided: NonNullable<CompletedFile['decided']>[number][] = [];
  const ids = new Set<string>();
  for (const item of file.items) {
    if (item.id === undefined) continue;
    ids.add(item.id);
    const change = isBudget(item) ? budgetChange(item, item.id, context) : callChange(item, item.id, context);
    if (!change) continue;
    // Once a decision counts, the note that an earlier one did not has done its work.
    const counts = change.fields?.status !== undefined && change.fields.status !== 'pending';
    const notedAgain = counts && fieldOf(item.task, AGAIN) !== undefined;
    changes.push([item.task, notedAgain ? {...change, fields: {...change.fields, [AGAIN]: undefined}} : change]);
    words.push(`${item.id} ${change.fields?.status ?? change.fields?.outcome ?? 'noted'}`);
    approvals.push(item.id);
    const {status, approved_by, rejected_by} = change.fields ?? {};
    if (status !== undefined && status !== 'pending')
      decided.push({id: item.id, state: status, by: approved_by ?? rejected_by, what: item.task.title});
  }
  const missing: [id: string, item: NewTask][] = [];
  for (const reached of context.asked.values())
    if (!ids.has(reached.id)) missing.push([reached.id, newApprovalItem(budgetItem(reached, context.now))]);
  for (const request of context.requests) if (!ids.has(request.id)) missing.push([request.id, requestItem(request)]);
  let text = changes.length > 0 ? updateTasks(file, changes) : file.text;
  if (missing.length > 0)
    text = addTasks(
      changes.length > 0 ? parseTasks(text) : file,
      missing.map(([, item]) => item),
    );
  for (const [id] of missing) {
    words.push(`${id} asked`);
    approvals.push(id);
  }
  if (words.length === 0) return undefined;
  const rest = words.length > 2 ? ` and ${words.length - 2} more` : '';
  return {text, words: words.slice(0, 2).join(', ') + rest, tasks: [], approvals, decided};
}

/** The change to write into a request to raise a limit. */
function budgetChange(item: ApprovalItem, id: string, {now, by, asked, waiting}: QueueContext): TaskChange | undefined {
  const {decision, status = 'pending', by: decidedBy, at} = item;
  const sessions = waiting(id) === 1 ? '1 session' : `${waiting(id)} sessions`;
  const decided = (verb: 'approved' | 'rejected', outcome: string): TaskChange => ({
    fields: {status: verb, [`${verb}_by`]: decidedBy ?? by, [`${verb}_at`]: at ?? now, outcome},
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

/** The change to write into a call's request. A recorded decision stays, except an approval that is withdrawn in time. */
function callChange(item: ApprovalItem, id: string, context: QueueContext): TaskChange | undefined {
  const {now, waiting, taken, outcomeOf, isGone} = context;
  const {decision} = item;
  const status = isRecorded(item) ? (item.status ?? 'pending') : 'pending';
  const waits = waiting(id) > 0;
  const outcome = item.outcome === undefined ? outcomeOf(id) : undefined;
  const decided = taken.get(id);
  switch (status) {
    case 'approved':
      if (outcome) return {fields: {...outcome}};
      if (waits && decided?.decision === 'rejected') return decidedChange(item, decided);
      if (!waits || decision === 'approved') return undefined;
      if (decision === undefined) return {fields: {status: 'pending', approved_by: undefined, approved_at: undefined}};
      return {fields: {status: 'rejected', rejected_by: item.by ?? context.by, rejected_at: item.at ?? now}};
    case 'withdrawn':
    case 'superseded':
      return status === 'withdrawn' && waits ? {box: '_', fields: {status: 'pending', outcome: undefined}} : undefined;
    case 'rejected':
    case 'expired':
      return undefined;
  }
  if (decided) return decidedChange(item, decided);
  if (decision === undefined && outcome) return {box: '-', fields: {status: 'withdrawn', ...outcome}};
  // An older version of the item was restored, perhaps by git: the session knows the outcome.
  const knownOutcome = outcome ?? (item.outcome === undefined ? undefined : recordedOutcome(item, item.outcome));
  if (!waits && knownOutcome) return restoredChange(item, knownOutcome);
  if (!waits && !isGone(id)) return undefined;
  if (!waits) return {box: '-', fields: {status: 'withdrawn', outcome: `no call is waiting for it (${now})`}};
  const again = decision === undefined ? context.againOf(id) : undefined;
  if (again !== undefined && fieldOf(item.task, AGAIN) !== again) return {fields: {[AGAIN]: again}};
  const saidAt = item.at ?? context.saidAt(id);
  if (hasExpired({...item, at: saidAt}, now)) {
    const isLateApproval = decision === 'approved' || saidAt !== undefined;
    const why = isLateApproval ? `it was approved too late, after ${item.expires}` : 'nobody decided in time';
    return {box: '-', fields: {status: 'expired', rejected_at: now, outcome: `${why}; nothing was run`}};
  }
  return undefined;
}

/** The outcome in the item itself, whose status was reset. */
function recordedOutcome({task}: ApprovalItem, outcome: string): CallOutcome {
  return {executed_at: fieldOf(task, 'executed_at'), outcome};
}

/** Record the outcome of a restored item. The approval of a superseded request stays visible. */
function restoredChange({decision}: ApprovalItem, outcome: CallOutcome): TaskChange {
  const ending = /^(REJECTED|EXPIRED):/.exec(outcome.outcome)?.[1]?.toLowerCase();
  const status = outcome.status ?? ending ?? (outcome.executed_at === undefined ? 'withdrawn' : 'approved');
  const wasApproved = status === 'approved' || (status === 'superseded' && decision === 'approved');
  return {box: wasApproved ? 'x' : '-', fields: {...outcome, status}};
}

function decidedChange(item: ApprovalItem, decided: CountedDecision): TaskChange {
  const {by, at} = decided;
  if (decided.decision === 'rejected') {
    const reason = item.reason === undefined ? decided.reason : undefined;
    return {
      box: '-',
      fields: {
        status: 'rejected',
        rejected_by: by,
        rejected_at: at,
        ...(reason !== undefined && {rejection_reason: reason}),
      },
    };
  }
  const {edited, answer, rule} = decided;
  const taken = takenMark({
    ...item,
    command: edited?.command ?? item.command,
    answer: item.answer ?? answer,
    edited: edited?.digest,
  });
  return {
    box: 'x',
    fields: {
      status: 'approved',
      taken,
      approved_by: by,
      approved_at: at,
      ...(edited && {
        ...(edited.command !== undefined && {command: edited.command}),
        edited: 'true',
        ...grantFields(edited.grants),
        edited_digest: edited.digest,
        ...(edited.original !== undefined && {original: edited.original}),
      }),
      ...(answer !== undefined && item.answer === undefined && {answer}),
      ...(rule !== undefined && {rule}),
    },
  };
}

/**
 * Whether a decision came too late. A decision without a valid time (missing, before the request, or in the future) is
 * judged by the current time.
 */
export function hasExpired({expires, at, task}: ApprovalItem, now: string): boolean {
  const end = expires === undefined ? Number.NaN : Date.parse(expires);
  const made = at === undefined ? Number.NaN : Date.parse(at);
  const asked = Date.parse(fieldOf(task, 'created') ?? '');
  const present = Date.parse(now);
  return (Number.isNaN(made) || made < asked || made > present ? present : made) > end;
}
