import {exit, UserError} from '../../errors.ts';
import {jsonText, makeVisible} from '../../files/visible.ts';
import {indexHome} from '../../load.ts';
import {type Rows, TaskQuery} from '../../query/task-query.ts';
import {colors, note, plural, print} from './output.ts';
import {cut, drawTable, labelled, textWidth} from './table.ts';

/** A person may look at all there is, and can press Ctrl-C. */
const MOST = {rows: 200_000, text: 64 * 1024 * 1024, cell: 1024 * 1024};
const MOST_MS = 20_000;
/** No column gets less. */
const LEAST = 8;

/** One SELECT over the tasks, notes, approvals and sessions of a home. */
export async function query({home, sql, json}: {home: string; sql: string; json: boolean}): Promise<number> {
  const {index, texts} = indexHome(home);
  const queries = new TaskQuery();
  try {
    const source = {
      index,
      files: () => [...texts.keys()].map(path => [path, ''] as const),
      read: (path: string) => texts.get(path),
    };
    const answer = await queries.ask(source, sql, {most: MOST, mostMs: MOST_MS});
    if ('failed' in answer)
      throw new UserError(answer.error, answer.failed === 'wrong' ? exit.usage : exit.failed, answer.hint);
    if (json) print(jsonText(answer.rows));
    else printRows(answer);
    if (answer.more) note(`only the first ${answer.rows.length} rows: use LIMIT and OFFSET`);
    return exit.done;
  } finally {
    queries.close();
  }
}

function printRows({columns, rows}: Rows): void {
  const cells = rows.map(row =>
    columns.map(column =>
      makeVisible(String(row[column] ?? ''))
        .replace(/\s+/g, ' ')
        .trim(),
    ),
  );
  const head = columns.map(column => makeVisible(column));
  const widths = head.map((title, i) =>
    cells.reduce((most, row) => Math.max(most, textWidth(row[i] ?? '')), textWidth(title)),
  );
  const width = process.stdout.columns || 120;
  if (widths.reduce((sum, each) => sum + Math.min(each, LEAST) + 3, 1) > width) printRecords(head, cells, width);
  else printTable(head, cells, fitted(widths, width - 3 * head.length - 1));
  print(colors.dim(plural(rows.length, 'row')));
}

/** Too many columns to stand beside each other: below each other, without those that are empty. */
function printRecords(head: readonly string[], rows: readonly (readonly string[])[], width: number): void {
  for (const row of rows) {
    for (const [i, title] of head.entries()) if (row[i]) print(labelled(`${title}:`, row[i], width).join('\n'));
    print('');
  }
}

function printTable(head: readonly string[], rows: readonly (readonly string[])[], room: readonly number[]): void {
  print(
    drawTable(
      head.map((title, i) => cut(title, room[i] ?? LEAST)),
      rows.map(row => row.map((cell, i) => cut(cell, room[i] ?? LEAST))),
    ),
  );
}

/** Widths that fit: the widest columns give way first. */
function fitted(widths: readonly number[], room: number): number[] {
  const total = (most: number) => widths.reduce((sum, width) => sum + Math.min(width, most), 0);
  let most = Math.max(LEAST, ...widths);
  while (most > LEAST && total(most) > room) most--;
  return widths.map(width => Math.min(width, most));
}
