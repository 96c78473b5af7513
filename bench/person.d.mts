import type {Committed, FileChange, Journal} from '../src/home/journal.ts';

export function beside(
  dir: string,
  ms: number,
  options?: {pause?: number; env?: NodeJS.ProcessEnv},
): Promise<{ok: boolean; command: string; words: string}[]>;

export function steadily(
  journal: Journal,
  options: {
    ms: number;
    everyMs: number;
    paths: string[];
    fileAt: (path: string) => FileChange;
    write: (path: string, line: string) => void;
  },
): Promise<{made: number; added: (Committed & {already?: true})[]}>;
