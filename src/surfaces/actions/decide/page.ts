import {type ApprovalFile, parseApproval} from '../../../formats/approval/approval.ts';
import {pendingPath} from '../../../formats/approval/approval-path.ts';
import type {Decision} from '../../../formats/approval/approval-review.ts';
import {stemOf} from '../../../formats/common/key.ts';
import {isId} from '../../../formats/common/values.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {listFolder, readHomeFile} from '../../../home/read.ts';

/** approvals/…/<id>.approval.md */
export interface ApprovalPage {
  path: string;
  bytes: Buffer;
  file: ApprovalFile;
}

export function pendingPage(home: string, id: string): ApprovalPage | undefined {
  return isId(id) ? pageAt(home, pendingPath(id)) : undefined;
}

export function anyPage(home: string, id: string): ApprovalPage | undefined {
  const elsewhere = () => listFolder(nodeDisk(home), 'approvals').find(path => stemOf(path) === id);
  const path = pendingPage(home, id) ? pendingPath(id) : elsewhere();
  return path === undefined ? undefined : pageAt(home, path);
}

function pageAt(home: string, path: string): ApprovalPage | undefined {
  const read = readHomeFile(nodeDisk(home), path);
  return read && 'text' in read ? {path, bytes: read.bytes, file: parseApproval(read.text)} : undefined;
}

/** The decision on the page. Cheap: most pages have no such word after the heading. */
export function pageDecision(home: string, id: string): Decision | undefined {
  const read = isId(id) ? readHomeFile(nodeDisk(home), pendingPath(id)) : undefined;
  if (!read || !('text' in read)) return undefined;
  const review = read.text.slice(read.text.lastIndexOf('## Review')).replace(/<!--.*?-->/gs, '');
  return /approved|rejected/i.test(review) ? parseApproval(read.text).review?.decision : undefined;
}
