import type {Sandbox} from '../../effects/sandbox/sandbox.ts';
import type {Tools} from '../../effects/tools/provider.ts';
import type {Call} from '../../formats/session/session-schema.ts';
import type {CurrentConfig} from '../../loop/current-config.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import type {Reports as LoopReports} from '../../loop/parts.ts';
import type {TaskQuery} from '../../query/task-query.ts';
import type {DaemonServices, Runner} from '../../runners/runner.ts';
import type {World} from '../world/world.ts';
import type {Approvals} from './approvals.ts';
import type {Caller} from './caller.ts';
import type {Inboxes} from './inboxes.ts';
import type {Mail} from './mail.ts';
import type {Notes} from './notes.ts';
import type {Redaction} from './redaction.ts';
import type {SessionCounts} from './session-counts.ts';
import type {Spend} from './spend.ts';
import type {Tasks} from './task-news.ts';
import type {Turns} from './turns.ts';
import type {Workflows} from './workflows.ts';

/** Reports events and troubles to people. */
export interface AgentReports extends LoopReports {
  /** Removes secrets. Everything the daemon writes, except a person's own text, must pass through it. */
  readonly redact: Redaction;
}

/** Everything that questions and calls need to run. */
export interface Effects {
  /** Id of this daemon run, recorded in the calls that it starts. */
  readonly run: string;
  /** The machine outside the daemon, real or simulated. */
  readonly world: World;
  readonly tools: Tools;
  /** Runs questions to models and calls. Set at the first look. */
  runner: Runner;
  /** Creates the daemon services for a call. Set at the first look. */
  services: (caller: Caller, call: Call, signal: AbortSignal) => DaemonServices;
  readonly sandbox: Sandbox;
  /** SQL over tasks; loaded with the first query. */
  queries: TaskQuery | undefined;
  /** Agents whose workspace is a clone of the repository in their template. */
  readonly cloned: Set<string>;
}

/** This run of the daemon, as the status file shows it. */
export interface RunStatus {
  readonly version: string;
  /** Description of the default model; known soon after the start. */
  model: string | undefined;
  /** Description of the sandbox, once known. */
  confinement: string | undefined;
  /** Whether file watching works. */
  readonly watching: () => boolean;
  readonly sessions: SessionCounts;
  /** Report the effects of changed settings. */
  readonly announce: () => void;
}

/**
 * The parts of a daemon. Each part owns one subject and is a cache that a new daemon can rebuild from files. A function
 * takes only the parts that it and its callees use: `With<'files' | 'mail'>`.
 */
export interface Daemon {
  readonly files: HomeFiles;
  readonly reports: AgentReports;
  /** Current settings, policy, templates and playbooks. */
  readonly current: CurrentConfig;
  /** Questions and calls in progress. */
  readonly turns: Turns;
  /** Messages on their way into sessions. */
  readonly mail: Mail;
  /** Requests for approval, beyond the files. */
  readonly approvals: Approvals;
  /** Reading state of inboxes, and scheduled messages. */
  readonly inboxes: Inboxes;
  /** Knowledge about tasks beyond their files. */
  readonly tasks: Tasks;
  /** Notes to append to memory files. */
  readonly notes: Notes;
  /** Today's usage by agents. */
  readonly spend: Spend;
  /** Channel entries, document edits and the like that are not in the files of their instance yet. */
  readonly workflows: Workflows;
  readonly effects: Effects;
  readonly status: RunStatus;
}

export type With<P extends keyof Daemon> = Pick<Daemon, P>;
