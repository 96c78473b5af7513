import {isQueue} from '../../../check/parse-file.ts';
import {addsErrors} from '../../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {fieldOf, type TaskFile} from '../../../formats/task/task.ts';
import {addTask} from '../../../formats/task/task-edit.ts';
import {parseTasks} from '../../../formats/task/task-parse.ts';
import {taskPathOf} from '../../../formats/task/task-path.ts';
import type {NewTask} from '../../../formats/task/task-text.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {editFile} from '../../../home/edit-file.ts';
import {readHomeFile} from '../../../home/read.ts';
import type {FoundTask} from './find-tasks.ts';
import {readTasks, taskOf} from './read-tasks.ts';
import {repeatUntilKept} from './repeat-until-kept.ts';
import {isJustWritten, retryWhileSaving} from './retry-while-saving.ts';

export interface Addition {
  /** Target file (default: the parent's, else tasks/todo.task.md). */
  file: string | undefined;
  /** The parent: the task is nested under it, or names it from another file. */
  parent: FoundTask | undefined;
  id: string;
  task: NewTask;
}

const DEFAULT_FILE = 'tasks/todo.task.md';

export async function addTo(
  home: string,
  {file: given, parent, id, task}: Addition,
): Promise<{path: string; text: string}> {
  const path = given === undefined ? (parent?.path ?? DEFAULT_FILE) : taskPath(given);
  const nested = parent?.path === path ? parent.id : undefined;
  const fields = {
    id,
    ...(parent && nested === undefined ? {parent: parent.id} : {}),
    ...task.fields,
  };
  const edit = () => {
    const read = readTasks(home, path);
    const before = read?.file ?? parseTasks('');
    if (read && before.text.trim() === '' && isJustWritten(home, [path]))
      throw new UserError(`${path} is empty and was just written`, exit.failed, 'try again in a moment');
    if (before.tasks.some(one => fieldOf(one, 'id') === id))
      return {expected: read?.bytes, text: before.text, saved: () => before.text};
    const under = nested === undefined ? undefined : taskOf(before, path, nested);
    const text = addTask(before, {...task, fields}, under);
    refuseUnlessAdded(before, parseTasks(text), path, {id, parent: nested, title: task.title});
    return {expected: read?.bytes, text, saved: () => text};
  };
  const add = () => editFile(home, path, () => retryWhileSaving(home, edit));
  let text = await add();
  const isThere = () => {
    const read = readHomeFile(nodeDisk(home), path);
    return read !== undefined && 'text' in read && read.text.includes(id);
  };
  await repeatUntilKept(isThere, async () => {
    text = await add();
  });
  return {path, text};
}

function taskPath(name: string): string {
  const path = taskPathOf(name);
  if (path === undefined)
    throw new UserError(`"${name}" is not the name of a task file`, exit.usage, 'as in: --file redis');
  if (isQueue(path))
    throw new UserError(
      `${path} is the approval queue, not a task file`,
      exit.usage,
      'name another file; to decide requests, use agentdir approve',
    );
  return path;
}

/** Refuses an edit that would change how other lines are read. */
function refuseUnlessAdded(
  before: TaskFile,
  after: TaskFile,
  path: string,
  {id, parent, title}: {id: string; parent: string | undefined; title: string},
): void {
  const [made, second] = after.tasks.filter(task => fieldOf(task, 'id') === id);
  const under = made?.parent && fieldOf(made.parent, 'id');
  if (
    made?.title === title &&
    !second &&
    under === parent &&
    after.tasks.length === before.tasks.length + 1 &&
    !addsErrors(after.problems, before.problems)
  )
    return;
  throw new UserError(`${path} has no room for another task`, exit.badFile, 'add it in an editor');
}
