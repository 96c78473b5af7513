const PENDING = 'approvals/pending/';
const APPROVED = 'approvals/approved/';
const ENDING = '.approval.md';

/** The page of a request that waits for a decision. */
export function pendingPath(id: string): string {
  return `${PENDING}${id}${ENDING}`;
}

/** The page of a request that was approved. */
export function approvedPath(id: string): string {
  return `${APPROVED}${id}${ENDING}`;
}

/** The id of a request that waits for a decision, from the path of its page. */
export function pendingId(path: string): string | undefined {
  return idIn(PENDING, path);
}

/** The id of an approved request, from the path of its page. */
export function approvedId(path: string): string | undefined {
  return idIn(APPROVED, path);
}

function idIn(folder: string, path: string): string | undefined {
  return path.startsWith(folder) && path.endsWith(ENDING) ? path.slice(folder.length, -ENDING.length) : undefined;
}
