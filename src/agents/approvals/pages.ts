import {requestPage} from '../../decide/call-request.ts';
import {parseApproval} from '../../formats/approval/approval.ts';
import {AGAIN} from '../../formats/approval/approval-again.ts';
import {setMeta, setReview} from '../../formats/approval/approval-edit.ts';
import {APPROVALS_FILE, type ApprovalItem} from '../../formats/approval/approval-item.ts';
import {approvedId, pendingId} from '../../formats/approval/approval-path.ts';
import type {Decision} from '../../formats/approval/approval-review.ts';
import type {ApprovalState} from '../../formats/approval/approval-state.ts';
import {UserError} from '../../formats/common/errors.ts';
import {kindOf} from '../../formats/common/key.ts';
import {fieldOf} from '../../formats/task/task.ts';
import {removeIfUnchanged} from '../../home/move.ts';
import {readHomeFile} from '../../home/read.ts';
import {acceptVersion, reportProblems, setFacts} from '../../loop/accept-version.ts';
import {type FileSnapshot, snapshotOfText} from '../../loop/file-snapshot.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {LookOutcome} from '../../loop/queue.ts';
import type {Reconciler} from '../../loop/reconciler.ts';
import {isIgnored, recordDaemonRemoval} from '../../loop/record.ts';
import {createText, moveText} from '../../loop/write.ts';
import {approvalStateOf} from '../sessions/budget.ts';
import type {With} from '../state/parts.ts';
import {queueItem} from './decisions.ts';
import {recordedPagePath} from './known-page.ts';

const WAIT_MS = 500;

/** approvals/pending, approved and rejected: one page per request. A look at a page also moves it between folders. */
export function approvalPageReconciler(daemon: With<'files' | 'reports' | 'approvals'>): Reconciler {
  return {
    kind: 'approval',
    settle: async file => (file.parsed?.kind === 'approval' ? {outcome: await settlePage(daemon, file)} : undefined),
    create: async path => ({outcome: await makePage(daemon, path)}),
  };
}

/** Create the page of a pending request. */
async function makePage(daemon: With<'files' | 'reports' | 'approvals'>, path: string): Promise<LookOutcome> {
  const {files} = daemon;
  const id = pendingId(path);
  const request = id === undefined ? undefined : daemon.approvals.asked.get(id);
  if (!request || id === undefined || approvalStateOf(files, id) !== 'pending') return undefined;
  if (files.journal.unfinished()) return {after: WAIT_MS};
  const entry = {
    words: 'asked',
    cause: 'ask',
    trailers: [['Approval', id] as [string, string]],
    joins: 'step' as const,
  };
  // The decision was withdrawn: move its page back to approvals/pending, and remove other copies.
  const [decided, ...others] = decidedPages(files, id);
  const text = requestPage(request);
  const written = decided
    ? await moveText(daemon, decided, path, {text, entry})
    : await createText(daemon, path, text, entry);
  if ('outcome' in written) return written.outcome;
  acceptVersion(daemon, written.seen);
  await isIgnored(files, path);
  if (decided) forget(daemon, decided.path);
  for (const {path: old, bytes} of others) {
    if (!removeIfUnchanged(files.disk, old, bytes)) continue;
    recordDaemonRemoval(daemon, old, entry);
    forget(daemon, old);
  }
  return undefined;
}

/**
 * Hand a decision on a page in approvals/pending to the queue, and move the page once the queue has recorded a decision.
 * A page that is saved again afterwards is ignored. A person may reject a page in approvals/approved until its call begins.
 */
async function settlePage(daemon: With<'files' | 'reports' | 'approvals'>, seen: FileSnapshot): Promise<LookOutcome> {
  const {files} = daemon;
  const idIfApproved = approvedId(seen.path);
  const id = pendingId(seen.path) ?? idIfApproved;
  if (id === undefined) return undefined;
  const state = approvalStateOf(files, id);
  if (state === 'approved' && recordedPagePath(files, id) === seen.path && reverses(daemon, id, seen))
    return idIfApproved === undefined ? {after: WAIT_MS} : undefined;
  if (idIfApproved !== undefined && state !== 'rejected') return undefined;
  if (state === undefined || state === 'pending') {
    const page = seen.parsed?.kind === 'approval' ? seen.parsed.file : undefined;
    const decided = page?.review?.decision !== undefined;
    if (page?.meta.again !== undefined && state === 'pending') await noteAgain(daemon, id, page.meta.again);
    // Also look if an unclear decision was removed.
    if ((decided || daemon.reports.troubles.has(`approval ${id}`)) && state === 'pending')
      lookAgain(files, APPROVALS_FILE);
    return undefined;
  }
  if (files.journal.unfinished()) return {after: WAIT_MS};
  const item = await queueItem(files, APPROVALS_FILE, id);
  const decision =
    state === 'approved' || (state === 'superseded' && item?.decision === 'approved') ? 'approved' : 'rejected';
  const to = `approvals/${decision}/${id}.approval.md`;
  const kind = kindOf(to);
  if (!kind) return undefined;
  const text = decidedText(seen.text ?? '', state, decision, item);
  const bytes = Buffer.from(text);
  const entry = {
    words: state,
    cause: 'decision',
    trailers: [['Approval', id] as [string, string]],
    joins: 'step' as const,
  };
  const existing = readHomeFile(files.disk, to);
  if (existing) {
    // A crash left the source of a completed move: remove it. A page that was saved since stays.
    const own = seen.parsed?.kind === 'approval' ? seen.parsed.file.review?.decision : undefined;
    if (!existing.bytes?.equals(bytes) || (own ?? decision) !== decision) return undefined;
    if (!removeIfUnchanged(files.disk, seen.path, seen.bytes)) return undefined;
    recordDaemonRemoval(daemon, seen.path, entry);
    forget(daemon, seen.path);
    return undefined;
  }
  const written = await moveText(daemon, seen, to, {text, entry});
  if ('outcome' in written) return written.outcome;
  acceptVersion(daemon, written.seen);
  const known = files.known.get(to);
  if (known) Object.assign(known, {settled: true, ignored: files.known.get(seen.path)?.ignored ?? false});
  // The decision changed during the move.
  if (approvalStateOf(files, id) !== state) lookAgain(files, to);
  if (files.disk.exists(seen.path)) return {after: 1};
  forget(daemon, seen.path);
  return undefined;
}

/** Tell the queue why a decision on the page did not count, unless it says so already. */
async function noteAgain({files, approvals}: With<'files' | 'approvals'>, id: string, why: string): Promise<void> {
  const item = await queueItem(files, APPROVALS_FILE, id);
  if (!item || fieldOf(item.task, AGAIN) !== undefined) return;
  approvals.again.set(id, why);
  lookAgain(files, APPROVALS_FILE);
}

/** Whether the page reverses a recorded approval. Triggers looks at the queue and at the waiting sessions. */
function reverses({files, approvals}: With<'files' | 'approvals'>, id: string, {path, parsed}: FileSnapshot): boolean {
  const waiting = approvals.waits.for(id);
  const decision = parsed?.kind === 'approval' ? parsed.file.review?.decision : undefined;
  const wasReversed = approvals.reportedInvalid.has(id);
  const isReversed = decision === 'rejected' || (approvedId(path) !== undefined && decision === undefined);
  if (waiting.size === 0 || !(isReversed || wasReversed)) return false;
  lookAgain(files, APPROVALS_FILE);
  if (!isReversed) for (const session of waiting) lookAgain(files, session);
  return isReversed;
}

/** Pages of a request in approvals/approved and approvals/rejected. */
function decidedPages({disk}: HomeFiles, id: string): FileSnapshot[] {
  return ['approved', 'rejected'].flatMap(folder => {
    const path = `approvals/${folder}/${id}.approval.md`;
    const read = readHomeFile(disk, path);
    return read && 'text' in read ? [snapshotOfText(path, 'approval', read.text, read)] : [];
  });
}

/** Forget a file that the daemon removed. */
function forget(daemon: With<'files' | 'reports'>, path: string): void {
  const {files} = daemon;
  files.known.delete(path);
  setFacts(files, path, undefined);
  reportProblems(daemon);
}

/** The page with the decision from the queue, or unchanged if the decision does not fit in. A person's text stays. */
function decidedText(text: string, state: ApprovalState, decision: Decision, item: ApprovalItem | undefined): string {
  const {by, at, reason, answer} = item ?? {};
  const before = parseApproval(text).review;
  // An expired or withdrawn request has no decision.
  const decided = state === 'approved' || state === 'rejected' || (state === 'superseded' && decision === 'approved');
  const review = {
    ...(decided && before?.decision !== decision && {decision: decision.toUpperCase()}),
    ...(by && before?.by !== by && {by}),
    ...(at && before?.at !== at && {at}),
    ...(reason && before?.reason === undefined && before?.notes !== reason && {reason}),
  };
  const written = (more: {answer?: string}) => {
    try {
      return setMeta(setMeta(setReview(text, {...review, ...more}), 'status', state), AGAIN, undefined);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return undefined;
    }
  };
  // An answer that does not fit on the page stays in the queue only.
  return (answer && before?.answer === undefined ? written({answer}) : undefined) ?? written({}) ?? text;
}
