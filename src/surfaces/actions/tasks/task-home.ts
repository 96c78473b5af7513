import {isQueue} from '../../../check/parse-file.ts';
import {readApprovalItems} from '../../../formats/approval/approval-item.ts';
import type {Problem} from '../../../formats/common/diagnostic.ts';
import type {TaskFile} from '../../../formats/task/task.ts';
import {parseTasks} from '../../../formats/task/task-parse.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {listFolder, readHomeFile} from '../../../home/read.ts';

/** A task file, not the approval queue. */
interface TasksAt {
  kind: 'tasks';
  path: string;
  file: TaskFile;
}

/** The task files of a home. */
export interface TaskHome {
  home: string;
  /** Sorted by path; includes files with errors. */
  files: readonly TasksAt[];
  /** Ids in the approval queue, which are not tasks. */
  approvals: readonly string[];
  /** Problems of unreadable files. */
  unread: readonly Problem[];
}

/** Reads from disk; `written` overrides texts that were just saved. */
export function readTaskHome(home: string, written: ReadonlyMap<string, string> = new Map()): TaskHome {
  const files: TasksAt[] = [];
  const approvals: string[] = [];
  const unread: Problem[] = [];
  const paths = new Set([...listFolder(nodeDisk(home), 'tasks'), ...written.keys()]);
  for (const path of [...paths].sort()) {
    const given = written.get(path);
    const read = given === undefined ? readHomeFile(nodeDisk(home), path) : {text: given};
    if (!read) continue;
    if (!('text' in read)) unread.push(read.problem);
    else if (isQueue(path)) approvals.push(...requestsIn(read.text));
    else files.push({kind: 'tasks', path, file: parseTasks(read.text)});
  }
  return {home, files, approvals, unread};
}

function requestsIn(text: string): string[] {
  return readApprovalItems(parseTasks(text)).items.flatMap(({id}) => (id === undefined ? [] : [id]));
}
