import {createRequire} from 'node:module';
import type {TableChange} from './row-index.ts';
import {type Cell, columnsOf, createTables} from './tables.ts';
import {TaintedRows, wordsOnlyIn} from './tainted-rows.ts';

/** The part of sql.js that we use. */
interface SqlJs {
  Database: new () => Database;
}

interface Database {
  run(sql: string): unknown;
  prepare(sql: string): Statement;
  iterateStatements(sql: string): Iterable<Statement>;
}

interface Statement {
  bind(values: unknown): boolean;
  step(): boolean;
  get(): (Cell | Uint8Array)[];
  getColumnNames(): string[];
  run(values: unknown): void;
  free(): void;
}

export interface QueryLimits {
  rows: number;
  /** In characters: all rows with their column names, and a single value. */
  text: number;
  cell: number;
}

export interface Selection {
  sql: string;
  values: Readonly<Record<string, string>>;
  most: QueryLimits;
  taint?: boolean;
}

export type SelectResult =
  | {
      columns: string[];
      rows: Record<string, Cell>[];
      /** `more`: there are rows beyond the limits; `cut`: values were shortened. */
      more: boolean;
      cut: boolean;
      /** External sources of words in the result; absent if there are none. */
      taint?: string[];
    }
  | {error: string};

/** Heap limit of SQLite: a query that needs more fails. */
const MOST_BYTES = 256 * 1024 * 1024;

const require = createRequire(import.meta.url);

/** An in-memory SQLite database without file access. Queries are not limited in time: see sql-thread.ts. */
export class SqlDatabase {
  readonly #db: Database;
  readonly #tainted = new TaintedRows();

  private constructor(db: Database) {
    this.#db = db;
    db.run(createTables());
    db.run(`PRAGMA temp_store = memory; PRAGMA hard_heap_limit = ${MOST_BYTES}; PRAGMA query_only = 1`);
  }

  static async open(): Promise<SqlDatabase> {
    // Not bundled: sql.js loads its .wasm file from its own folder.
    const load = require('sql.js') as () => Promise<SqlJs>;
    const {Database} = await load();
    return new SqlDatabase(new Database());
  }

  /** Reload SQLite for the next database: an interrupted one may have left its memory inconsistent. */
  static discardProgram(): void {
    delete require.cache[require.resolve('sql.js')];
  }

  apply(changes: readonly TableChange[]): void {
    this.#db.run('PRAGMA query_only = 0; BEGIN');
    for (const {table, remove, put} of changes) {
      const drop = this.#db.prepare(`DELETE FROM ${table} WHERE rowid = ?`);
      for (const key of remove) drop.run([key]);
      drop.free();
      const names = columnsOf[table].map(column => `"${column}"`);
      const places = names.map(() => '?').join(', ');
      const add = this.#db.prepare(
        `INSERT OR REPLACE INTO ${table} (rowid, ${names.join(', ')}) VALUES (?, ${places})`,
      );
      for (const [key, cells] of put) add.run([key, ...cells]);
      add.free();
    }
    this.#db.run('COMMIT; PRAGMA query_only = 1');
    this.#tainted.apply(changes);
  }

  /** Never throws. `sql` must begin with SELECT, WITH or VALUES. It cannot write, whatever it says. */
  select(selection: Selection): SelectResult {
    const selected = this.#select(selection);
    if ('error' in selected || !selection.taint || this.#tainted.none) return selected;
    const without = this.#withoutTainted(() => this.#select(selection));
    const words = wordsOnlyIn(selected.rows, 'error' in without ? [] : without.rows);
    return words.length > 0 ? {...selected, taint: this.#tainted.sourcesOf(words)} : selected;
  }

  #withoutTainted(ask: () => SelectResult): SelectResult {
    try {
      this.#db.run('PRAGMA query_only = 0; BEGIN');
      for (const [table, keys] of this.#tainted.keys()) {
        const drop = this.#db.prepare(`DELETE FROM ${table} WHERE rowid = ?`);
        for (const key of keys) drop.run([key]);
        drop.free();
      }
      this.#db.run('PRAGMA query_only = 1');
      return ask();
    } finally {
      this.#db.run('ROLLBACK; PRAGMA query_only = 1');
    }
  }

  #select({sql, values, most}: Selection): SelectResult {
    let selected: SelectResult | undefined;
    try {
      for (const statement of this.#db.iterateStatements(sql)) {
        if (selected) return {error: 'one statement only'};
        const columns = distinct(statement.getColumnNames());
        if (columns.length === 0) return {error: 'only SELECT can be asked'};
        statement.bind(values);
        selected = rowsOf(statement, columns, most);
      }
      return selected ?? {error: 'it contains no statement'};
    } catch (error) {
      return {error: error instanceof Error ? error.message : String(error)};
    }
  }
}

function rowsOf(statement: Statement, columns: string[], most: QueryLimits): SelectResult {
  const rows: Record<string, Cell>[] = [];
  let text = 0;
  let cut = false;
  while (statement.step()) {
    if (rows.length >= most.rows || text > most.text) return {columns, rows, more: true, cut};
    const cells = statement.get().map((value, i) => {
      const cell = value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
      const length = typeof cell === 'string' ? cell.length : NUMBER;
      text += Math.min(length, most.cell) + (columns[i]?.length ?? 0);
      if (typeof cell !== 'string' || length <= most.cell) return cell;
      cut = true;
      return `${cell.slice(0, most.cell)}…`;
    });
    rows.push(Object.fromEntries(columns.map((column, i) => [column, cells[i] ?? null])));
  }
  return {columns, rows, more: false, cut};
}

/** Approximate length of a number, in characters. */
const NUMBER = 8;

/** An unnamed expression is named by its text, which may be long. */
const LONGEST_NAME = 60;

/** Add a number to repeated column names. */
function distinct(names: readonly string[]): string[] {
  const seen = new Set<string>();
  return names.map(whole => {
    const name = whole.length > LONGEST_NAME ? `${whole.slice(0, LONGEST_NAME - 1)}…` : whole;
    let free = name;
    for (let n = 2; seen.has(free); n++) free = `${name}_${n}`;
    seen.add(free);
    return free;
  });
}
