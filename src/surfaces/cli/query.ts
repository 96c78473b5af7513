import {setFlagsFromString} from 'node:v8';
import type {QueryCommand} from './query-answer.ts';

/** One SELECT over the tasks, notes, approvals and sessions of a home. */
export async function query(command: QueryCommand): Promise<number> {
  const thread = new (await import('../../query/sql-thread.ts')).SqlThread();
  const {answerQuery} = await import('./query-answer.ts');
  // Else V8 compiles parts of SQLite a second time, better, for a query that is over by then, and its end waits for that.
  // After all is loaded, because V8 takes the code that is kept beside the program only with the flags it was made with.
  setFlagsFromString('--wasm-tiering-budget=100000000');
  thread.prepare();
  return answerQuery(command, thread);
}
