import {type ApprovalFile, parseApproval} from '../../formats/approval/approval.ts';
import type {ApprovalItem} from '../../formats/approval/approval-item.ts';
import {approvedPath, pendingPath} from '../../formats/approval/approval-path.ts';
import type {Review} from '../../formats/approval/approval-review.ts';
import {hasErrors} from '../../formats/common/diagnostic.ts';
import {versionText} from '../../loop/accept-version.ts';
import {statSignature} from '../../loop/file-state.ts';
import type {HomeFiles} from '../../loop/home-files.ts';

/** The last known version of a page. */
export async function knownPage(files: HomeFiles, path: string): Promise<ApprovalFile | undefined> {
  const blob = files.known.get(path)?.blob;
  const text = blob === undefined ? undefined : await versionText(files, blob, path);
  return text === undefined ? undefined : parseApproval(text);
}

/** Whether the file on disk differs from the last known version; it may contain a rejection. */
export function isBeingSaved({disk, known}: HomeFiles, path: string): boolean {
  const stat = disk.lstat(path);
  return (stat && statSignature(stat)) !== known.get(path)?.signature;
}

/** The path of the page of an approved request. The page moves to approvals/approved shortly after the approval. */
export function recordedPagePath({known}: HomeFiles, id: string): string {
  return known.has(approvedPath(id)) ? approvedPath(id) : pendingPath(id);
}

/** A person may change the decision on the page until the call starts. Undefined: the page agrees with the queue item. */
export async function changedDecision(
  files: HomeFiles,
  {id = '', by, at}: ApprovalItem,
): Promise<{no: Pick<Review, 'by' | 'at' | 'reason'>} | {problem: string} | undefined> {
  const path = recordedPagePath(files, id);
  const page = await knownPage(files, path);
  const review = page?.review;
  if (review?.decision === 'rejected') {
    // The name and the time may be left over from the approval.
    const own = {by: review.by === by ? undefined : review.by, at: review.at === at ? undefined : review.at};
    return {no: {...own, reason: review.reason ?? review.notes}};
  }
  const cleared = page?.meta.status === 'approved' && review?.decision === undefined;
  if (!page || (!cleared && !hasErrors(page.problems))) return undefined;
  return {problem: `${path} is unclear; nothing runs until it says APPROVED or REJECTED`};
}
