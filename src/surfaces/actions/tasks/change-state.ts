import {boxOfState, fieldOf, type Task, type TaskState} from '../../../formats/task/task.ts';
import type {NewNote} from '../../../formats/task/task-text.ts';
import type {PersonTaskEdit} from './edit-tasks.ts';

export interface TaskStateChange {
  state: TaskState;
  note: NewNote | undefined;
  result: string | undefined;
}

/** The daemon fills in the times. */
export function stateEdit(task: Task, {state, note, result}: TaskStateChange): PersonTaskEdit {
  const fields = {
    ...(result === undefined ? {} : {result}),
    ...(state === 'pending' && task.state !== 'pending' ? undelivered(task) : {}),
  };
  return {
    fields,
    ...(task.state === state ? {} : {box: boxOfState[state]}),
    ...(note === undefined ? {} : {note}),
  };
}

/**
 * Removes a lone `assigned:`, so that the task is delivered again. For a started task the daemon resets all three times
 * itself.
 */
export function undelivered(task: Task): Readonly<Record<string, string | undefined>> {
  const has = (key: string) => fieldOf(task, key) !== undefined;
  return has('assigned') && !has('started') && !has('completed') ? {assigned: undefined} : {};
}

/** Created once per edit, even if the edit is retried. */
export function personalNote(text: string): NewNote {
  return {time: new Date().toISOString(), who: 'human', text};
}
