import type {Task} from '../task/task.ts';
import {type TaskChange, updateTasks} from '../task/task-edit.ts';
import {parseTasks} from '../task/task-parse.ts';
import {readApprovalItems} from './approval-item.ts';
import {approvalState} from './approval-state.ts';

/**
 * Remove approvals from a merged queue that the person's save lacks and that nobody has recorded. The person took them
 * back or saved an old text; in either case, ask again.
 */
export function withoutOldTicks(saved: string, merged: string): string {
  const theirs = new Map(readApprovalItems(parseTasks(saved)).items.map(item => [item.id, item]));
  const file = parseTasks(merged);
  const changes: [Task, TaskChange][] = [];
  for (const item of readApprovalItems(file).items) {
    const was = item.id === undefined ? undefined : theirs.get(item.id);
    if (!was || was.decision === 'approved' || item.decision !== 'approved') continue;
    if (approvalState(item) === 'pending') changes.push([item.task, {box: was.decision === 'rejected' ? '-' : '_'}]);
  }
  return changes.length === 0 ? merged : updateTasks(file, changes);
}
