/** `stalled`: a task that was begun and that nobody works on. `error` and `warning`: problems of files. */
export type WaitingKind = 'approval' | 'session' | 'task' | 'stalled' | 'error' | 'warning';

export interface WaitingItem {
  id: string | null;
  title: string;
  file: string;
  line: number;
}

/** What waits for a person or is wrong: how many of each kind, and the newest few. Kinds without any are left out. */
export type Waiting = Partial<Record<WaitingKind, {count: number; first: WaitingItem[]}>>;
