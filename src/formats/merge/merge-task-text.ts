import {UserError} from '../common/errors.ts';
import {splice} from '../common/lines.ts';
import {columnOf} from '../common/task-lines.ts';
import type {Task, TaskFile} from '../task/task.ts';
import {childIndent, updateTask} from '../task/task-edit.ts';
import {parseTasks} from '../task/task-parse.ts';
import type {TaskChanges} from './merge-task-changes.ts';

/**
 * Edit a task's lines alone: what follows is not indented deeper than its dash, so it cannot become part of the task.
 * The cost of many changes to a large file is then that of their own lines.
 */
function inWindow(lines: string, inTodo: boolean, eol: string, edit: (file: TaskFile, task: Task) => string): string {
  const top = inTodo ? `## TODO${eol}` : '';
  const file = parseTasks(top + lines + eol);
  const task = file.tasks[0];
  if (!task) throw new UserError('the lines are not those of a task');
  const edited = edit(file, task);
  return edited.slice(top.length, edited.length - eol.length);
}

/** Apply changes to a task's lines. `daemon`: the lines from which to take the title line. */
export function applyChanges(lines: string, changes: TaskChanges, {inTodo}: Task, daemon: string, eol: string): string {
  let now = lines;
  if (changes.head) now = inWindow(now, inTodo, eol, (file, task) => withHead(file, task, daemon, inTodo));
  if (changes.box !== undefined || changes.fields.length > 0)
    now = inWindow(now, inTodo, eol, (file, task) => {
      const fields = Object.fromEntries(changes.fields.map(({key, now}) => [key, now]));
      return updateTask(file, task, {...(changes.box === undefined ? {} : {box: changes.box}), fields});
    });
  for (const {time, who, text} of changes.notes) {
    // A note in a person's own style has no author.
    const note = {time: time ?? '', who: who ?? '', text};
    if (time === undefined || who === undefined) throw new UserError('a note without time and author is not appended');
    now = inWindow(now, inTodo, eol, (file, task) => updateTask(file, task, {note}));
  }
  return now;
}

/** Take the daemon's title line except its box. */
function withHead({text}: TaskFile, task: Task, daemon: string, inTodo: boolean): string {
  const top = inTodo ? '## TODO\n' : '';
  const other = parseTasks(`${top}${daemon}\n`);
  const head = other.tasks[0];
  if (!head) throw new UserError('the lines are not those of a task');
  const words = other.text.slice(afterBox(head), head.headEnd).trimStart();
  const at = afterBox(task);
  return splice(text, [{start: at, end: task.headEnd, insert: (task.box === undefined ? '' : ' ') + words}]);
}

function afterBox(task: Task): number {
  return task.boxStart + (task.box === undefined ? 0 : task.bare ? 1 : 3);
}

export function putChildren(
  lines: string,
  {inTodo}: Task,
  children: readonly {lines: string; lead: string}[],
  eol: string,
): string {
  let now = lines;
  for (const child of children)
    now = inWindow(now, inTodo, eol, (file, task) => {
      const indent = childIndent(file.text, task);
      const insert = eol + indentAs(child.lines, child.lead, indent, eol);
      return splice(file.text, [{start: task.end, end: task.end, insert}]);
    });
  return now;
}

/** Move lines from indentation `from` to `to`, keeping relative indentation. */
export function indentAs(lines: string, from: string, to: string, eol: string): string {
  const moved = lines.split('\n').map(line => {
    const bare = line.endsWith('\r') ? line.slice(0, -1) : line;
    if (bare.startsWith(from)) return bare.trim() === '' ? '' : to + bare.slice(from.length);
    return bare.trim() === '' ? '' : to + ' '.repeat(Math.max(0, columnOf(bare) - columnOf(from))) + bare.trimStart();
  });
  return moved.join(eol);
}
