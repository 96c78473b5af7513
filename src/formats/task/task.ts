import type {Problem} from '../common/diagnostic.ts';

export const taskStates = ['pending', 'in_progress', 'completed', 'blocked', 'skipped'] as const;
export type TaskState = (typeof taskStates)[number];

/** Character between the brackets of a box. */
export type Box = ' ' | '_' | '/' | 'x' | 'X' | '-' | '!';

export const stateOfBox: Record<Box, TaskState> = {
  ' ': 'pending',
  _: 'pending',
  '/': 'in_progress',
  x: 'completed',
  X: 'completed',
  '-': 'skipped',
  '!': 'blocked',
};

export const boxOfState: Record<TaskState, Box> = {
  pending: ' ',
  in_progress: '/',
  completed: 'x',
  blocked: '!',
  skipped: '-',
};

export type Priority = 'A' | 'B' | 'C' | 'D';

const priorityNames: ReadonlyMap<string, Priority> = new Map([
  ['high', 'A'],
  ['medium', 'B'],
  ['low', 'C'],
  ['A', 'A'],
  ['B', 'B'],
  ['C', 'C'],
  ['D', 'D'],
]);

/** `A` to `D`, or Lace's `high`, `medium`, `low`. */
export function priorityNamed(name: string): Priority | undefined {
  return priorityNames.get(name);
}

/** `key: value` beside the title or on its own line. Offsets refer to the file's text. */
export interface Field {
  key: string;
  /** Always text: a JSON string is decoded, a block loses its indentation. */
  value: string;
  line: number;
  column: number;
  /** Start of the key, start of the value, and its end (without line end). */
  start: number;
  valueStart: number;
  end: number;
  form: 'inline' | 'line' | 'block';
}

export interface Note {
  time: string | undefined;
  who: string | undefined;
  text: string;
  line: number;
}

export interface Task {
  line: number;
  /** Offset of its line, and column (from 0) of its dash. */
  start: number;
  column: number;
  /** Undefined for an item under `## TODO` without a box. */
  box: Box | undefined;
  /** Offset of the box (bracketed or bare), or of the place for one. */
  boxStart: number;
  bare: boolean;
  /** Located under `## TODO`. */
  inTodo: boolean;
  state: TaskState;
  /** The letter before the names, or the field `priority`. */
  priority: Priority | undefined;
  /** Names after @; the first is the assignee. */
  names: readonly string[];
  tags: readonly string[];
  /** What is written behind names and tags, or the field `title`; empty if there is neither. */
  title: string;
  fields: readonly Field[];
  /** Value of the first field of that name; cheap, because other fields are not created. */
  value(key: string): string | undefined;
  notes: readonly Note[];
  parent: Task | undefined;
  children: readonly Task[];
  /** Ends (without line ends) of the head line, the fields, the notes, and the last line including children. */
  headEnd: number;
  fieldsEnd: number;
  notesEnd: number | undefined;
  end: number;
  /** White space before its fields, as written; undefined if it has none. */
  fieldIndent: string | undefined;
  noteIndent: string | undefined;
  /** White space before its `notes:`. */
  notesKey: string;
  /** Has field-like lines in another column: prose, but fields if the first field were removed. */
  strays: boolean;
}

export interface TaskFile {
  text: string;
  tasks: readonly Task[];
  problems: Problem[];
  /** End of the last non-blank line in `## TODO`, if that section exists. */
  todoEnd: number | undefined;
}

/** Fields with a meaning; duplicates in a task are errors. Other fields are kept as they are. */
export const knownFields: ReadonlySet<string> = new Set(
  [
    'title priority id created created_by prompt description depends_on parent due approval_required assign assigned started completed result status notes',
    'created_in attempt notified parts_done mentioned informed withdrawn approval chain stalled',
    'type approval_type agent session call task risk reason command digest expires always edited original taint',
    'approved_by approved_at rejected_by rejected_at rejection_reason executed_at outcome signature answer',
  ].flatMap(line => line.split(' ')),
);

export function fieldOf(task: Task, key: string): string | undefined {
  return task.value(key);
}

/** Ids in a field such as depends_on, separated by commas or white space. */
export function idsIn(value: string | undefined): string[] {
  return (value ?? '').split(/[\s,]+/).filter(Boolean);
}

/** Id of its parent: the field `parent`, or the enclosing task. */
export function parentId(task: Task): string | undefined {
  return fieldOf(task, 'parent') ?? (task.parent && fieldOf(task.parent, 'id'));
}

/** Value of the field `taint`: one source per line, because sources may contain commas. */
export function taintText(sources: readonly string[]): string {
  return sources.map(source => source.replace(/\s+/g, ' ')).join('\n');
}

export function taintIn(task: Task): string[] {
  return (fieldOf(task, 'taint') ?? '').split('\n').filter(Boolean);
}

export function stringifyTasks(file: TaskFile): string {
  return file.text;
}
