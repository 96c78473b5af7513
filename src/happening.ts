import type {Problem} from './files/diagnostic.ts';
import type {Committed} from './store/journal.ts';

/** What the daemon tells of: a line each for whoever watches it. */
export type Happening =
  | {event: 'serving'; home: string; agents: number; sessions: number; tasks: number}
  | {event: 'problem'; problem: Problem; text: string | undefined}
  | {event: 'cleared'; problem: Problem}
  | {event: 'committed'; commit: Committed}
  | {event: 'waiting'; why: string}
  | {event: 'stopped'};
