import type {Match} from '../common/align.ts';
import {addsErrors} from '../common/diagnostic.ts';
import {splice} from '../common/lines.ts';
import type {TaskFile} from '../task/task.ts';
import {parseTasks} from '../task/task-parse.ts';
import {mergeLines} from './merge-lines.ts';
import {lineSplice, taskLines} from './merge-window.ts';

/** Merge edits of the text around tasks that the person has not seen. */
export function mergeProse(
  base: TaskFile,
  person: TaskFile,
  daemon: TaskFile,
  match: Match,
  conflicts: string[],
): TaskFile {
  if (proseOf(base) === proseOf(daemon)) return person;
  const roots = [...daemon.tasks.entries()].filter(([, task]) => !task.parent);
  const around = splice(
    daemon.text,
    roots.map(([j, task]) => {
      const was = base.tasks[match.from[j] as number];
      return was ? {start: task.start, end: task.end, insert: taskLines(base, was)} : lineSplice(daemon.text, task);
    }),
  );
  const lines = mergeLines(base.text, person.text, around, {both: true});
  const file = parseTasks(lines.text);
  if (lines.conflicts.length === 0 && !addsErrors(file.problems, person.problems)) return file;
  conflicts.push('text around the tasks was changed on both sides; yours is kept');
  return person;
}

/** Lines outside of tasks, without blank lines and `## TODO`. */
function proseOf({text, tasks}: TaskFile): string {
  let prose = '';
  let at = 0;
  for (const task of tasks) {
    if (task.parent) continue;
    prose += text.slice(at, task.start);
    at = task.end;
  }
  const lines = (prose + text.slice(at)).split('\n').map(line => line.trimEnd());
  return lines.filter(line => line !== '' && !/^## TODO$/i.test(line)).join('\n');
}
