import {fieldOf, type Task} from './task.ts';

/** Sources as a task's field has them: one a line, since any of them may have commas. */
export function taintText(sources: readonly string[]): string {
  return sources.map(source => source.replace(/\s+/g, ' ')).join('\n');
}

export function taintIn(task: Task): string[] {
  return (fieldOf(task, 'taint') ?? '').split('\n').filter(Boolean);
}
