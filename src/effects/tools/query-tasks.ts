import {isFailure, stoppedFailure} from '../tool/failure.ts';
import type {Tool} from '../tool/tool.ts';
import {fittingLines} from './cut.ts';
import {untrustedFrom} from './task-taint.ts';

const MOST_ROWS = 1_000;

export const queryTasksTool: Tool<'query_tasks'> = {
  execute: async ({query}, context) => {
    const found = await context.query(query);
    if (isFailure(found)) return context.signal.aborted ? stoppedFailure(context) : found;
    const {columns, rows, more, cut, taint} = found;
    const fit = fittingLines(rows, MOST_ROWS);
    const left = [
      ...(more || fit.length < rows.length
        ? ['there are more rows; use LIMIT and OFFSET, name fewer columns, or narrow the WHERE']
        : []),
      ...(cut ? ['values that end with … are longer; substr(column, 4001) gives what follows'] : []),
    ];
    return {
      success: true,
      columns,
      rows: fit,
      row_count: fit.length,
      ...(left.length > 0 && {left_out: left.join('; ')}),
      ...untrustedFrom(taint ?? []),
    };
  },
};
