import {unreadFacts} from '../../../check/facts.ts';
import {parseHome} from '../../../check/home.ts';
import {HomeIndex} from '../../../check/home-index.ts';
import {factsFrom, factsOf} from '../../../check/read-facts.ts';
import {type Others, othersIn, type TaskRow, taskRows} from '../../../check/rows.ts';
import {stemOf} from '../../../formats/common/key.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {listFolder, readHomeFile} from '../../../home/read.ts';
import {addressableNames} from '../talk/addressable-names.ts';
import type {TaskHome} from './task-home.ts';

export interface TaskRows {
  rows: TaskRow[];
  othersOf: (row: TaskRow) => Others;
}

/** All tasks, as rows of `agentdir tasks --json`. */
export function rowsOf({home, files, unread}: TaskHome): TaskRows {
  const index = new HomeIndex();
  for (const file of files) index.set(file.path, factsFrom(file));
  for (const problem of unread) index.set(problem.file, unreadFacts(problem.file, [problem]));
  // Only the existence of a template matters.
  for (const path of listFolder(nodeDisk(home), 'templates'))
    index.set(path, {...unreadFacts(path, []), defines: [`agent/${stemOf(path)}`]});
  for (const path of listFolder(nodeDisk(home), 'workflows')) {
    const read = readHomeFile(nodeDisk(home), path);
    if (read && 'text' in read) index.set(path, factsOf(path, read.text));
  }
  index.settle();
  const names = addressableNames(home);
  const problemsOf = (path: string) => index.problems(path);
  const rows = taskRows({...parseHome([]), tasks: [...files]}, names, problemsOf);
  return {rows, othersOf: othersIn(rows, names, problemsOf)};
}
