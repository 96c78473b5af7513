export interface Goal {
  what: 'figure' | 'ratio' | 'difference';
  is: '≤' | '≥';
  limit: number;
  /** The issue that asks for it. */
  from: string;
}

export interface Figure {
  suite: string;
  name: string;
  ours: number | null;
  unit: string;
  baseline?: {name: string; value: number | null};
  ratio?: number | null;
  goal?: Goal;
  met?: boolean;
}

export interface Skipped {
  suite: string;
  name: string;
  skipped: string;
}

export type Row = Figure | Skipped;

export function judged(one: Omit<Figure, 'met' | 'ratio'>): Figure;
export function row(name: string, figures: Pick<Figure, 'ours' | 'baseline' | 'goal'> & {unit?: string}): void;
