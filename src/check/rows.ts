import {blocks, type Problem, wrongTasks} from '../formats/common/diagnostic.ts';
import {fieldOf, idsIn, parentId, type Task, type TaskFile, type TaskState} from '../formats/task/task.ts';
import {type Assignee, assigneeIn, isReady} from '../formats/task/task-assignee.ts';
import type {Home} from './home.ts';
import type {Names} from './names.ts';

/** A task as FORMATS' table has it: names without @ and #, several joined by a space. */
export interface TaskRow {
  id: string | null;
  file: string;
  line: number;
  title: string;
  state: TaskState;
  priority: string | null;
  assignee: string | null;
  tags: string | null;
  parent: string | null;
  depends_on: string | null;
  ready: boolean;
  blocked_by: string | null;
  created: string | null;
  created_by: string | null;
  assigned: string | null;
  started: string | null;
  completed: string | null;
  due: string | null;
  [field: string]: string | number | boolean | null;
}

/** `problemsOf`: the problems of a file. */
export function taskRows(home: Home, names: Names, problemsOf: (path: string) => readonly Problem[]): TaskRow[] {
  const states = statesById(home.tasks);
  return home.tasks.flatMap(({path, file}) => {
    const others = {stateOf: (id: string) => states.get(id), names, ...faultsIn(problemsOf(path))};
    return file.tasks.map(task => {
      const row = taskRow(path, task);
      return Object.assign(row, standing(row, others));
    });
  });
}

function faultsIn(problems: readonly Problem[]): Pick<Others, 'broken' | 'wrong'> {
  return {broken: blocks(problems), wrong: wrongTasks(problems)};
}

/** Conditions for a task outside its own lines: other files, and the problems of its file. */
export interface Others {
  /** State of the first task with this id, by path; undefined if there is none. */
  stateOf: (id: string) => string | null | undefined;
  names: Names;
  /** The task's file has errors that concern all of it, so the daemon does not act on it. */
  broken: boolean;
  /** Lines of the tasks in the file that have errors of their own. */
  wrong: ReadonlySet<number>;
}

export function othersIn(
  rows: readonly TaskRow[],
  names: Names,
  problemsOf: (path: string) => readonly Problem[],
): (row: TaskRow) => Others {
  const faults = new Map<string, ReturnType<typeof faultsIn>>();
  const states = new Map<string, TaskState>();
  for (const {id, state} of rows) if (id !== null && !states.has(id)) states.set(id, state);
  const stateOf = (id: string) => states.get(id);
  return ({file}) => {
    const found = faults.get(file) ?? faultsIn(problemsOf(file));
    faults.set(file, found);
    return {stateOf, names, ...found};
  };
}

/** States of all tasks by id; the first definition of a duplicate id wins. */
function statesById(files: readonly {file: TaskFile}[]): Map<string, TaskState> {
  const states = new Map<string, TaskState>();
  for (const {file} of files) {
    for (const task of file.tasks) {
      const id = fieldOf(task, 'id');
      if (id !== undefined && !states.has(id)) states.set(id, task.state);
    }
  }
  return states;
}

/** The row of a task from its own lines. `standing` computes `ready` and `blocked_by`. */
export function taskRow(path: string, task: Task): TaskRow {
  const field = (key: string) => fieldOf(task, key) ?? null;
  const row: TaskRow = {
    id: field('id'),
    file: path,
    line: task.line,
    title: task.title,
    state: task.state,
    priority: task.priority ?? null,
    assignee: joined(task.names),
    tags: joined(task.tags),
    parent: parentId(task) ?? null,
    depends_on: joined(idsIn(fieldOf(task, 'depends_on'))),
    ready: false,
    blocked_by: null,
    created: field('created'),
    created_by: field('created_by')?.replace(/^@/, '') ?? null,
    assigned: field('assigned'),
    started: field('started'),
    completed: field('completed'),
    due: field('due'),
  };
  for (const {key, value} of task.fields) if (!Object.hasOwn(row, key)) row[key] = value;
  return row;
}

/** Ready: the daemon would deliver the task; neither the task nor its whole file has an error. */
export function standing(row: TaskRow, {stateOf, names, broken, wrong}: Others): Pick<TaskRow, 'ready' | 'blocked_by'> {
  const dependsOn = wordsIn(row.depends_on);
  const waiting = {state: row.state, assignee: assigneeOfRow(row), dependsOn};
  const ready = !broken && !wrong.has(row.line) && isReady(waiting, {stateOf, isAgent: name => names.hasAgent(name)});
  return {ready, blocked_by: joined(dependsOn.filter(id => stateOf(id) !== 'completed'))};
}

/** Whether this home delivered the task: `assigned` without a session is from another system. */
export function isDeliveredRow({assigned, session}: TaskRow): boolean {
  return assigned !== null && typeof session === 'string';
}

export function assigneeOfRow({assignee, assign}: TaskRow): Assignee {
  return assigneeIn(wordsIn(assignee), typeof assign === 'string' ? assign : undefined);
}

export function wordsIn(text: string | null): string[] {
  return text === null ? [] : text.split(' ');
}

function joined(words: readonly string[]): string | null {
  return words.length > 0 ? words.join(' ') : null;
}
