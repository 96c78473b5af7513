import {nearest} from '../formats/common/diagnostic.ts';
import {translate} from './dialect.ts';
import {HomeRows, type HomeSource} from './home-rows.ts';
import type {QueryLimits} from './sql-database.ts';
import type {SqlRunner} from './sql-runner.ts';
import {type Cell, columnsOf, namesTalk, tableNames} from './tables.ts';

export interface QueryRows {
  columns: string[];
  rows: Record<string, Cell>[];
  more: boolean;
  cut: boolean;
  taint?: readonly string[];
}

/** `wrong`: invalid query. `slow`: it took too long. */
export interface QueryFailure {
  failed: 'wrong' | 'slow' | 'broken';
  error: string;
  hint?: string | undefined;
}

export interface QueryOptions {
  most: QueryLimits;
  mostMs?: number;
  signal?: AbortSignal;
  /** Report external sources of words in the result. */
  taint?: boolean;
}

/** Limits how long a hostile query can occupy a core. */
const MOST_MS = 2_000;
const MAX_SQL = 100_000;
/** The thread is closed after this time without queries. */
const IDLE_MS = 10 * 60_000;
const DONE = {done: true} as const;

/**
 * SQL over the tasks, notes, approvals and sessions of a home, and what stands in the sessions. Derives rows from the files and keeps them: the first
 * query reads all task files, later ones only changed files. One query at a time.
 */
export class TaskQuery {
  readonly #rows = new HomeRows();
  #thread: SqlRunner | undefined;
  /** A runner without rows yet. */
  #ahead: SqlRunner | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** `ahead`: a runner created earlier, so that SQLite loads while the caller does something else. */
  constructor(ahead?: SqlRunner) {
    this.#ahead = ahead;
  }

  /** Never throws, unless the source does. */
  ask(source: HomeSource, text: string, options: QueryOptions): Promise<QueryRows | QueryFailure> {
    const answer = this.#last.then(() => this.#ask(source, text, options));
    this.#last = answer.catch(() => {});
    return answer;
  }

  close(): void {
    clearTimeout(this.#idle);
    this.#thread?.close();
    this.#ahead?.close();
    this.#thread = undefined;
    this.#ahead = undefined;
  }

  async #ask(
    source: HomeSource,
    text: string,
    {most, mostMs = MOST_MS, signal, taint = false}: QueryOptions,
  ): Promise<QueryRows | QueryFailure> {
    if (text.length > MAX_SQL) return {failed: 'wrong', error: `it is longer than ${MAX_SQL} characters`};
    await this.#rows.sync(source, namesTalk(text));
    const translated = translate(text, this.#rows.taskFiles());
    const thread = await this.#load();
    if ('failed' in thread) return thread;
    if ('problem' in translated) return {failed: 'wrong', error: translated.problem, hint: translated.hint};
    const selected = await thread.select({...translated, most, taint}, mostMs, signal);
    if ('lost' in selected) {
      this.close();
      const hint = selected.late ? 'ask for less: fewer tables at a time, or a narrower WHERE' : undefined;
      const after = selected.late ? ` after ${mostMs / 1000} s` : '';
      return {failed: selected.late ? 'slow' : 'broken', error: selected.lost + after, hint};
    }
    if (!('error' in selected)) return selected;
    // SQLite does not release its memory.
    if (selected.error === 'out of memory') this.close();
    return {failed: 'wrong', error: selected.error, hint: hintFor(selected.error)};
  }

  /** A runner with all rows; an existing one gets the changes. */
  async #load(): Promise<SqlRunner | QueryFailure> {
    const known = this.#thread?.ended === false ? this.#thread : undefined;
    // A separate chunk in the bundle too: the thread runs it.
    const thread = known ?? this.#ahead ?? new (await import('./sql-thread.ts')).SqlThread();
    this.#thread = thread;
    this.#ahead = undefined;
    this.#rest();
    for (const changes of known ? [this.#rows.takeChanges()] : this.#rows.takeAll()) {
      const loaded = changes.length === 0 ? DONE : await thread.load(changes);
      if ('done' in loaded) continue;
      this.close();
      return {failed: 'broken', error: 'lost' in loaded ? loaded.lost : loaded.error};
    }
    return thread;
  }

  #rest(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.close(), IDLE_MS).unref();
  }
}

const schema = tableNames.map(name => `${name}(${columnsOf[name].join(', ')})`).join('; ');
const columns = [...new Set(tableNames.flatMap(name => columnsOf[name]))];

function hintFor(error: string): string | undefined {
  const [, what, name = ''] = /^no such (table|column): (.*)$/s.exec(error) ?? [];
  if (what === undefined) return undefined;
  const word = name.slice(name.lastIndexOf('.') + 1);
  const near = nearest(word.toLowerCase(), what === 'table' ? tableNames : columns);
  if (what === 'table') return `${near ? `did you mean ${near}? ` : ''}There are ${tableNames.join(', ')}`;
  return `${near ? `did you mean ${near}? ` : ''}There are ${schema}. Other fields of tasks: fields ->> 'name'`;
}
