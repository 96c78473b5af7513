import {requestPage} from '../../decide/call-request.ts';
import {parseApproval} from '../../formats/approval/approval.ts';
import {setMeta, setReview} from '../../formats/approval/approval-edit.ts';
import {APPROVALS_FILE, type ApprovalItem} from '../../formats/approval/approval-item.ts';
import {approvedId, pendingId} from '../../formats/approval/approval-path.ts';
import type {Decision} from '../../formats/approval/approval-review.ts';
import type {ApprovalState} from '../../formats/approval/approval-state.ts';
import {UserError} from '../../formats/common/errors.ts';
import {kindOf} from '../../formats/common/key.ts';
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

/** approvals/pending, approved and rejected: a page for each request. Pages are moved, so a look at one does all of it by itself. */
export function approvalPageReconciler(daemon: With<'files' | 'reports' | 'approvals'>): Reconciler {
  return {
    kind: 'approval',
    settle: async file => (file.parsed?.kind === 'approval' ? {outcome: await settlePage(daemon, file)} : undefined),
    create: async path => ({outcome: await makePage(daemon, path)}),
  };
}

/** The page of a request that waits and has none. */
async function makePage(daemon: With<'files' | 'reports' | 'approvals'>, path: string): Promise<LookOutcome> {
  const {files} = daemon;
  const id = pendingId(path);
  const request = id === undefined ? undefined : daemon.approvals.asked.get(id);
  if (!request || id === undefined || approvalStateOf(files, id) !== 'pending') return undefined;
  if (files.journal.unfinished()) return {after: WAIT_MS};
  const entry = {words: 'asked', cause: 'ask', trailers: [['Approval', id] as [string, string]]};
  // A decision was taken back: the page is where it is waited for, and nowhere else.
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
 * A page in approvals/pending: what it decides is for the queue, and when that has recorded a decision, the page goes
 * where decided ones are. One that was saved again after that is ignored. In approvals/approved a person may turn it
 * until its call begins.
 */
async function settlePage(daemon: With<'files' | 'reports' | 'approvals'>, seen: FileSnapshot): Promise<LookOutcome> {
  const {files} = daemon;
  const taken = approvedId(seen.path);
  const id = pendingId(seen.path) ?? taken;
  if (id === undefined) return undefined;
  const state = approvalStateOf(files, id);
  if (state === 'approved' && recordedPagePath(files, id) === seen.path && turns(daemon, id, seen))
    return taken === undefined ? {after: WAIT_MS} : undefined;
  if (taken !== undefined && state !== 'rejected') return undefined;
  if (state === undefined || state === 'pending') {
    const decided = seen.parsed?.kind === 'approval' && seen.parsed.file.review?.decision !== undefined;
    // Or it does not say any more what was unclear.
    if ((decided || daemon.reports.troubles.has(`approval ${id}`)) && state === 'pending')
      lookAgain(files, APPROVALS_FILE);
    return undefined;
  }
  if (files.journal.unfinished()) return {after: WAIT_MS};
  const item = await queueItem(files, APPROVALS_FILE, id);
  const said =
    state === 'approved' || (state === 'superseded' && item?.decision === 'approved') ? 'approved' : 'rejected';
  const to = `approvals/${said}/${id}.approval.md`;
  const kind = kindOf(to);
  if (!kind) return undefined;
  const text = decidedText(seen.text ?? '', state, said, item);
  const bytes = Buffer.from(text);
  const entry = {words: state, cause: 'decision', trailers: [['Approval', id] as [string, string]]};
  const there = readHomeFile(files.disk, to);
  if (there) {
    // Moved, and killed before it was taken away; anything else was saved since, and is left.
    const own = seen.parsed?.kind === 'approval' ? seen.parsed.file.review?.decision : undefined;
    if (!there.bytes?.equals(bytes) || (own ?? said) !== said) return undefined;
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
  // It was turned meanwhile.
  if (approvalStateOf(files, id) !== state) lookAgain(files, to);
  if (files.disk.exists(seen.path)) return {after: 1};
  forget(daemon, seen.path);
  return undefined;
}

/** Whether the page turns a yes that was recorded, or did: the queue and the sessions that wait look at it. */
function turns({files, approvals}: With<'files' | 'approvals'>, id: string, {path, parsed}: FileSnapshot): boolean {
  const waiting = approvals.waits.for(id);
  const said = parsed?.kind === 'approval' ? parsed.file.review?.decision : undefined;
  const before = approvals.reportedInvalid.has(id);
  const isTurned = said === 'rejected' || (approvedId(path) !== undefined && said === undefined);
  if (waiting.size === 0 || !(isTurned || before)) return false;
  lookAgain(files, APPROVALS_FILE);
  if (!isTurned) for (const session of waiting) lookAgain(files, session);
  return isTurned;
}

/** Pages of a request in the folders of decided ones. */
function decidedPages({disk}: HomeFiles, id: string): FileSnapshot[] {
  return ['approved', 'rejected'].flatMap(folder => {
    const path = `approvals/${folder}/${id}.approval.md`;
    const read = readHomeFile(disk, path);
    return read && 'text' in read ? [snapshotOfText(path, 'approval', read.text, read)] : [];
  });
}

/** The daemon took the file away. */
function forget(daemon: With<'files' | 'reports'>, path: string): void {
  const {files} = daemon;
  files.known.delete(path);
  setFacts(files, path, undefined);
  reportProblems(daemon);
}

/** The page with what was decided in the queue; as it is, where that has no place. What a person wrote there stays. */
function decidedText(text: string, state: ApprovalState, said: Decision, item: ApprovalItem | undefined): string {
  const {by, at, reason, answer} = item ?? {};
  const there = parseApproval(text).review;
  // What nobody decided has no decision.
  const decided = state === 'approved' || state === 'rejected' || (state === 'superseded' && said === 'approved');
  const review = {
    ...(decided && there?.decision !== said && {decision: said.toUpperCase()}),
    ...(by && there?.by !== by && {by}),
    ...(at && there?.at !== at && {at}),
    ...(reason && there?.reason === undefined && there?.notes !== reason && {reason}),
  };
  const written = (more: {answer?: string}) => {
    try {
      return setMeta(setReview(text, {...review, ...more}), 'status', state);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return undefined;
    }
  };
  // An answer that would not read back stands in the queue alone.
  return (answer && there?.answer === undefined ? written({answer}) : undefined) ?? written({}) ?? text;
}
