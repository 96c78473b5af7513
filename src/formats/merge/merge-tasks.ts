import type {Match} from '../common/align.ts';
import {addsErrors, blocks, hasErrors} from '../common/diagnostic.ts';
import {lineEnd} from '../common/lines.ts';
import {fieldOf, type Task, type TaskFile} from '../task/task.ts';
import {leadOf} from '../task/task-edit.ts';
import {matchTasks} from '../task/task-match.ts';
import {parseTasks} from '../task/task-parse.ts';
import {type MergeResult, mergeLines} from './merge-lines.ts';
import {mergeProse} from './merge-prose.ts';
import {
  isEmptyChange,
  onlyAdditions,
  onlyFilledIn,
  settleChanges,
  type TaskChanges,
  taskChanges,
} from './merge-task-changes.ts';
import {applyChanges} from './merge-task-text.ts';
import {mergedText, newTaskMergeWork, type TaskBlock, type TaskMergeWork} from './merge-task-work.ts';
import {countTasks, linesWithoutChildren, sortedLines, taskLines} from './merge-window.ts';

/** Undefined if a merge by tasks is impossible. Throws if an edit is refused. */
export function mergeTasks(base: string, person: string, daemon: string): MergeResult | undefined {
  const [from, own, later] = [parseTasks(base), parseTasks(person), parseTasks(daemon)];
  if ([from, own, later].some(file => blocks(file.problems))) return undefined;
  const toDaemon = matchTasks(from, later);
  const conflicts: string[] = [];
  const merge = new TaskMerge(from, mergeProse(from, own, later, toDaemon, conflicts), later, toDaemon, conflicts);
  const text = merge.run();
  const result = parseTasks(text);
  if (addsErrors(result.problems, own.problems) || result.tasks.length !== merge.expected) return undefined;
  return {text, conflicts};
}

class TaskMerge {
  readonly conflicts: string[];
  expected: number;
  readonly #base: TaskFile;
  readonly #person: TaskFile;
  readonly #daemon: TaskFile;
  readonly #eol: string;
  readonly #work = new Map<Task, TaskMergeWork>();
  /** By parent: the last child so far that the person has, or where the last one was put back. */
  readonly #above = new Map<Task | undefined, Task | TaskBlock[]>();
  readonly #last: TaskBlock[] = [];
  /** The daemon's lines are handled up to here. */
  #taken = 0;
  /** The daemon's tasks that come with one that was added or put back. */
  readonly #covered = new Set<Task>();
  /** The person's new tasks by id, and by the daemon's equal task. */
  readonly #twins = new Map<string | Task, Task>();
  readonly #toDaemon: Match;
  readonly #toPerson: Match;
  /** Index of each of the daemon's tasks; built on first use. */
  #indices: Map<Task, number> | undefined;

  constructor(base: TaskFile, person: TaskFile, daemon: TaskFile, toDaemon: Match, conflicts: string[]) {
    this.#toDaemon = toDaemon;
    this.#toPerson = matchTasks(base, person);
    this.conflicts = conflicts;
    this.#base = base;
    this.#person = person;
    this.#daemon = daemon;
    this.#eol = lineEnd(person.text);
    this.expected = person.tasks.length;
  }

  run(): string {
    for (const [i, task] of this.#base.tasks.entries()) {
      if (this.#toDaemon.to[i] !== -1) continue;
      const person = this.#person.tasks[this.#toPerson.to[i] as number];
      if (person) this.#removed(task, person);
    }
    for (const [j, task] of this.#person.tasks.entries()) {
      if (this.#toPerson.from[j] !== -1) continue;
      // A task without an id may have got one from the daemon, in a version other than the base.
      this.#twins.set(fieldOf(task, 'id') ?? `"${task.title}`, task);
    }
    for (const [j, task] of this.#daemon.tasks.entries()) if (task.start >= this.#taken) this.#look(task, j);
    return mergedText(this.#person, this.#daemon, this.#work, this.#last);
  }

  /** The person's counterpart of a task of the daemon. */
  #personOf(daemon: Task, index?: number): Task | undefined {
    let at = index;
    if (at === undefined) {
      this.#indices ??= new Map(this.#daemon.tasks.map((task, j) => [task, j]));
      at = this.#indices.get(daemon) ?? -1;
    }
    const own = this.#person.tasks[this.#toPerson.to[this.#toDaemon.from[at] as number] as number];
    return own ?? this.#twins.get(daemon);
  }

  #look(daemon: Task, index: number): void {
    const base = this.#base.tasks[this.#toDaemon.from[index] as number];
    const person = this.#personOf(daemon, index);
    if (person) this.#above.set(daemon.parent, person);
    if (!base) {
      if (!this.#covered.has(daemon)) this.#added(daemon);
      return;
    }
    if (taskLines(this.#base, base) === taskLines(this.#daemon, daemon)) {
      this.#taken = daemon.end;
      return;
    }
    if (!person) {
      if (!this.#covered.has(daemon)) this.#deleted(base, daemon);
      return;
    }
    if (taskLines(this.#base, base) === taskLines(this.#person, person)) {
      this.#workOn(person).verbatim = taskLines(this.#daemon, daemon);
      this.expected += countTasks(daemon) - countTasks(person);
      this.#taken = daemon.end;
      return;
    }
    const changes = taskChanges(base, daemon);
    if (this.#otherLines(base, person, daemon, changes)) return;
    const settled = settleChanges(changes, base, person, daemon, this.conflicts);
    if (!isEmptyChange(settled)) Object.assign(this.#workOn(person), {changes: settled, daemon});
  }

  /** Lines other than fields and notes were changed by hand: merge line by line. */
  #otherLines(base: Task, person: Task, daemon: Task, changes: TaskChanges): boolean {
    const ownLines = (file: TaskFile, task: Task) => sortedLines(linesWithoutChildren(file, task));
    const made = applyChanges(
      linesWithoutChildren(this.#base, base),
      changes,
      base,
      linesWithoutChildren(this.#daemon, daemon),
      this.#eol,
    );
    if (sortedLines(made) === ownLines(this.#daemon, daemon)) return false;
    const lines = mergeLines(
      ...((
        [
          [this.#base, base],
          [this.#person, person],
          [this.#daemon, daemon],
        ] as const
      ).map(([file, task]) => `${taskLines(file, task).replaceAll('\r\n', '\n')}\n`) as [string, string, string]),
    );
    const text = lines.text.replace(/\n$/, '').replaceAll('\n', this.#eol);
    const read = parseTasks(`${person.inTodo ? '## TODO\n' : ''}${text}\n`);
    if (lines.conflicts.length > 0 || hasErrors(read.problems)) {
      this.conflicts.push(`task "${person.title}": lines below it were changed on both sides; yours are kept`);
      return false;
    }
    this.#workOn(person).verbatim = text;
    this.expected += read.tasks.length - countTasks(person);
    this.#taken = daemon.end;
    return true;
  }

  #added(daemon: Task): void {
    const title = `"${daemon.title}`;
    const twin = this.#twins.get(fieldOf(daemon, 'id') ?? '') ?? this.#twins.get(title);
    if (twin) {
      this.#twins.delete(title);
      this.#twins.set(daemon, twin);
      const changes = onlyAdditions(taskChanges(twin, daemon));
      if (!isEmptyChange(changes)) Object.assign(this.#workOn(twin), {changes, daemon});
      return;
    }
    const block = this.#block(daemon);
    const parent = daemon.parent && this.#personOf(daemon.parent);
    if (parent) this.#workOn(parent).children.push(block);
    else {
      if (daemon.parent) this.conflicts.push(`task "${daemon.title}": what it was part of is gone; it is kept below`);
      this.#last.push(block);
    }
  }

  /** A task that the person deleted stays deleted, unless something happened to it that must not be lost. */
  #deleted(base: Task, daemon: Task): void {
    const changes = taskChanges(base, daemon);
    if (onlyFilledIn(changes, base)) return;
    this.conflicts.push(`task "${daemon.title}" was deleted, but it was worked on meanwhile; it is back`);
    const block = this.#block(daemon);
    const place = this.#place(daemon);
    place.push(block);
    this.#above.set(daemon.parent, place);
  }

  /** Place below the previous sibling that the person has, or above the next, or in the parent. */
  #place(daemon: Task): TaskBlock[] {
    const above = this.#above.get(daemon.parent);
    if (above) return Array.isArray(above) ? above : this.#workOn(above).after;
    const siblings = daemon.parent?.children ?? this.#daemon.tasks;
    const below = siblings.find(task => task.parent === daemon.parent && this.#personOf(task));
    if (below) return this.#workOn(this.#personOf(below) as Task).before;
    const parent = daemon.parent && this.#personOf(daemon.parent);
    return parent ? this.#workOn(parent).children : this.#last;
  }

  /** The daemon's lines of a task without children that the person has elsewhere. */
  #block(daemon: Task): TaskBlock {
    const {text} = this.#daemon;
    let lines = '';
    let at = daemon.start;
    let tasks = 0;
    const walk = (task: Task): void => {
      tasks++;
      this.#covered.add(task);
      for (const child of task.children) {
        if (!this.#personOf(child)) {
          walk(child);
          continue;
        }
        lines += text.slice(at, child.start);
        const newline = text.indexOf('\n', child.end);
        at = newline === -1 || newline >= daemon.end ? daemon.end : newline + 1;
      }
    };
    walk(daemon);
    this.expected += tasks;
    return {lines: (lines + text.slice(at, daemon.end)).trimEnd(), lead: leadOf(text, daemon)};
  }

  /** The daemon removed the task (decided approvals move to the archive). */
  #removed(base: Task, person: Task): void {
    if (base.parent && this.#toDaemon.to[this.#base.tasks.indexOf(base.parent)] === -1) return;
    if (!person.parent && taskLines(this.#base, base) === taskLines(this.#person, person)) {
      this.#workOn(person).remove = true;
      this.expected -= countTasks(person);
    } else this.conflicts.push(`task "${person.title}" was edited, but it had been moved away; yours is kept`);
  }

  #workOn(task: Task): TaskMergeWork {
    const known = this.#work.get(task);
    if (known) return known;
    const work = newTaskMergeWork();
    this.#work.set(task, work);
    return work;
  }
}
