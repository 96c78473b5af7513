import type {ApprovalItem} from '../formats/approval/approval-item.ts';
import {lineEnd, splice} from '../formats/common/lines.ts';
import {fieldOf, type TaskFile} from '../formats/task/task.ts';

/** How many decided requests stay in the queue, and how many more there must be before the oldest are archived. */
const KEPT = 100;
const TOGETHER = 50;

/** Requests to archive, oldest first, by archive file. */
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

/** Whether the request cannot change any more. */
function isSettled({id, task, status, decision, outcome}: ApprovalItem): boolean {
  if (id === undefined || task.parent || decision === undefined) return false;
  return status === 'approved' ? outcome !== undefined : status !== undefined && status !== 'pending';
}

/** One archive file per month of creation. */
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
      // Include the blank line after it.
      const after = /^(?:\r?\n){1,2}/.exec(text.slice(end, end + 4))?.[0].length ?? 0;
      return {start, end: end + after, insert: ''};
    }),
  );
}
