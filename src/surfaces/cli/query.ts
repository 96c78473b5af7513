import {setFlagsFromString} from 'node:v8';
import type {QueryCommand} from './query-answer.ts';

/** One SELECT over the tasks, notes, approvals and sessions of a home. */
export async function queryCommand(command: QueryCommand): Promise<number> {
  const [{SqlHere}, {answerQuery}] = await Promise.all([
    import('../../query/sql-here.ts'),
    import('./query-answer.ts'),
  ]);
  // Without this, V8 recompiles parts of SQLite while a short query ends, and the process waits for that. Set it after
  // loading: V8 uses the cached code only with the flags it was made with. Queries of seconds still reach this budget.
  setFlagsFromString('--wasm-tiering-budget=1000000000');
  return answerQuery(command, new SqlHere());
}
