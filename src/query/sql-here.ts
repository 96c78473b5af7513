import {Script} from 'node:vm';
import type {TableChange} from './row-index.ts';
import {type Selection, type SelectResult, SqlDatabase} from './sql-database.ts';
import {type LoadResult, type LostRunner, type SqlRunner, TIMED_OUT} from './sql-runner.ts';

/** The function to run with a time limit; passed by name, because a script takes no arguments. */
const PLACE = Symbol.for('agentdir.sql');
const call = new Script("globalThis[Symbol.for('agentdir.sql')]()");

/**
 * SQLite in this thread, for a process with nothing else to do: starting a thread would take a third of such a
 * command's time. It blocks everything else, including signal handlers: Ctrl-C works only with the default SIGINT
 * handling.
 */
export class SqlHere implements SqlRunner {
  readonly #opening: Promise<SqlDatabase>;
  ended = false;

  /** V8 compiles SQLite in the background meanwhile. */
  constructor() {
    this.#opening = SqlDatabase.open();
    this.#opening.catch(() => {});
  }

  async load(changes: readonly TableChange[]): Promise<LoadResult | LostRunner> {
    try {
      (await this.#opening).apply(changes);
      return {done: true};
    } catch (error) {
      return {error: error instanceof Error ? error.message : String(error)};
    }
  }

  async select(selection: Selection, mostMs: number): Promise<SelectResult | LostRunner> {
    const database = await this.#opening;
    const answer = within(mostMs, () => database.select(selection));
    if (answer !== undefined) return answer;
    this.ended = true;
    SqlDatabase.discardProgram();
    return TIMED_OUT;
  }

  close(): void {
    this.ended = true;
  }
}

/** Undefined: terminated after the time limit, at any point. Also terminates WebAssembly. */
function within<T>(mostMs: number, work: () => T): T | undefined {
  const place = globalThis as {[PLACE]?: () => T};
  place[PLACE] = work;
  try {
    return call.runInThisContext({timeout: mostMs}) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  } finally {
    delete place[PLACE];
  }
}
