import type {Problem} from './common/diagnostic.ts';

/** An event the daemon reports: one line on the terminal, or one JSON line. */
export type DaemonEvent =
  | {event: 'serving'; home: string; pid: number; agents: number; sessions: number; tasks: number}
  /** A file is not what it was: what is to be done about it is decided, and done as soon as it holds still. */
  | {event: 'seen'; path: string; wrong: boolean}
  | {event: 'problem'; problem: Problem; text: string | undefined}
  | {event: 'cleared'; problem: Problem}
  | {event: 'committed'; commit: string; subject: string; paths: readonly string[]}
  /** A save from an older version, brought together with what the daemon had written since. */
  | {event: 'merged'; path: string}
  | {event: 'conflict'; path: string; copy: string; conflicts: readonly string[]}
  /** What answers where a template says nothing else. */
  | {event: 'model'; model: string; isModel: boolean; hint?: string}
  /** How commands are confined, in words; and what would be better. */
  | {event: 'sandbox'; sandbox: string; confines: boolean; hint?: string}
  /** Something about this machine or repository that a person wants to know before anything happens. */
  | {event: 'notice'; what: string; hint: string}
  /** All of the above has been told. */
  | {event: 'ready'; home: string}
  | {event: 'asking'; session: string; agent: string; model: string}
  /** What the model said is in the file. */
  | {event: 'answered'; session: string; agent: string; model: string; calls: number; tokens: number | undefined}
  /** A call waits for a person. */
  | {event: 'asked'; id: string; session: string; agent: string; what: string; risk: string}
  /** It need not wait any more: approved, rejected, expired, withdrawn or superseded. */
  | {event: 'decided'; id: string; state: string; by: string | undefined; what: string}
  /** Ended, well if it has no code. */
  | {event: 'called'; session: string; agent: string; tool: string; code: string | undefined; ms: number}
  /** How far a large inbox is read: now and then, and once it is read to its end. */
  | {event: 'reading'; inbox: string; lines: number; percent: number}
  /** An answer is of no use any more. */
  | {event: 'dropped'; session: string; agent: string; why: string}
  | {event: 'retrying'; session: string; agent: string; why: string; after: number}
  | {event: 'failed'; session: string; agent: string; why: string; hint: string}
  /** Something outside the files is in the way; it is tried again until it is over. */
  | {event: 'trouble'; what: string}
  | {event: 'over'; what: string}
  | {event: 'stopping'; why: string}
  | {event: 'stopped'};

export type Report = (event: DaemonEvent) => void;
