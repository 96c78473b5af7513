import type {Operator} from '../../policy/command/plain.ts';

/** One program with its words, as the system gets them: no shell reads them. */
export interface Program {
  argv: readonly string[];
  /** How it follows the one before. */
  operator: Operator;
  /** In the sandbox, or on the host. */
  confined: boolean;
  network: boolean;
}

export interface RunRequest {
  /** In order; pipelines are joined by us. */
  programs: readonly Program[];
  home: string;
  /** Absolute; where the programs run, and all that the confined ones can write. */
  workspace: string;
  /** Confined programs can only read the workspace. */
  readOnly: boolean;
  /** A folder of the workspace that confined programs see empty, if it is there when they start. */
  hidden?: string | undefined;
  /** Every process of it carries this, so that what outlives the daemon is found: `endLeftovers`. */
  mark: string;
  timeoutMs: number;
  /** More bytes than these on stdout and stderr together, and it is ended. */
  mostOutput: number;
  signal: AbortSignal;
  /** Called as output comes, never with more than `mostOutput` in all. Must not throw. */
  onOutput: (stream: 'stdout' | 'stderr', chunk: Buffer) => void;
  /** Called when programs have been started. Must not throw. */
  onStarted?: () => void;
}

export interface RunResult {
  /** `timeout`, `stopped` and `output`: it was killed, and is gone. `failed`: it could not be started. */
  how: 'ended' | 'timeout' | 'stopped' | 'output' | 'failed';
  /** Of the last program that ran, as a shell says it: 128 + n if signal n ended it. Null unless `ended`. */
  exitCode: number | null;
  /** The signal that ended it, where it is known: of the sandbox only the code is. */
  signal: string | null;
  /** What was wrong, if it `failed` or a process of it could not be killed. */
  error?: string;
  ms: number;
}
