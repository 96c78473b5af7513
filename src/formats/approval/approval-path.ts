const PENDING = 'approvals/pending/';
const APPROVED = 'approvals/approved/';
const ENDING = '.approval.md';

export function pendingPath(id: string): string {
  return `${PENDING}${id}${ENDING}`;
}

export function approvedPath(id: string): string {
  return `${APPROVED}${id}${ENDING}`;
}

export function pendingId(path: string): string | undefined {
  return idIn(PENDING, path);
}

export function approvedId(path: string): string | undefined {
  return idIn(APPROVED, path);
}

function idIn(folder: string, path: string): string | undefined {
  return path.startsWith(folder) && path.endsWith(ENDING) ? path.slice(folder.length, -ENDING.length) : undefined;
}
