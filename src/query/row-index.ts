import {type Others, standing, wordsIn} from '../check/rows.ts';
import type {FileRow} from './file-rows.ts';
import {type Cell, cellsOf, columnsOf, rowid, type TableName, tableNames} from './tables.ts';

/** Changes to a table: rows to remove, and rows to add or replace. */
export interface TableChange {
  table: TableName;
  remove: number[];
  put: (readonly [rowid: number, cells: Cell[], taint?: readonly string[]])[];
}

/** Facts from other files that rows depend on. */
export interface OtherRows extends Omit<Others, 'broken' | 'wrong'> {
  isBroken: (path: string) => boolean;
  /** Lines of the tasks with errors of their own. */
  wrongIn: (path: string) => ReadonlySet<number>;
  /** Decision on the page of a request, if that counts. */
  onPage: (id: string) => string | undefined;
}

/** Number of rows per part, so that others get their turn. */
const PART = 2_000;

interface Entry extends FileRow {
  key: number;
  file: IndexedFile;
}

interface IndexedFile {
  path: string;
  number: number;
  version: string;
  /** By table and line: see `placeOf`. */
  rows: Map<number, Entry>;
  broken: boolean;
  wrong: ReadonlySet<number>;
}

/** The rows of all files. A change costs its file, and tasks elsewhere that depend on tasks with a changed state. */
export class RowIndex {
  readonly #files = new Map<string, IndexedFile>();
  /** Tasks by the id that they depend on. */
  readonly #dependents = new Map<string, Set<Entry>>();
  /** Requests that only their page may have decided. */
  readonly #open = new Set<Entry>();
  /** Tasks to be derived again. */
  readonly #touched = new Set<Entry>();
  /** Changes since they were last taken. */
  readonly #put = new Set<Entry>();
  readonly #removed = new Set<Entry>();
  #next = 1;

  paths(): IterableIterator<string> {
    return this.#files.keys();
  }

  versionOf(path: string): string | undefined {
    return this.#files.get(path)?.version;
  }

  set(path: string, version: string, rows: readonly FileRow[]): void {
    const file = this.#files.get(path) ?? {
      path,
      number: this.#next++,
      version,
      rows: new Map(),
      broken: false,
      wrong: new Set(),
    };
    this.#files.set(path, file);
    file.version = version;
    const gone = new Map(file.rows);
    const now = new Map<number, Entry>();
    for (const found of rows) {
      const place = placeOf(found);
      const old = gone.get(place);
      const stays = old !== undefined && sameRow(old, found);
      if (stays) gone.delete(place);
      now.set(place, stays ? old : {...found, file, key: rowid(file.number, found.line)});
    }
    this.#replace(file, now, gone.values());
  }

  remove(path: string): void {
    const file = this.#files.get(path);
    if (!file) return;
    this.#files.delete(path);
    this.#replace(file, new Map(), [...file.rows.values()]);
  }

  /** Derive all tasks again, because possible assignees may have changed. */
  touchAll(): void {
    for (const {rows} of this.#files.values())
      for (const entry of rows.values()) if (entry.task) this.#touched.add(entry);
  }

  settle(others: OtherRows): void {
    for (const file of this.#files.values()) {
      if (!file.path.startsWith('tasks/')) continue;
      const broken = others.isBroken(file.path);
      const wrong = others.wrongIn(file.path);
      if (broken === file.broken && isSameSet(wrong, file.wrong)) continue;
      Object.assign(file, {broken, wrong});
      for (const entry of file.rows.values()) if (entry.task) this.#touched.add(entry);
    }
    for (const entry of this.#touched) this.#derive(entry, others);
    this.#touched.clear();
    for (const entry of this.#open) {
      const state = others.onPage(entry.open ?? '') ?? 'pending';
      if (state === entry.row.state) continue;
      entry.row.state = state;
      this.#put.add(entry);
    }
  }

  /** Changes since the last call. */
  takeChanges(): TableChange[] {
    const changes = changesOf(this.#put, this.#removed);
    this.#put.clear();
    this.#removed.clear();
    return changes;
  }

  /** All rows, in parts of bounded size; clears the changes. */
  *takeAll(): Generator<TableChange[]> {
    this.#put.clear();
    this.#removed.clear();
    let part: Entry[] = [];
    for (const {rows} of this.#files.values())
      for (const entry of rows.values()) {
        part.push(entry);
        if (part.length < PART) continue;
        yield changesOf(part);
        part = [];
      }
    yield changesOf(part);
  }

  #replace(file: IndexedFile, now: Map<number, Entry>, gone: Iterable<Entry>): void {
    const before = file.rows;
    file.rows = now;
    for (const entry of gone) {
      this.#forget(entry);
      this.#put.delete(entry);
      this.#removed.add(entry);
    }
    for (const [place, entry] of now) {
      if (before.get(place) === entry) continue;
      this.#enter(entry);
      this.#put.add(entry);
    }
    const states = {before: statesIn(before.values()), after: statesIn(now.values())};
    for (const [id, state] of states.after) if (states.before.get(id) !== state) this.#touchDependents(id);
    for (const id of states.before.keys()) if (!states.after.has(id)) this.#touchDependents(id);
  }

  #enter(entry: Entry): void {
    if (entry.open !== undefined) this.#open.add(entry);
    if (!entry.task) return;
    this.#touched.add(entry);
    for (const id of wordsIn(entry.task.depends_on)) {
      const waiting = this.#dependents.get(id);
      if (waiting) waiting.add(entry);
      else this.#dependents.set(id, new Set([entry]));
    }
  }

  #forget(entry: Entry): void {
    this.#open.delete(entry);
    this.#touched.delete(entry);
    for (const id of wordsIn(entry.task?.depends_on ?? null)) {
      const waiting = this.#dependents.get(id);
      waiting?.delete(entry);
      if (waiting?.size === 0) this.#dependents.delete(id);
    }
  }

  #touchDependents(id: string): void {
    for (const entry of this.#dependents.get(id) ?? []) this.#touched.add(entry);
  }

  #derive(entry: Entry, others: OtherRows): void {
    const {task} = entry;
    if (!task) return;
    const {stateOf, names} = others;
    const {ready, blocked_by} = standing(task, {
      ...{stateOf, names},
      ...{broken: entry.file.broken, wrong: entry.file.wrong},
    });
    if (task.ready === ready && task.blocked_by === blocked_by) return;
    Object.assign(task, {ready, blocked_by});
    this.#put.add(entry);
  }
}

function isSameSet(a: ReadonlySet<number>, b: ReadonlySet<number>): boolean {
  return a.size === b.size && [...a].every(each => b.has(each));
}

/** Unique for each line and table. */
function placeOf({line, table}: FileRow): number {
  return line * tableNames.length + tableNames.indexOf(table);
}

/** State of each task by id; the first wins for duplicates. */
function statesIn(entries: Iterable<Entry>): Map<string, string> {
  const states = new Map<string, string>();
  for (const {task} of entries) if (task && task.id !== null && !states.has(task.id)) states.set(task.id, task.state);
  return states;
}

/** Ignores derived columns: `ready` and `blocked_by` of tasks, `state` of open requests. */
function sameRow(old: FileRow, found: FileRow): boolean {
  if (old.open !== found.open || old.taint?.join('\n') !== found.taint?.join('\n')) return false;
  const derived = old.task ? DERIVED : old.open === undefined ? NONE : OPEN;
  return columnsOf[old.table].every(
    column => (old.row[column] ?? null) === (found.row[column] ?? null) || derived.has(column),
  );
}

const NONE: ReadonlySet<string> = new Set();
const DERIVED: ReadonlySet<string> = new Set(['ready', 'blocked_by']);
const OPEN: ReadonlySet<string> = new Set(['state']);

/** A put replaces the existing row. */
function changesOf(put: Iterable<Entry>, removed: Iterable<Entry> = []): TableChange[] {
  const byTable = new Map(
    tableNames.map(table => [table, {put: new Map<number, TableChange['put'][number]>(), remove: new Set<number>()}]),
  );
  for (const {table, key, row, taint} of put) {
    const cells = cellsOf(table, row);
    byTable.get(table)?.put.set(key, taint ? [key, cells, taint] : [key, cells]);
  }
  for (const {table, key} of removed) {
    const change = byTable.get(table);
    if (change && !change.put.has(key)) change.remove.add(key);
  }
  return [...byTable].flatMap(([table, {put, remove}]) =>
    put.size + remove.size === 0 ? [] : [{table, remove: [...remove], put: [...put.values()]}],
  );
}
