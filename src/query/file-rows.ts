import {approvalRow, isUnrecorded, type Request} from '../check/approval-row.ts';
import type {Facts} from '../check/facts.ts';
import {parseFile} from '../check/parse-file.ts';
import {type TaskRow, taskRow} from '../check/rows.ts';
import {stemOf} from '../formats/common/key.ts';
import {fieldOf, type Task, taintIn} from '../formats/task/task.ts';
import {columnsOf, type Row, type TableName} from './tables.ts';

/** A row of a file, before other files are considered. */
export interface FileRow {
  table: TableName;
  line: number;
  row: Row;
  /** For a task: `row`, with columns that depend on other files. */
  task?: TaskRow;
  /** Id of a request that is undecided in the queue; its page may decide it. */
  open?: string;
  /** External sources of its words, if any. */
  taint?: readonly string[];
}

/** Pure; must not throw. Rows for tasks and notes; for the approval queue and its archive, requests. */
export function taskFileRows(path: string, text: string): FileRow[] {
  const parsed = parseFile(path, text);
  if (parsed?.kind === 'tasks') return parsed.file.tasks.flatMap(task => [taskOf(path, task), ...notesOf(path, task)]);
  if (parsed?.kind !== 'queue') return [];
  return parsed.file.items.flatMap(item =>
    item.id === undefined ? [] : [approvalOf({...item, id: item.id, path} satisfies Request)],
  );
}

const columns: ReadonlySet<string> = new Set(columnsOf.tasks);

function taskOf(path: string, task: Task): FileRow {
  const row = taskRow(path, task);
  const further: Record<string, string> = {};
  for (const {key, value} of task.fields) if (!columns.has(key) || key === 'fields') further[key] ??= value;
  row.fields = Object.keys(further).length > 0 ? JSON.stringify(further) : null;
  return {table: 'tasks', line: task.line, row, task: row, ...taintOf(task)};
}

function notesOf(path: string, task: Task): FileRow[] {
  const id = fieldOf(task, 'id') ?? null;
  return task.notes.map(({time, who, text, line}) => ({
    table: 'notes',
    line,
    row: {task: id, file: path, line, time: time ?? null, who: who?.replace(/^@/, '') ?? null, text},
    ...taintOf(task),
  }));
}

function taintOf(task: Task): Pick<FileRow, 'taint'> {
  const taint = taintIn(task);
  return taint.length > 0 ? {taint} : {};
}

function approvalOf(request: Request): FileRow {
  const open = isUnrecorded(request) && request.decision === undefined;
  const row = approvalRow(request, () => undefined);
  return {table: 'approvals', line: row.line, row: {...row}, ...(open && {open: request.id}), ...taintOf(request.task)};
}

export function sessionFileRows(path: string, {session, counts}: Facts): FileRow[] {
  if (session?.segment) return [];
  const row: Row = {
    id: session?.id ?? stemOf(path),
    agent: session?.agent ?? null,
    status: session ? (session.status ?? 'new') : 'wrong',
    created: session?.created ?? null,
    updated: session?.updated ?? null,
    shared: session?.shared ?? false,
    file: path,
    messages: counts.messages ?? 0,
  };
  return [{table: 'sessions', line: 1, row}];
}
