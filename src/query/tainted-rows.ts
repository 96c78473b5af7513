import {taskStates} from '../formats/task/task.ts';
import type {TableChange} from './row-index.ts';
import type {Cell, TableName} from './tables.ts';

interface TaintedRow {
  sources: readonly string[];
  words: string[];
}

/** Rows of tasks, notes and requests that originate from external text. */
export class TaintedRows {
  readonly #tables = new Map<TableName, Map<number, TaintedRow>>();

  apply(changes: readonly TableChange[]): void {
    for (const {table, remove, put} of changes) {
      const rows = this.#tables.get(table) ?? new Map<number, TaintedRow>();
      for (const key of remove) rows.delete(key);
      for (const [key, cells, sources = []] of put)
        if (sources.length > 0) rows.set(key, {sources, words: cells.filter(isWord)});
        else rows.delete(key);
      if (rows.size > 0) this.#tables.set(table, rows);
      else this.#tables.delete(table);
    }
  }

  get none(): boolean {
    return this.#tables.size === 0;
  }

  keys(): [TableName, number[]][] {
    return [...this.#tables].map(([table, rows]) => [table, [...rows.keys()]]);
  }

  /** Sources of words that a result has because of tainted rows; all sources if no row has such a word verbatim. */
  sourcesOf(shown: readonly string[]): string[] {
    const words = new Set(shown);
    const all = [...this.#tables.values()].flatMap(rows => [...rows.values()]);
    const own = all.filter(row => row.words.some(word => words.has(word)));
    return [...new Set((own.length > 0 ? own : all).flatMap(({sources}) => sources))];
  }
}

type Shown = readonly Readonly<Record<string, Cell>>[];

/** Words that a result has only with tainted rows. Ignores numbers, states and priorities. */
export function wordsOnlyIn(rows: Shown, without: Shown): string[] {
  const clean = wordsOf(without);
  return [...wordsOf(rows)].filter(word => !clean.has(word));
}

function wordsOf(rows: Shown): Set<string> {
  return new Set(rows.flatMap(row => Object.values(row).filter(isWord)));
}

const OWN: ReadonlySet<string> = new Set(['', ...taskStates, 'A', 'B', 'C', 'D']);

function isWord(cell: Cell): cell is string {
  return typeof cell === 'string' && !OWN.has(cell);
}
