import {translate} from './dialect.ts';
import {HomeRows, type HomeSource} from './home-rows.ts';
import type {QueryLimits} from './sql-database.ts';
import type {SqlRunner} from './sql-runner.ts';
import {hintFor} from './sql-words.ts';
import type {Cell} from './tables.ts';

export interface QueryRows {
  columns: string[];
  rows: Record<string, Cell>[];
  more: boolean;
  cut: boolean;
  taint?: readonly string[];
}

/** `wrong`: what was asked cannot be. `slow`: it took too long. */
export interface QueryFailure {
  failed: 'wrong' | 'slow' | 'broken';
  error: string;
  hint?: string | undefined;
}

export interface QueryOptions {
  most: QueryLimits;
  mostMs?: number;
  signal?: AbortSignal;
  /** Say what from outside led to words in the answer. */
  taint?: boolean;
}

/** A hostile query takes a core for so long, and no longer. */
const MOST_MS = 2_000;
const MAX_SQL = 100_000;
/** After this long without a query the thread is not kept. */
const IDLE_MS = 10 * 60_000;
const DONE = {done: true} as const;

/**
 * SQL over the tasks, notes, approvals and sessions of a home. The rows are derived from the files, and kept: the first
 * query reads all task files, a later one those that are others. One at a time.
 */
export class TaskQuery {
  readonly #rows = new HomeRows();
  #thread: SqlRunner | undefined;
  /** One that has no rows yet. */
  #ahead: SqlRunner | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** With a runner that was made before, SQLite gets ready in it while whoever will ask does something else. */
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
    await this.#rows.sync(source);
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
    // SQLite does not give back what it has taken.
    if (selected.error === 'out of memory') this.close();
    return {failed: 'wrong', error: selected.error, hint: hintFor(selected.error)};
  }

  /** A thread that has all rows: one that is there gets what has changed. */
  async #load(): Promise<SqlRunner | QueryFailure> {
    const known = this.#thread?.ended === false ? this.#thread : undefined;
    // A file of its own in the bundle, too: the thread runs it.
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
