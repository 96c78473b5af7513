import {lineEnd, type Splice, splice} from '../common/lines.ts';
import type {Task, TaskFile} from '../task/task.ts';
import {leadOf} from '../task/task-edit.ts';
import type {TaskChanges} from './merge-task-changes.ts';
import {applyChanges, indentAs, putChildren} from './merge-task-text.ts';
import {lineSplice, linesWithoutChildren} from './merge-window.ts';

/** How the merge changes a task of the person's text. */
export interface TaskMergeWork {
  changes: TaskChanges | undefined;
  /** The version whose title line goes with `changes.head`. */
  daemon: Task | undefined;
  /** The daemon's lines of the task, including children. */
  verbatim: string | undefined;
  remove: boolean;
  before: TaskBlock[];
  after: TaskBlock[];
  children: TaskBlock[];
}

/** Lines of the daemon's file, and their indentation. */
export interface TaskBlock {
  lines: string;
  lead: string;
}

export function newTaskMergeWork(): TaskMergeWork {
  return {
    changes: undefined,
    daemon: undefined,
    verbatim: undefined,
    remove: false,
    before: [],
    after: [],
    children: [],
  };
}

/** Apply all changes to the person's text and append `last`. */
export function mergedText(
  person: TaskFile,
  daemon: TaskFile,
  works: ReadonlyMap<Task, TaskMergeWork>,
  last: readonly TaskBlock[],
): string {
  const {text, todoEnd} = person;
  const eol = lineEnd(text);
  const touched = new Set<Task>();
  for (const task of works.keys())
    for (let at: Task | undefined = task; at && !touched.has(at); at = at.parent) touched.add(at);

  /** New lines of a task, with what goes above and below. */
  const rendered = (task: Task): string => {
    const work = works.get(task);
    let lines = work?.verbatim;
    if (lines === undefined) {
      lines = '';
      let at = task.start;
      for (const child of task.children) {
        if (!touched.has(child)) continue;
        lines += text.slice(at, child.start) + rendered(child);
        at = child.end;
      }
      lines += text.slice(at, task.end);
    }
    if (work?.changes) {
      const head = work.daemon ? linesWithoutChildren(daemon, work.daemon) : '';
      lines = applyChanges(lines, work.changes, task, head, eol);
    }
    if (work && work.children.length > 0) lines = putChildren(lines, task, work.children, eol);
    const lead = leadOf(text, task);
    const beside = (blocks: readonly TaskBlock[] = []) =>
      blocks.map(block => indentAs(block.lines, block.lead, lead, eol));
    return [...beside(work?.before), lines, ...beside(work?.after)].join(eol);
  };

  const splices: Splice[] = [];
  for (const task of touched) {
    if (task.parent) continue;
    if (works.get(task)?.remove) splices.push(lineSplice(text, task));
    else splices.push({start: task.start, end: task.end, insert: rendered(task)});
  }
  const below = last.map(block => indentAs(block.lines, block.lead, '', eol)).join(eol + eol);
  if (below !== '' && todoEnd !== undefined) splices.push({start: todoEnd, end: todoEnd, insert: eol + eol + below});
  const edited = splice(text, splices);
  if (below === '' || todoEnd !== undefined) return edited;
  const gap = edited === '' || edited === '\ufeff' ? '' : edited.endsWith('\n') ? eol : eol + eol;
  return `${edited}${gap}## TODO${eol}${eol}${below}${eol}`;
}
