import type {TableChange} from './row-index.ts';
import type {Selection, SelectResult} from './sql-database.ts';

export type LoadResult = {done: true} | {error: string};

/** `late`: it took too long. `lost`: SQLite is gone. The runner must not be used any more. */
export type LostRunner = {lost: string; late: boolean};

export const TIMED_OUT: LostRunner = {lost: 'it took too long and was stopped', late: true};

/** Runs SQLite in a thread (sql-thread.ts) or here (sql-here.ts). One request at a time. */
export interface SqlRunner {
  readonly ended: boolean;
  load(changes: readonly TableChange[]): Promise<LoadResult | LostRunner>;
  /** The signal ends a runner that can be interrupted. */
  select(selection: Selection, mostMs: number, signal?: AbortSignal): Promise<SelectResult | LostRunner>;
  close(): void;
}
