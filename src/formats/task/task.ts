import type {Problem} from '../common/diagnostic.ts';

export const taskStates = ['pending', 'in_progress', 'completed', 'blocked', 'skipped'] as const;
export type TaskState = (typeof taskStates)[number];

/** What stands between the brackets of a box. */
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

/** `key: value`, beside the title or on a line of its own. Offsets are into the file's text. */
export interface Field {
  key: string;
  /** Never coerced: always the text, a JSON string decoded, a block without its indentation. */
  value: string;
  line: number;
  column: number;
  /** Where the key begins, where the value begins, and where it ends (line end not included). */
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
  /** Offset of its line, and the column (from 0) of its dash. */
  start: number;
  column: number;
  /** Undefined for an item under `## TODO` that has none. */
  box: Box | undefined;
  /** Offset of the box (bracketed or bare), or of the place where one would go. */
  boxStart: number;
  bare: boolean;
  /** It stands under `## TODO`. */
  inTodo: boolean;
  state: TaskState;
  priority: Priority | undefined;
  /** Names after @, the assignee first. */
  names: readonly string[];
  tags: readonly string[];
  title: string;
  fields: readonly Field[];
  /** Of its first field of that name; cheap, since the others are not made for it. */
  value(key: string): string | undefined;
  notes: readonly Note[];
  parent: Task | undefined;
  children: readonly Task[];
  /** Ends (line ends not included) of its head line, its fields, its notes, and its last line with all its children. */
  headEnd: number;
  fieldsEnd: number;
  notesEnd: number | undefined;
  end: number;
  /** White space before its fields, as the person wrote it; undefined if it has none. */
  fieldIndent: string | undefined;
  noteIndent: string | undefined;
  /** White space before its `notes:`. */
  notesKey: string;
  /** It has lines like fields in another column: prose, but fields if the first field went. */
  strays: boolean;
}

export interface TaskFile {
  text: string;
  tasks: readonly Task[];
  problems: Problem[];
  /** End of the last line with anything on it in `## TODO`, if there is such a section. */
  todoEnd: number | undefined;
}

/** Fields with a meaning; a second one in the same task is an error, others are kept as they are. */
export const knownFields: ReadonlySet<string> = new Set(
  [
    'id created created_by prompt description depends_on parent due approval_required assign assigned started completed result status notes',
    'created_in attempt notified parts_done mentioned approval chain stalled',
    'type approval_type agent session call task risk reason command digest expires always edited original taint',
    'approved_by approved_at rejected_by rejected_at rejection_reason executed_at outcome signature answer',
  ].flatMap(line => line.split(' ')),
);

export function fieldOf(task: Task, key: string): string | undefined {
  return task.value(key);
}

/** Ids in a comma separated field such as depends_on. */
export function idsIn(value: string | undefined): string[] {
  return (value ?? '').split(/[\s,]+/).filter(Boolean);
}

/** The id it names as its parent, or that of the task it is nested under. */
export function parentId(task: Task): string | undefined {
  return fieldOf(task, 'parent') ?? (task.parent && fieldOf(task.parent, 'id'));
}

export function stringifyTasks(file: TaskFile): string {
  return file.text;
}
