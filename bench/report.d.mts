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
export function summary(rows: readonly Row[], reasons: readonly Reason[]): Summary;
export function report(
  rows: readonly Row[],
  reasons: readonly Reason[],
  facts: readonly string[],
  more?: {failed?: readonly {suite: string; why: string}[]; busy?: string | undefined},
): string;
