import {boxOfState, fieldOf, type Task, type TaskState} from '../../../formats/task/task.ts';
import type {NewNote} from '../../../formats/task/task-text.ts';
import type {PersonTaskEdit} from './edit-tasks.ts';

export interface TaskStateChange {
  state: TaskState;
  note: NewNote | undefined;
  result: string | undefined;
}

/** The box, and what was said about it. Times are filled in by the daemon, as for anybody who ticks a box. */
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
 * So that it is delivered again: `assigned:` alone would say that it has been. Where it was begun the daemon sees that it
 * was set back, and removes all three times.
 */
export function undelivered(task: Task): Readonly<Record<string, string | undefined>> {
  const has = (key: string) => fieldOf(task, key) !== undefined;
  return has('assigned') && !has('started') && !has('completed') ? {assigned: undefined} : {};
}

/** As of now: made once for an edit, however often that is tried. */
export function personalNote(text: string): NewNote {
  return {time: new Date().toISOString(), who: 'human', text};
}
