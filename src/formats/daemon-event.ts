import type {Problem} from './common/diagnostic.ts';

/** Reported as one line on the terminal, or one JSON line. */
export type DaemonEvent =
  | {event: 'serving'; home: string; pid: number; agents: number; sessions: number; tasks: number}
  /** A file changed. The reaction is decided, and carried out once the file is stable. */
  | {event: 'seen'; path: string; wrong: boolean}
  | {event: 'problem'; problem: Problem; text: string | undefined}
  | {event: 'cleared'; problem: Problem}
  | {event: 'committed'; commit: string; subject: string; paths: readonly string[]}
  /** A save based on an older version was merged with what the daemon had written since. */
  | {event: 'merged'; path: string}
  | {event: 'conflict'; path: string; copy: string; conflicts: readonly string[]}
  /** The model used where a template names none. */
  | {event: 'model'; model: string; isModel: boolean; hint?: string}
  /** How commands are confined, and what would be better. */
  | {event: 'sandbox'; sandbox: string; confines: boolean; hint?: string}
  /** A fact about this machine or repository that a person should know beforehand. */
  | {event: 'notice'; what: string; hint: string}
  /** All startup events have been reported. */
  | {event: 'ready'; home: string}
  | {event: 'asking'; session: string; agent: string; model: string}
  /** The model writes a checkpoint for the older messages. */
  | {event: 'compacting'; session: string; agent: string; model: string}
  /** The checkpoint is in force. */
  | {event: 'compacted'; session: string; agent: string; upto: string; before: number; after: number}
  /** The model's answer is in the file. */
  | {event: 'answered'; session: string; agent: string; model: string; calls: number; tokens: number | undefined}
  /** A call waits for approval. */
  | {event: 'asked'; id: string; session: string; agent: string; what: string; risk: string}
  /** The request was approved, rejected, expired, withdrawn or superseded. */
  | {event: 'decided'; id: string; state: string; by: string | undefined; what: string}
  /** A call ended; without a code it succeeded. */
  | {event: 'called'; session: string; agent: string; tool: string; code: string | undefined; ms: number}
  /** Progress on a large inbox: now and then, and at its end. */
  | {event: 'reading'; inbox: string; lines: number; percent: number}
  /** An answer was discarded. */
  | {event: 'dropped'; session: string; agent: string; why: string}
  | {event: 'retrying'; session: string; agent: string; why: string; after: number}
  | {event: 'failed'; session: string; agent: string; why: string; hint: string}
  /** Something outside the files prevents progress; the daemon retries. */
  | {event: 'trouble'; what: string}
  | {event: 'over'; what: string}
  | {event: 'stopping'; why: string}
  | {event: 'stopped'};

export type Report = (event: DaemonEvent) => void;
