import type {ApprovalItem} from '../formats/approval/approval-item.ts';
import {lineEnd, splice} from '../formats/common/lines.ts';
import {fieldOf, type TaskFile} from '../formats/task/task.ts';

/** So many decided requests stay in the queue; when there are so many more, the oldest go to the archive together. */
const KEPT = 100;
const TOGETHER = 50;

/** Requests that leave the queue, oldest first, by the file they go to. */
export function requestsToArchive(items: readonly ApprovalItem[]): Map<string, ApprovalItem[]> {
  const settled = items.filter(isSettled);
  const leaving = settled.length < KEPT + TOGETHER ? [] : settled.slice(0, settled.length - KEPT);
  const byFile = new Map<string, ApprovalItem[]>();
  for (const item of leaving) {
    const path = archiveOf(item);
    byFile.set(path, [...(byFile.get(path) ?? []), item]);
  }
  return byFile;
}

/** Nothing can become of it any more. */
function isSettled({id, task, status, decision, outcome}: ApprovalItem): boolean {
  if (id === undefined || task.parent || decision === undefined) return false;
  return status === 'approved' ? outcome !== undefined : status !== undefined && status !== 'pending';
}

/** By the month in which it was asked. */
function archiveOf({task}: ApprovalItem): string {
  const month = /^\d{4}-\d\d/.exec(fieldOf(task, 'created') ?? '')?.[0] ?? 'undated';
  return `tasks/archive/approvals-${month}.task.md`;
}

export function archiveText(text: string | undefined, path: string, items: readonly string[]): string {
  const month = /approvals-(.+)\.task\.md$/.exec(path)?.[1] ?? '';
  const before = text ?? `# Approvals asked in ${month}\n`;
  const eol = lineEnd(before);
  return `${before.trimEnd()}${eol}${eol}${items.join(eol + eol)}${eol}`;
}

export function withoutItems({text}: TaskFile, items: readonly ApprovalItem[]): string {
  return splice(
    text,
    items.map(({task: {start, end}}) => {
      // With the blank line that parted it from the next.
      const after = /^(?:\r?\n){1,2}/.exec(text.slice(end, end + 4))?.[0].length ?? 0;
      return {start, end: end + after, insert: ''};
    }),
  );
}
