import {fieldOf, type Task} from './task.ts';

/** Whether a person must approve the start of a task, by its field `approval_required`. Only a clear no means no. */
export function isApprovalRequired(value: unknown): boolean {
  return typeof value === 'string' && !/^(?:false|no|off|0|)$/i.test(value.trim());
}

/** Whether this home delivered the task: `assigned` alone may come from another system. */
export function isDelivered(task: Task): boolean {
  return fieldOf(task, 'assigned') !== undefined && fieldOf(task, 'session') !== undefined;
}

/**
 * Whether the task needs a person's approval to start and has not been delivered. A task that a person began or completed
 * in the file needs none. One that was set back waits again, also before the fields of its last attempt are removed.
 */
export function isGated(task: Task): boolean {
  const {state} = task;
  if (state === 'in_progress' || state === 'completed') return false;
  if (!isApprovalRequired(fieldOf(task, 'approval_required'))) return false;
  const has = (key: string) => fieldOf(task, key) !== undefined;
  if (state === 'pending') return !isDelivered(task) || has('started') || has('completed');
  return !has('assigned') && !has('started');
}
