import type {Operator} from '../../policy/command/plain.ts';
import type {CommandLimits} from './limits.ts';

/** A program and its arguments, passed to the system without a shell. */
export interface Program {
  argv: readonly string[];
  /** How it follows the previous program. */
  operator: Operator;
  /** In the sandbox rather than on the host. */
  confined: boolean;
  network: boolean;
}

export interface RunRequest {
  /** In order; pipelines are connected by `runPrograms`. */
  programs: readonly Program[];
  home: string;
  /** Absolute; the working directory, and the only folder that confined programs can write. */
  workspace: string;
  /** Confined programs can only read the workspace. */
  readOnly: boolean;
  /** A folder of the workspace that confined programs see as empty, if it exists when they start. */
  hidden?: string | undefined;
  /** For confined programs, the agent's own repository stands in place of the workspace's history. */
  ownGit?: boolean | undefined;
  /** Carried by every process of the run, so that `endLeftovers` finds processes that outlive the daemon. */
  mark: string;
  timeoutMs: number;
  /** For confined programs; the defaults if left out. */
  limits?: CommandLimits | undefined;
  /** Limit in bytes for stdout and stderr together; the run is killed beyond it. */
  mostOutput: number;
  signal: AbortSignal;
  /** Called as output arrives, with at most `mostOutput` bytes in total. Must not throw. */
  onOutput: (stream: 'stdout' | 'stderr', chunk: Buffer) => void;
  /** Called when the programs of a pipeline have started. Must not throw. */
  onStarted?: () => void;
}

export interface RunResult {
  /** `timeout`, `stopped`, `output` and `disk`: killed and gone. `failed`: could not be started. */
  how: 'ended' | 'timeout' | 'stopped' | 'output' | 'disk' | 'failed';
  /** Exit code of the last program that ran; 128 + n if signal n killed it. Null unless `ended`. */
  exitCode: number | null;
  /** The signal that killed the last program; unknown for sandboxed programs. */
  signal: string | null;
  /** The cause, if the run `failed` or a process could not be killed. */
  error?: string;
  /** Processes of it may still run. */
  survived?: boolean;
  /** Limits that programs met, in words. */
  exceeded?: readonly string[];
  ms: number;
}
