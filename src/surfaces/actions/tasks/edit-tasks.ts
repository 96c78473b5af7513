import {addsErrors} from '../../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {fieldOf, stateOfBox, type Task, type TaskFile} from '../../../formats/task/task.ts';
import {type TaskChange, updateTask} from '../../../formats/task/task-edit.ts';
import {setTaskNames} from '../../../formats/task/task-names-edit.ts';
import {parseTasks} from '../../../formats/task/task-parse.ts';
import {hasNote} from '../../../formats/task/task-text.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {editFile} from '../../../home/edit-file.ts';
import {readHomeFile} from '../../../home/read.ts';
import type {FoundTask} from './find-tasks.ts';
import {readTasks, taskOf} from './read-tasks.ts';
import {repeatUntilKept, taskFingerprint} from './repeat-until-kept.ts';
import {retryWhileSaving} from './retry-while-saving.ts';

/** An edit of a task. An existing note is not repeated. */
export interface PersonTaskEdit extends TaskChange {
  names?: readonly string[];
}

type EditOf = (task: Task) => PersonTaskEdit;

/**
 * Edits tasks despite concurrent writes: all tasks of a file or none, and nothing at all if one cannot be edited.
 * Returns new texts by path. `editOf` may be called any number of times.
 */
export async function editTasks(
  home: string,
  found: readonly FoundTask[],
  editOf: EditOf,
): Promise<Map<string, string>> {
  const edits = [...new Set(found.map(({path}) => path))].map(path => {
    const ids = found.filter(one => one.path === path).map(({id}) => id);
    return {path, edit: () => retryWhileSaving(home, () => editedText(home, path, ids, editOf))};
  });
  for (const {edit} of edits) await edit();
  const texts = new Map<string, string>();
  for (const {path, edit} of edits) {
    const {expected, text} = await edit();
    if (expected.equals(Buffer.from(text))) texts.set(path, text);
    else texts.set(path, await saveEdit(home, path, edit));
  }
  return texts;
}

type Edited = ReturnType<typeof editedText>;

async function saveEdit(home: string, path: string, edit: () => Promise<Edited>): Promise<string> {
  let {text, isIn} = await editFile(home, path, edit);
  const isKept = () => {
    const now = readHomeFile(nodeDisk(home), path);
    return now !== undefined && 'text' in now && isIn(parseTasks(now.text));
  };
  const again = async () => {
    try {
      ({text, isIn} = await editFile(home, path, edit));
    } catch (error) {
      // The edit was made; the task or file was broken later.
      if (!(error instanceof UserError)) throw error;
    }
  };
  await repeatUntilKept(isKept, again);
  return text;
}

function editedText(home: string, path: string, ids: readonly string[], editOf: EditOf) {
  const read = readTasks(home, path);
  if (!read) throw new UserError(`${path} is gone`, exit.failed, 'see agentdir tasks');
  let {file} = read;
  for (const id of ids) file = editOne(file, path, id, editOf(taskOf(file, path, id)));
  const {text} = file;
  const isIn = (later: TaskFile) =>
    ids.every(id => {
      const old = taskOf(read.file, path, id);
      const now = later.tasks.find(task => fieldOf(task, 'id') === id);
      const {note} = editOf(old);
      const stood = taskFingerprint(old);
      const stands = now && (taskFingerprint(now) !== stood || taskFingerprint(taskOf(file, path, id)) === stood);
      return stands === true && (!note || hasNote(now, note));
    });
  return {expected: read.bytes, text, saved: () => ({text, isIn})};
}

function editOne(file: TaskFile, path: string, id: string, {names, ...change}: PersonTaskEdit): TaskFile {
  const named = names ? parseTasks(setTaskNames(file, taskOf(file, path, id), names)) : file;
  const task = taskOf(named, path, id);
  const {note, ...rest} = change;
  const changes = note && !hasNote(task, note) ? change : rest;
  if (changes.box === undefined && !('note' in changes) && Object.keys(changes.fields ?? {}).length === 0) return named;
  const after = parseTasks(updateTask(named, task, changes));
  refuseUnlessSaid(named, after, path, id, changes);
  return after;
}

/** Refuses an edit that would say anything else. */
function refuseUnlessSaid(
  before: TaskFile,
  file: TaskFile,
  path: string,
  id: string,
  {box, fields = {}}: TaskChange,
): void {
  const [task, second] = file.tasks.filter(one => fieldOf(one, 'id') === id);
  const said = Object.entries(fields).every(([key, value]) => task && fieldOf(task, key) === value);
  const isSaid = task && !second && said && (box === undefined || task.state === stateOfBox[box]);
  if (isSaid && !addsErrors(file.problems, before.problems)) return;
  throw new UserError(`the lines of ${id} have no room for this`, exit.badFile, `write it in an editor: ${path}`);
}
