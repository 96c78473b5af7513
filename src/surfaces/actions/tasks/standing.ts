import type {TaskRow} from '../../../check/rows.ts';
import {dependsOnTask, nextSteps} from './next-step.ts';
import {readTaskHome, type TaskHome} from './task-home.ts';
import {rowsOf} from './task-rows.ts';

export interface TaskStanding {
  row: TaskRow;
  /** The next events for the task, as sentences. */
  next: string[];
  /** Open tasks that depend on it. */
  neededBy: string[];
}

export function standings(tasks: TaskHome, ids: readonly string[]): TaskStanding[] {
  const all = rowsOf(tasks);
  return ids.flatMap(id => {
    const row = all.rows.find(one => one.id === id);
    if (!row) return [];
    const needed = all.rows.filter(one => isOpen(one) && dependsOnTask(one, id)).map(one => one.id ?? `"${one.title}"`);
    return [{row, next: nextSteps(row, all), neededBy: needed}];
  });
}

export function standingOf(home: string, id: string): TaskStanding | undefined {
  return standings(readTaskHome(home), [id])[0];
}

function isOpen({state}: TaskRow): boolean {
  return state !== 'completed' && state !== 'skipped';
}
