import {parentPort, Worker, workerData} from 'node:worker_threads';
import type {TableChange} from './row-index.ts';
import type {Selection, SelectResult, SqlDatabase} from './sql-database.ts';
import type {LoadResult, LostRunner, SqlRunner} from './sql-runner.ts';

const MARK = 'agentdir-sql';
const MOST_MB = 512;
/** Time limit for loading all rows of a large home. */
const LOAD_MS = 60_000;

type Work = {changes: readonly TableChange[]} | {selection: Selection};
type Answer = SelectResult | LoadResult;

/** SQLite in a thread of its own, which is terminated after the time limit of a query. One request at a time. */
export class SqlThread implements SqlRunner {
  readonly #thread: Worker;
  #answer: ((answer: Answer | LostRunner) => void) | undefined;
  ended = false;

  constructor() {
    // Node cannot load the TypeScript source in a worker: tests run the built file.
    const file = import.meta.url.replace(/\/src\/query\/sql-thread\.ts$/, '/bin/chunks/sql-thread.js');
    this.#thread = new Worker(new URL(file), {
      workerData: MARK,
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: {maxOldGenerationSizeMb: MOST_MB},
    });
    this.#thread.unref();
    this.#thread.on('message', (answer: Answer) => this.#answer?.(answer));
    this.#thread.on('error', error => this.#end({lost: error.message, late: false}));
    this.#thread.on('exit', () => this.#end({lost: 'the thread that runs SQL ended', late: false}));
  }

  load(changes: readonly TableChange[]): Promise<LoadResult | LostRunner> {
    return this.#ask({changes}, LOAD_MS) as Promise<LoadResult | LostRunner>;
  }

  select(selection: Selection, mostMs: number, signal?: AbortSignal): Promise<SelectResult | LostRunner> {
    return this.#ask({selection}, mostMs, signal) as Promise<SelectResult | LostRunner>;
  }

  close(): void {
    this.#end({lost: 'it was closed', late: false});
  }

  #ask(work: Work, mostMs: number, signal?: AbortSignal): Promise<Answer | LostRunner> {
    return new Promise(resolve => {
      const late = () => this.#end({lost: 'it took too long and was stopped', late: true});
      const stop = () => this.#end({lost: 'it was stopped', late: false});
      const timer = setTimeout(late, mostMs);
      signal?.addEventListener('abort', stop);
      this.#thread.ref();
      this.#answer = answer => {
        this.#answer = undefined;
        clearTimeout(timer);
        signal?.removeEventListener('abort', stop);
        this.#thread.unref();
        resolve(answer);
      };
      if (this.ended || signal?.aborted) stop();
      else this.#thread.postMessage(work);
    });
  }

  #end(why: LostRunner): void {
    this.ended = true;
    void this.#thread.terminate();
    this.#answer?.(why);
  }
}

if (workerData === MARK && parentPort) {
  const port = parentPort;
  const loading = import('./sql-database.ts');
  let opening: Promise<SqlDatabase> | undefined;
  port.on('message', async (work: Work) => {
    try {
      opening ??= loading.then(({SqlDatabase}) => SqlDatabase.open());
      const database = await opening;
      if ('changes' in work) database.apply(work.changes);
      port.postMessage('changes' in work ? {done: true} : database.select(work.selection));
    } catch (error) {
      port.postMessage({error: error instanceof Error ? error.message : String(error)});
    }
  });
}
