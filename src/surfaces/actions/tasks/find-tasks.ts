import {exit, UserError} from '../../../formats/common/errors.ts';
import {makeVisible} from '../../../formats/common/visible.ts';
import {fieldOf, type Task} from '../../../formats/task/task.ts';
import {fileError} from '../talk/file-error.ts';
import {oneOf} from '../talk/one-of.ts';
import {retryWhileSaving} from './retry-while-saving.ts';
import {readTaskHome, type TaskHome} from './task-home.ts';

/** A task that has an id, and the file it stands in. */
export interface FoundTask {
  id: string;
  path: string;
  task: Task;
}

const OTHERWISE = 'see agentdir tasks';

/** Resolves unique parts of ids, without duplicates, in the given order. */
export function findTasks(home: string, wanted: readonly string[]): Promise<FoundTask[]> {
  return retryWhileSaving(home, () => (wanted.length === 0 ? [] : findIn(readTaskHome(home), wanted)));
}

function findIn(tasks: TaskHome, wanted: readonly string[]): FoundTask[] {
  const all = tasks.files.flatMap(({path, file}) => file.tasks.flatMap(task => withId(path, task)));
  const ids = all.map(({id}) => id);
  const found = wanted.map(part => {
    if (!ids.some(id => id.includes(part))) refuseOther(tasks, part);
    const id = oneOf('task', part, ids, OTHERWISE);
    const [first, second] = all.filter(one => one.id === id);
    if (first && second)
      throw new UserError(
        `two tasks have the id ${id}: ${placeOf(first)} and ${placeOf(second)}`,
        exit.badFile,
        'give one of them another: agentdir check',
      );
    return first as FoundTask;
  });
  return [...new Map(found.map(one => [one.id, one])).values()];
}

function withId(path: string, task: Task): FoundTask[] {
  const id = fieldOf(task, 'id');
  return id === undefined || id === '' ? [] : [{id, path, task}];
}

function placeOf({path, task}: FoundTask): string {
  return `${path}:${task.line}`;
}

/** Explains what an unknown id is instead: a request, or a title. */
function refuseOther({files, approvals, unread}: TaskHome, part: string): void {
  const request = part === '' ? undefined : approvals.find(id => id.includes(part));
  if (request !== undefined)
    throw new UserError(
      `${request} is a request for approval, not a task`,
      exit.usage,
      `decide it: agentdir approve ${request}, or agentdir reject ${request}`,
    );
  const [wrong] = unread;
  if (wrong) throw fileError(wrong.file, [wrong]);
  const words = part.toLowerCase();
  for (const {path, file} of part === '' ? [] : files) {
    const titled = file.tasks.find(task => task.title.toLowerCase().includes(words));
    if (!titled) continue;
    const id = fieldOf(titled, 'id');
    throw new UserError(
      `no task has the id "${part}"`,
      exit.usage,
      id === undefined
        ? `"${makeVisible(titled.title)}" (${path}:${titled.line}) has none: write "id: NAME" below it, or give it an @name, and agentdir start adds one`
        : `by its id: ${id} ("${makeVisible(titled.title)}")`,
    );
  }
}
