import {type ApprovalFile, parseApproval} from '../../formats/approval/approval.ts';
import type {ApprovalItem} from '../../formats/approval/approval-item.ts';
import {approvedPath, pendingPath} from '../../formats/approval/approval-path.ts';
import type {Review} from '../../formats/approval/approval-review.ts';
import {hasErrors} from '../../formats/common/diagnostic.ts';
import {versionText} from '../../loop/accept-version.ts';
import {statSignature} from '../../loop/file-state.ts';
import type {HomeFiles} from '../../loop/home-files.ts';

/** A page as it was last looked at, and held still. */
export async function knownPage(files: HomeFiles, path: string): Promise<ApprovalFile | undefined> {
  const blob = files.known.get(path)?.blob;
  const text = blob === undefined ? undefined : await versionText(files, blob, path);
  return text === undefined ? undefined : parseApproval(text);
}

/** What is on disk is not what was last looked at: it may say no. */
export function isBeingSaved({disk, known}: HomeFiles, path: string): boolean {
  const stat = disk.lstat(path);
  return (stat && statSignature(stat)) !== known.get(path)?.signature;
}

/** Where the page of a request lies whose yes was recorded: it moves a moment later. */
export function recordedPagePath({known}: HomeFiles, id: string): string {
  return known.has(approvedPath(id)) ? approvedPath(id) : pendingPath(id);
}

/** Until its call is started, a person may turn on the page what was recorded. Undefined: it says what the item says. */
export async function changedDecision(
  files: HomeFiles,
  {id = '', by, at}: ApprovalItem,
): Promise<{no: Pick<Review, 'by' | 'at' | 'reason'>} | {problem: string} | undefined> {
  const path = recordedPagePath(files, id);
  const page = await knownPage(files, path);
  const review = page?.review;
  if (review?.decision === 'rejected') {
    // The name and the time may be those of the yes.
    const own = {by: review.by === by ? undefined : review.by, at: review.at === at ? undefined : review.at};
    return {no: {...own, reason: review.reason ?? review.notes}};
  }
  const cleared = page?.meta.status === 'approved' && review?.decision === undefined;
  if (!page || (!cleared && !hasErrors(page.problems))) return undefined;
  return {problem: `what ${path} says is unclear; nothing runs until it says APPROVED or REJECTED`};
}
