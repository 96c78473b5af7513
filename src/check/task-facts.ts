import type {Place} from '../files/diagnostic.ts';
import {fieldOf, idsIn, type Priority, type Task, type TaskFile, type TaskState} from '../files/task.ts';
import {type Need, shortTitle} from './need.ts';

/** A task; one that is done has the first four only. Left out: what it does not have. */
export interface TaskFact {
  line: number;
  state: TaskState;
  id?: string;
  idAt?: Place;
  title?: string;
  priority?: Priority;
  created?: string;
  due?: string;
  /** Whom it is for, and in which column of its line each is named. */
  names?: string[];
  columns?: number[];
  assign?: string;
  assignAt?: Place;
  assigned?: string;
  waitsFor?: string[];
  waitsAt?: Place;
  /** The field, and the id of the task it is nested under. */
  parent?: string;
  parentAt?: Place;
  nested?: string;
  /** A name in the title of a task that is for nobody. */
  late?: {name: string; column: number};
}

export function isOpen(state: string | null): boolean {
  return state === 'pending' || state === 'in_progress' || state === 'blocked';
}

export function taskFacts({text, tasks}: TaskFile): {counts: {tasks: number}; needs: Need[]; tasks: TaskFact[]} {
  const facts = tasks.map(task => factOf(text, task));
  return {counts: {tasks: tasks.length}, needs: facts.flatMap(needOf), tasks: facts};
}

function factOf(text: string, task: Task): TaskFact {
  const {line, state} = task;
  const fact: TaskFact = {line, state};
  const open = isOpen(state);
  if (open) openTask(fact, text, task);
  const seen = new Set<string>();
  for (const field of task.fields) {
    const read = readers.get(field.key);
    // The first of a kind counts, as everywhere.
    if (!read || (!open && field.key !== 'id') || seen.size === seen.add(field.key).size) continue;
    read(fact, field.value, {line: field.line, column: field.column});
  }
  return fact;
}

type Reader = (fact: TaskFact, value: string, at: Place) => void;

/** A Map, since anybody may call a field `constructor`. */
const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['id', (fact, value, at) => Object.assign(fact, {id: value, idAt: at})],
  ['created', (fact, value) => Object.assign(fact, {created: value})],
  ['due', (fact, value) => Object.assign(fact, {due: value})],
  ['assigned', (fact, value) => Object.assign(fact, {assigned: value})],
  ['assign', (fact, value, at) => Object.assign(fact, {assign: value, assignAt: at})],
  ['depends_on', (fact, value, at) => Object.assign(fact, {waitsFor: [...new Set(idsIn(value))], waitsAt: at})],
  ['parent', (fact, value, at) => Object.assign(fact, {parent: value, parentAt: at})],
]);

function openTask(fact: TaskFact, text: string, task: Task): void {
  const {names, priority, parent} = task;
  const columnOf = (name: string) => Math.max(0, text.slice(task.start, task.headEnd).indexOf(`@${name}`)) + 1;
  fact.title = shortTitle(task.title);
  if (priority !== undefined) fact.priority = priority;
  if (names.length > 0) {
    fact.names = [...names];
    fact.columns = names.map(columnOf);
  } else {
    const late = /(?:^|\s)@([A-Za-z0-9][\w.-]*)/.exec(task.title)?.[1];
    if (late !== undefined) fact.late = {name: late, column: columnOf(late)};
  }
  const nested = parent && fieldOf(parent, 'id');
  if (nested !== undefined) fact.nested = nested;
}

function needOf({state, names, id, title, line, created}: TaskFact): Need[] {
  if (!names?.includes('human') || state === 'completed' || state === 'skipped') return [];
  return [{what: 'task', id: id ?? null, title: title ?? '', line, since: created ?? null, state}];
}
