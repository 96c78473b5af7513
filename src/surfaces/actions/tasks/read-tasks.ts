import {blocks} from '../../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {fieldOf, type Task, type TaskFile} from '../../../formats/task/task.ts';
import {parseTasks} from '../../../formats/task/task-parse.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {readHomeFile} from '../../../home/read.ts';
import {fileError} from '../talk/file-error.ts';

/** Undefined if there is no such file. Throws if it has errors. */
export function readTasks(home: string, path: string): {file: TaskFile; bytes: Buffer} | undefined {
  const read = readHomeFile(nodeDisk(home), path);
  if (!read) return undefined;
  if (!('text' in read)) throw fileError(path, [read.problem]);
  const file = parseTasks(read.text);
  if (blocks(file.problems)) throw fileError(path, file.problems);
  return {file, bytes: read.bytes};
}

export function taskOf(file: TaskFile, path: string, id: string): Task {
  const task = file.tasks.find(one => fieldOf(one, 'id') === id);
  if (!task) throw new UserError(`${id} is no longer in ${path}`, exit.failed, 'see agentdir tasks');
  return task;
}
