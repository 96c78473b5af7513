import type {Splice} from '../common/lines.ts';
import type {Task, TaskFile} from '../task/task.ts';

export function taskLines({text}: TaskFile, task: Task): string {
  return text.slice(task.start, task.end);
}

export function linesWithoutChildren({text}: TaskFile, task: Task): string {
  let own = '';
  let at = task.start;
  for (const child of task.children) {
    own += text.slice(at, child.start);
    const newline = text.indexOf('\n', child.end);
    at = newline === -1 ? text.length : Math.max(at, newline + 1);
  }
  return (own + text.slice(Math.min(at, task.end), task.end)).trimEnd();
}

export function sortedLines(lines: string): string {
  return lines
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean)
    .sort()
    .join('\n');
}

export function countTasks(task: Task): number {
  let tasks = 1;
  for (const child of task.children) tasks += countTasks(child);
  return tasks;
}

/** Splice that removes a task's lines and the blank lines below. */
export function lineSplice(text: string, task: Task): Splice {
  let end = text.indexOf('\n', task.end);
  while (end !== -1 && /^\r?\n/.test(text.slice(end + 1, end + 3))) end = text.indexOf('\n', end + 1);
  return {start: task.start, end: end === -1 ? text.length : end + 1, insert: ''};
}
