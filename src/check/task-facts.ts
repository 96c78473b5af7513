import type {Place} from '../formats/common/diagnostic.ts';
import {type CausedBy, causedInTasks} from '../formats/session/causes.ts';
import {chainIn} from '../formats/session/chain.ts';
import {fieldOf, idsIn, type Priority, type Task, type TaskFile, type TaskState} from '../formats/task/task.ts';
import {isGated} from '../formats/task/task-approval.ts';
import {type Need, shortTitle} from './need.ts';

/** Facts about a task. A closed task has only line, state, id, parent, chain and gated. */
export interface TaskFact {
  line: number;
  state: TaskState;
  id?: string;
  idAt?: Place;
  title?: string;
  priority?: Priority;
  created?: string;
  due?: string;
  /** Assignees, and the column of each in the line. */
  names?: string[];
  columns?: number[];
  assign?: string;
  assignAt?: Place;
  assigned?: string;
  /** Id of the request to start the task. */
  approval?: string;
  /** Needs a person's approval to start, and is not delivered: `isGated`. */
  gated?: true;
  waitsFor?: string[];
  waitsAt?: Place;
  /** The field `parent`; `nested` is the id of the enclosing task. */
  parent?: string;
  parentAt?: Place;
  nested?: string;
  /** Outside text led to the task. */
  tainted?: true;
  /** Number of the attempt, from 2 on. */
  attempt?: string;
  /** Creator, and the session in which it was created. */
  createdBy?: string;
  createdIn?: string;
  /** The chain of messages that led to the task or its end: see `chainIn`. */
  chain?: string;
  /** Session in which the agent works on the task. */
  session?: string;
  sessionAt?: Place;
  /** When the task stalled. */
  stalled?: string;
  /** A mention in the title of an unassigned task. */
  late?: {name: string; column: number};
}

export function isOpenState(state: string | null): boolean {
  return state === 'pending' || state === 'in_progress' || state === 'blocked';
}

interface TaskFileFacts {
  counts: {tasks: number};
  needs: Need[];
  tasks: TaskFact[];
  causes?: CausedBy;
}

export function taskFacts({text, tasks}: TaskFile): TaskFileFacts {
  const facts = tasks.map(task => factOf(text, task));
  const causes = causedInTasks(facts.flatMap(({chain}) => chainIn(chain)?.chain ?? []));
  return {
    counts: {tasks: tasks.length},
    needs: facts.flatMap(needOf),
    tasks: facts,
    ...(causes && {causes}),
  };
}

function factOf(text: string, task: Task): TaskFact {
  const {line, state} = task;
  const fact: TaskFact = {line, state};
  const open = isOpenState(state);
  if (open) openTask(fact, text, task);
  if (isGated(task)) fact.gated = true;
  const nested = task.parent && fieldOf(task.parent, 'id');
  if (nested !== undefined) fact.nested = nested;
  const seen = new Set<string>();
  for (const field of task.fields) {
    const read = readers.get(field.key);
    // The first field of a name counts.
    if (!read || (!open && !closedFields.has(field.key)) || seen.size === seen.add(field.key).size) continue;
    read(fact, field.value, {line: field.line, column: field.column});
  }
  return fact;
}

/** Fields that facts of closed tasks keep. */
const closedFields: ReadonlySet<string> = new Set(['id', 'parent', 'chain']);

type Reader = (fact: TaskFact, value: string, at: Place) => void;

/** A Map, because a field may be called `constructor`. */
const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['id', (fact, value, at) => Object.assign(fact, {id: value, idAt: at})],
  ['created', (fact, value) => Object.assign(fact, {created: value})],
  ['due', (fact, value) => Object.assign(fact, {due: value})],
  ['assigned', (fact, value) => Object.assign(fact, {assigned: value})],
  ['approval', (fact, value) => Object.assign(fact, {approval: value})],
  ['attempt', (fact, value) => Object.assign(fact, {attempt: value})],
  ['created_by', (fact, value) => Object.assign(fact, {createdBy: value.replace(/^@/, '')})],
  ['created_in', (fact, value) => Object.assign(fact, {createdIn: value})],
  ['chain', (fact, value) => Object.assign(fact, {chain: value})],
  ['session', (fact, value, at) => Object.assign(fact, {session: value, sessionAt: at})],
  ['stalled', (fact, value) => Object.assign(fact, {stalled: value})],
  ['assign', (fact, value, at) => Object.assign(fact, {assign: value, assignAt: at})],
  ['depends_on', (fact, value, at) => Object.assign(fact, {waitsFor: [...new Set(idsIn(value))], waitsAt: at})],
  ['taint', fact => Object.assign(fact, {tainted: true})],
  ['parent', (fact, value, at) => Object.assign(fact, {parent: value, parentAt: at})],
]);

function openTask(fact: TaskFact, text: string, task: Task): void {
  const {names, priority} = task;
  const columnOf = (name: string) => Math.max(0, text.slice(task.start, task.headEnd).indexOf(`@${name}`)) + 1;
  fact.title = shortTitle(task.title);
  if (priority !== undefined) fact.priority = priority;
  if (names.length > 0) {
    fact.names = [...names];
    fact.columns = names.map(columnOf);
  } else {
    const mention = /(?:^|\s)@([A-Za-z0-9][\w.-]*)/.exec(task.title)?.[1];
    if (mention !== undefined) fact.late = {name: mention, column: columnOf(mention)};
  }
}

function needOf(fact: TaskFact): Need[] {
  const {state, names, id, title, line} = fact;
  const since = names?.[0] === 'human' ? undefined : stalledSince(fact);
  if (since !== undefined && (state === 'in_progress' || state === 'blocked'))
    return [{what: 'stalled', id: id ?? null, title: title ?? '', line, since, state}];
  const own = names?.includes('human') ? needFor(fact) : undefined;
  if (own) return [own];
  const session = sessionAtWork(fact);
  if (session === undefined) return [];
  return [
    {what: 'stalled', id: id ?? null, title: title ?? '', line, since: null, state: 'in_progress', left: session},
  ];
}

/** The need of an open task whose first assignee is this person. */
export function taskNeed(fact: TaskFact, who: string): Need | undefined {
  const need = fact.names?.[0] === who && !fact.names.includes('human') ? needFor(fact) : undefined;
  return need && {...need, who};
}

function needFor({state, id, title, line, created, waitsFor = []}: TaskFact): Need | undefined {
  if (state === 'completed' || state === 'skipped') return undefined;
  const after = state === 'pending' && waitsFor.length > 0 && {after: waitsFor};
  return {what: 'task', id: id ?? null, title: title ?? '', line, since: created ?? null, state, ...after};
}

/** The session that works on the task. Undefined for agents of another home or a workflow, whose sessions are elsewhere. */
export function sessionAtWork({state, names: [name = ''] = [], stalled, session}: TaskFact): string | undefined {
  const isOurs = name !== 'human' && !/[/@]/.test(name);
  return state === 'in_progress' && stalled === undefined && isOurs ? session : undefined;
}

/** Since when only a person can move the task. A blocked task created by an agent is reported to that agent instead. */
function stalledSince({state, stalled, assigned, createdIn}: TaskFact): string | undefined {
  if (state === 'in_progress') return stalled;
  return state === 'blocked' && createdIn === undefined ? assigned : undefined;
}
