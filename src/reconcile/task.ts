import {fieldOf, type Task, type TaskFile} from '../files/task.ts';
import {type TaskChange, updateTasks} from '../files/task-edit.ts';
import type {Completed} from './complete.ts';

export interface TaskContext {
  /** ISO time. */
  now: string;
  newId: () => string;
}

/**
 * Fill in what a person left out or what follows from a box they set: ids of tasks that somebody is to do, and times.
 * The box is the state; times follow it. Undefined if nothing is missing.
 */
export function completeTasks(file: TaskFile, context: TaskContext): Completed | undefined {
  const changes: [Task, TaskChange][] = [];
  const words: string[] = [];
  const ids: string[] = [];
  for (const task of file.tasks) {
    const fields = missing(task, context);
    const keys = Object.keys(fields);
    if (keys.length === 0) continue;
    changes.push([task, {fields}]);
    const removed = keys.every(key => fields[key] === undefined);
    words.push(`${removed ? 'set back: no ' : ''}${keys.join(', ')} of "${short(task.title)}"`);
    ids.push(fields.id ?? fieldOf(task, 'id') ?? '');
  }
  if (changes.length === 0) return undefined;
  const what = words.length > 2 ? `${words[0]} and ${words.length - 1} more tasks` : words.join(' and ');
  return {
    text: updateTasks(file, changes),
    words: what.startsWith('set back') ? what : `filled in ${what}`,
    tasks: ids.filter(Boolean),
  };
}

function missing(task: Task, {now, newId}: TaskContext): Record<string, string | undefined> {
  const has = (key: string) => fieldOf(task, key) !== undefined;
  const fields: Record<string, string | undefined> = {};
  // A list of one's own, with nobody's name on it, is left as it is until something happens to it.
  if (task.names.length > 0 || has('assign')) {
    if (!has('id')) fields.id = newId();
    if (!has('created')) fields.created = now;
  }
  switch (task.state) {
    case 'pending':
      // Set back by a person: as if it had never been begun.
      if (has('started') || has('completed'))
        for (const key of ['assigned', 'started', 'completed']) if (has(key)) fields[key] = undefined;
      break;
    case 'in_progress':
      if (!has('started')) fields.started = now;
      if (has('completed')) fields.completed = undefined;
      break;
    case 'completed':
      if (!has('completed')) fields.completed = now;
      break;
  }
  return fields;
}

function short(title: string): string {
  const line = title.replace(/\s+/g, ' ').trim();
  return line.length > 50 ? `${line.slice(0, 49)}…` : line;
}
