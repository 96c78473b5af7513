import {exit, UserError} from '../../formats/common/errors.ts';
import {jsonText, makeVisible} from '../../formats/common/visible.ts';
import type {SqlRunner} from '../../query/sql-runner.ts';
import {type QueryRows, TaskQuery} from '../../query/task-query.ts';
import {colors, note, plural, print, printWhole, screenWidth} from '../terminal/output.ts';
import {fitTable} from '../terminal/table.ts';
import {progressOn} from './progress.ts';
import {queryFiles} from './query-files.ts';

/** Generous limits: a person can press Ctrl-C. */
const QUERY_LIMITS = {rows: 200_000, text: 64 * 1024 * 1024, cell: 1024 * 1024};
const MOST_MS = 20_000;

export interface QueryCommand {
  home: string;
  sql: string;
  json: boolean;
}

/** Reads files while SQLite loads. */
export async function answerQuery({home, sql, json}: QueryCommand, sqlite: SqlRunner): Promise<number> {
  const queries = new TaskQuery(sqlite);
  try {
    const source = queryFiles(home, sql, progressOn(process.stderr, json, 'files'));
    const answer = await queries.ask(source, sql, {most: QUERY_LIMITS, mostMs: MOST_MS});
    if ('failed' in answer)
      throw new UserError(answer.error, answer.failed === 'wrong' ? exit.usage : exit.failed, answer.hint);
    if (json) printWhole(jsonText(answer.rows));
    else printRows(answer);
    if (answer.more) note(`only the first ${answer.rows.length} rows: use LIMIT and OFFSET`);
    return exit.done;
  } finally {
    queries.close();
  }
}

function printRows({columns, rows}: QueryRows): void {
  const cells = rows.map(row => columns.map(column => makeVisible(String(row[column] ?? ''))));
  const head = columns.map(column => makeVisible(column));
  printWhole(fitTable(head, cells, screenWidth()));
  print(colors.dim(plural(rows.length, 'row')));
}
