import type {z} from 'zod';
import type {Policy, Verdict} from '../../formats/rule.ts';
import type {Settings} from '../../formats/settings.ts';
import type {Ask} from '../../policy/ask.ts';
import type {Redactor} from '../../policy/redact/redact.ts';
import type {ToolEffect, ToolName, tools} from '../../policy/tools.ts';
import type {CommandLimits} from '../sandbox/limits.ts';
import type {Sandbox} from '../sandbox/sandbox.ts';

export type {Ask, AskPart} from '../../policy/ask.ts';

export const resultCodes = {
  REJECTED: 'A person said no. Nothing was done.',
  DENIED: 'The policy forbids it, or the path is not for agents. The same call will be denied again.',
  NOT_ALLOWED: 'The tool is not among the capabilities of the agent, or there is none of this name.',
  INVALID_ARGUMENTS: 'The arguments do not fit; the error says what is wrong and what is expected.',
  TIMEOUT: 'It took too long and was stopped.',
  INTERRUPTED: 'It was stopped from outside. What it had done by then is not known, unless it only reads.',
  FAILED: 'It was tried and did not work; the error says why.',
  EXPIRED: 'Nobody decided in time.',
} as const;

export type ResultCode = keyof typeof resultCodes;

/** JSON content of a `tool_result`. */
export type ToolResult =
  | {success: true; [key: string]: unknown}
  | {success: false; error: string; code: ResultCode; [key: string]: unknown};

export type ToolFailure = Extract<ToolResult, {success: false}>;

interface AgentLine {
  id: string;
  type: string | undefined;
  description: string | undefined;
}

export interface SessionLine {
  id: string;
  agent: string;
  status: string;
  updated: string | undefined;
}

/** `more`: there are further rows; `cut`: values were shortened; `taint`: external sources of words in the rows. */
export interface QueriedRows {
  columns: readonly string[];
  rows: readonly Readonly<Record<string, string | number | null>>[];
  more: boolean;
  cut: boolean;
  taint?: readonly string[];
}

/** `sandbox:` in agentdir.yaml. */
export type SandboxMode = 'auto' | 'require' | 'off';

/** Identity and limits of a call. Plain values, so that they can be sent to another process. */
export interface CallPlace {
  home: string;
  agent: string;
  session: string;
  call: string;
  /** Carried by all processes of this call. */
  mark: string;
  /** Absolute; holds the agent's files, and its commands run there. */
  workspace: string;
  /** `search:` in agentdir.yaml. */
  search?: Settings['search'];
  /** The agent has a repository of its own in the sandbox: `workspace: {git: own}`. */
  ownGit?: boolean | undefined;
  timeoutMs: number | undefined;
  /** What commands in the sandbox may use; the defaults if left out. */
  limits?: CommandLimits | undefined;
  /** For long outputs in the workspace: bytes that they may take, and whether old ones must stay. */
  outputs?: {most?: number | undefined; keepsOld: boolean} | undefined;
  /** Sources of untrusted text in the session. If any, calls that leave the home ask, whatever the rules say. */
  tainted: readonly string[];
  /** Why this call, or a message to the same place, may have run before. */
  retries: false | 'interrupted' | 'interrupted message' | 'brought back';
}

/** A task for another agent, as a person is asked about it. */
export interface TaskPlan {
  agent: string;
  about: string | undefined;
  model: string;
  tools: readonly string[];
  /** In words, one each. */
  limits: readonly string[];
  /** Names the definition of the agent as it is now. */
  definition: string;
}

/** Sessions that do tasks for other agents, and agents that agents add. */
export interface DelegationServices {
  /** Must not change anything. */
  planTask: (wanted: Arguments<'task'>) => Promise<TaskPlan | ToolFailure>;
  /** Makes the session that does the task, once for each call. Resolves when the session is durable. */
  startTask: (wanted: Arguments<'task'>) => Promise<ToolResult>;
  spawnAgent: (wanted: Arguments<'agent_spawn'>) => Promise<ToolResult>;
  agentStates: () => readonly AgentStateLine[] | Promise<readonly AgentStateLine[]>;
}

/** An agent as others see it. */
export interface AgentStateLine {
  name: string;
  status: string;
  model: string | undefined;
  kind: string;
  task: {id: string; title: string | undefined} | undefined;
}

/** Channel and document of the workflow instance that the agent belongs to. */
export interface ContextServices {
  channelSend: (message: Arguments<'channel_send'>) => Promise<ToolResult>;
  channelRead: (wanted: Arguments<'channel_read'>) => Promise<ToolResult>;
  channelPeek: (wanted: Arguments<'channel_peek'>) => Promise<ToolResult>;
  documentRead: () => Promise<ToolResult>;
  documentWrite: (change: Arguments<'document_write'>) => Promise<ToolResult>;
  documentAppend: (change: Arguments<'document_append'>) => Promise<ToolResult>;
}

/**
 * Services of the daemon, which is the only writer of the home. Writes are durable when the promise resolves. Arguments
 * and results are plain values, so that a tool can run in another process.
 */
export interface HomeServices extends ContextServices, DelegationServices {
  remember: (file: string, text: string) => Promise<ToolResult>;
  createTask: (task: Arguments<'create_task'>) => Promise<ToolResult>;
  updateTask: (change: Arguments<'update_task'>) => Promise<ToolResult>;
  send: (message: Arguments<'send_message'>) => Promise<ToolResult>;
  /** Run SQL over the tasks of the home. */
  query: (text: string) => Promise<QueriedRows | ToolFailure>;
  /** Earlier messages of the caller's own session. */
  recall: (wanted: Arguments<'recall'>) => Promise<ToolResult>;
  agents: () => readonly AgentLine[] | Promise<readonly AgentLine[]>;
  sessions: () => readonly SessionLine[] | Promise<readonly SessionLine[]>;
}

/** A digest of everything in a workspace, or why there is none that can be trusted. */
export type WholeState = {digest: string} | {problem: string};

export interface ToolContext extends CallPlace, HomeServices {
  /** The configured sandbox mode, and the sandbox of this machine. */
  commands: {mode: SandboxMode; sandbox: Sandbox};
  onStarted: () => void;
  /** The state of the agent's workspace, for decisions that are bound to it; may be up to a second old as long as nobody has approved the call. */
  workspaceState: () => Promise<WholeState>;
  /** Called when no process of a command is left. */
  onEnded: () => void;
  signal: AbortSignal;
  outside: Outside;
  /** For text that a tool writes itself; results are redacted elsewhere. */
  redact: Redactor;
}

export interface Outside {
  settings: Pick<Settings, 'slack' | 'mail' | 'webhooks'>;
  env: Readonly<Record<string, string | undefined>>;
  /** Stable name of the call. A message id is derived from it and the message, so an edited message gets a new id. */
  messageName: string;
  /** Record a sent message durably in this file of the inbox. Throws if it cannot be written. */
  sent: (file: string, record: Readonly<Record<string, unknown>>) => Promise<void>;
}

/** A call that may run. `execute` never throws; calls other than `read` run at most once. */
export interface ReadyCall {
  effect: ToolEffect;
  /** A person must approve this call first. */
  asks: boolean;
  /**
   * The question for a person, even if a rule makes it unnecessary. A failure means that the call could not run as it
   * is, so nobody is asked. Never throws, changes nothing; the result contains no secrets.
   */
  ask: () => Promise<Ask | ToolFailure>;
  /** It cannot change the workspace. */
  readOnly: boolean;
  /** It could write files of the home: decisions made while it runs do not count. */
  unconfined: boolean;
  /** A person approved it, for the workspace as it is: nothing else may change files there while it runs. */
  alone?: boolean;
  /** Arguments as edited by a person; the call runs with these. */
  edited?: Readonly<Record<string, string>>;
  /** If the call `asks`, run this only after a person approved what `ask` returns now. */
  execute: () => Promise<ToolResult>;
}

export type Arguments<N extends ToolName> = z.output<(typeof tools)[N]['arguments']>;

/** Part of an ask that the tool contributes; the registry adds risk, reasons and `always`. */
export type ToolAsk = Pick<Ask, 'title' | 'parts'> & Partial<Ask>;

/** Implementation of a tool in `policy/tools.ts`. `registry.ts` has checked the arguments and the policy. */
export interface Tool<N extends ToolName> {
  /** Returns expected failures; anything thrown becomes FAILED. */
  execute: (args: Arguments<N>, context: ToolContext) => ToolResult | Promise<ToolResult>;
  /** Without `ask`, a person sees the arguments. */
  ask?: (args: Arguments<N>, context: ToolContext) => ToolAsk | ToolFailure | Promise<ToolAsk | ToolFailure>;
}

/** A tool whose verdict depends on its arguments. */
export interface JudgingTool<N extends ToolName> {
  prepare: (args: Arguments<N>, policy: Policy, context: ToolContext) => Promise<JudgedToolCall>;
}

export interface JudgedToolCall {
  verdict: Verdict;
  reason: string;
  /** Why the call cannot run, whatever a person says. */
  refused?: ToolFailure;
  /** Why the call leaves the home, if it does. */
  leaves?: string | undefined;
  readOnly?: boolean;
  /** It runs outside the sandbox and may write. */
  unconfined?: boolean;
  execute: (approved: boolean) => ToolResult | Promise<ToolResult>;
  ask: () => ToolAsk | ToolFailure | Promise<ToolAsk | ToolFailure>;
}
