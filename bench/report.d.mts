import type {Figure, Row, Skipped} from './row.mjs';

export interface Reason {
  row: string;
  reason: string;
  plan: string;
}

export interface Summary {
  rows: Figure[];
  skipped: Skipped[];
  misses: (Figure & Partial<Reason>)[];
  /** Rows as `suite: name`. */
  unexplained: string[];
  unknownReasons: string[];
}

export function tableOf(rows: Figure[]): string;
interface Incomplete {
  failed?: readonly {suite: string; why: string}[];
  quick?: boolean;
}

export function summary(rows: readonly Row[], reasons: readonly Reason[], run?: Incomplete): Summary;
export function report(
  rows: readonly Row[],
  reasons: readonly Reason[],
  facts: readonly string[],
  run?: Incomplete & {busy?: string | undefined},
): string;
