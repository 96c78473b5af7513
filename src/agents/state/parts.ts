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

/** How people hear of what happens. */
export interface AgentReports extends LoopReports {
  /** Everything that is written down, other than what a person wrote, goes through this first. */
  readonly redact: Redaction;
}

/** What calls of agents are made with. */
export interface Effects {
  /** Names this run of the daemon: calls that it starts carry it. */
  readonly run: string;
  /** What is outside of the daemon: this machine, or a simulated one. */
  readonly world: World;
  /** What agents can call. */
  readonly tools: Tools;
  /** Where questions to models and calls run. Set up with the first look. */
  runner: Runner;
  /** What a running call asks of the daemon. Set up with the first look. */
  services: (caller: Caller, call: Call, signal: AbortSignal) => DaemonServices;
  /** How commands are confined. */
  readonly sandbox: Sandbox;
  /** SQL over tasks; loaded with the first query. */
  queries: TaskQuery | undefined;
  /** Agents whose workspace was found, or made, from the repository that their template names. */
  readonly cloned: Set<string>;
}

/** This run of the daemon, and what its status file says of it. */
export interface RunStatus {
  readonly version: string;
  /** Which model answers by default, in words; known soon after the start. */
  model: string | undefined;
  /** How commands are confined, in words, once it is known. */
  confinement: string | undefined;
  /** Whether changes are seen at once. */
  readonly watching: () => boolean;
  readonly sessions: SessionCounts;
  /** The settings have changed: say what is different. */
  readonly announce: () => void;
}

/**
 * The parts of a daemon, each of which owns one subject. All of it is a cache of files: a new daemon builds the same from them. A function
 * takes those parts that it, or what it calls, works with: `With<'files' | 'mail'>`.
 */
export interface Daemon {
  readonly files: HomeFiles;
  readonly reports: AgentReports;
  /** Settings, policy, templates and playbooks as they are now. */
  readonly current: CurrentConfig;
  /** Questions and calls under way. */
  readonly turns: Turns;
  /** What is on its way into sessions. */
  readonly mail: Mail;
  /** What calls wait for, beyond what the files say. */
  readonly approvals: Approvals;
  /** Inboxes, as far as they are read, and messages at fixed times. */
  readonly inboxes: Inboxes;
  /** What is known of tasks beyond their files. */
  readonly tasks: Tasks;
  /** What is to be added to files of the memory. */
  readonly notes: Notes;
  /** What agents have used today. */
  readonly spend: Spend;
  readonly effects: Effects;
  readonly status: RunStatus;
}

export type With<P extends keyof Daemon> = Pick<Daemon, P>;
