import {setFlagsFromString} from 'node:v8';
import type {QueryCommand} from './query-answer.ts';

/** One SELECT over the tasks, notes, approvals and sessions of a home. */
export async function queryCommand(command: QueryCommand): Promise<number> {
  const [{SqlHere}, {answerQuery}] = await Promise.all([
    import('../../query/sql-here.ts'),
    import('./query-answer.ts'),
  ]);
  // Else V8 compiles parts of SQLite a second time, better, for a query that is over by then, and its end waits for that. A query of
  // seconds still gets there: 100 million is passed by making the tables alone.
  // After all is loaded, because V8 takes the code that is kept beside the program only with the flags it was made with.
  setFlagsFromString('--wasm-tiering-budget=1000000000');
  return answerQuery(command, new SqlHere());
}
