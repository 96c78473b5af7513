import {Script} from 'node:vm';
import type {TableChange} from './row-index.ts';
import {type Selection, type SelectResult, SqlDatabase} from './sql-database.ts';
import {type LoadResult, type LostRunner, type SqlRunner, TIMED_OUT} from './sql-runner.ts';

/** What runs within a time, handed over by a name, since a script takes no arguments. */
const PLACE = Symbol.for('agentdir.sql');
const call = new Script("globalThis[Symbol.for('agentdir.sql')]()");

/**
 * SQLite in this thread, for a process that has nothing else to do: a thread takes a third of such a command's time to start.
 * While it works nothing else does, and no signal is listened to: only who leaves SIGINT alone can be ended by Ctrl-C.
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

/** Undefined: it did not end in time, and was ended in the middle of whatever it did. WebAssembly is ended, too. */
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
