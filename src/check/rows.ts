import {fieldOf, idsIn, parentId, type Task, type TaskFile, type TaskState} from '../files/task.ts';
import type {Home} from './home.ts';
import {isAgent, isKnown, type Names} from './names.ts';

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

/** `broken` are the files with errors: nothing in them is acted on, so nothing in them is ready. */
export function taskRows(home: Home, names: Names, broken: ReadonlySet<string>): TaskRow[] {
  const byId = tasksById(home.tasks);
  return home.tasks.flatMap(({path, file}) => file.tasks.map(task => rowOf(path, task, byId, names, broken.has(path))));
}

/** Tasks of all files by id; the first wins where an id is doubled. */
function tasksById(files: readonly {file: TaskFile}[]): Map<string, Task> {
  const byId = new Map<string, Task>();
  for (const {file} of files) {
    for (const task of file.tasks) {
      const id = fieldOf(task, 'id');
      if (id !== undefined && !byId.has(id)) byId.set(id, task);
    }
  }
  return byId;
}

function rowOf(path: string, task: Task, byId: ReadonlyMap<string, Task>, names: Names, broken: boolean): TaskRow {
  const field = (key: string) => fieldOf(task, key) ?? null;
  const dependencies = idsIn(fieldOf(task, 'depends_on'));
  const blockers = dependencies.filter(id => byId.get(id)?.state !== 'completed');
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
    depends_on: joined(dependencies),
    ready: !broken && isReady(task, blockers, names),
    blocked_by: joined(blockers),
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

/** Pending, every dependency completed, and its assignee a known agent. */
function isReady(task: Task, blockers: readonly string[], names: Names): boolean {
  if (task.state !== 'pending' || blockers.length > 0) return false;
  const assign = /^new:(\S+)$/.exec(fieldOf(task, 'assign') ?? '')?.[1];
  if (assign !== undefined) return assign.includes('/') || names.hasAgent(assign);
  return task.names.some(name => isAgent(name, names)) && task.names.every(name => isKnown(name, names));
}

function joined(words: readonly string[]): string | null {
  return words.length > 0 ? words.join(' ') : null;
}
