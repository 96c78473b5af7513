import type {z} from 'zod';
import type {Policy, Verdict} from '../../formats/rule.ts';
import type {Settings} from '../../formats/settings.ts';
import type {Ask} from '../../policy/ask.ts';
import type {Redactor} from '../../policy/redact/redact.ts';
import type {ToolEffect, ToolName, tools} from '../../policy/tools.ts';
import type {Sandbox} from '../sandbox/sandbox.ts';

export type {Ask, AskPart} from '../../policy/ask.ts';

/** Why a call did not succeed. */
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

/** What the model is told of a call: the JSON of a `tool_result`. */
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

/** What a query gave. `more`: there are rows beyond what is let through; `cut`: so were values; `taint`: what from outside led to words in it. */
export interface QueriedRows {
  columns: readonly string[];
  rows: readonly Readonly<Record<string, string | number | null>>[];
  more: boolean;
  cut: boolean;
  taint?: readonly string[];
}

/** `sandbox:` in agentdir.yaml. */
export type SandboxMode = 'auto' | 'require' | 'off';

/** Where, for whom and within which bounds a call is made. Plain values: they can go to another process. */
export interface CallPlace {
  home: string;
  agent: string;
  session: string;
  call: string;
  /** What processes of this call carry. */
  mark: string;
  /** Absolute; where the agent's files are and its commands run. */
  workspace: string;
  /** `search:` in agentdir.yaml. */
  search?: Settings['search'];
  /** Longest time that the call may take. */
  timeoutMs: number | undefined;
  /** Where untrusted text came into the session: then what leaves the home asks, whatever the rules say. */
  tainted: readonly string[];
  /** Why this very call, or a message to the same place, may have been run before. */
  retries: false | 'interrupted' | 'interrupted message' | 'brought back';
}

/**
 * What a tool asks of the daemon, which is the only writer of the home. What is written is durable when the promise resolves. Values
 * only, so that a tool in another process can ask, too.
 */
export interface HomeServices {
  /** Add a note to a file of the memory. */
  remember: (file: string, text: string) => Promise<ToolResult>;
  createTask: (task: Arguments<'create_task'>) => Promise<ToolResult>;
  updateTask: (change: Arguments<'update_task'>) => Promise<ToolResult>;
  send: (message: Arguments<'send_message'>) => Promise<ToolResult>;
  /** SQL over the tasks of the home. */
  query: (text: string) => Promise<QueriedRows | ToolFailure>;
  agents: () => readonly AgentLine[] | Promise<readonly AgentLine[]>;
  sessions: () => readonly SessionLine[] | Promise<readonly SessionLine[]>;
}

/** All that a tool works with. */
export interface ToolContext extends CallPlace, HomeServices {
  /** How commands are confined: what the settings say, and what this machine can do. */
  commands: {mode: SandboxMode; sandbox: Sandbox};
  /** Called when programs of a command have been started. */
  onStarted: () => void;
  signal: AbortSignal;
  /** What reaches people outside: how, and a name for the message that the same call has whenever it is made. */
  outside: Outside;
  /** For what a tool writes down itself; its result is redacted without it. */
  redact: Redactor;
}

export interface Outside {
  settings: Pick<Settings, 'slack' | 'mail' | 'webhooks'>;
  env: Readonly<Record<string, string | undefined>>;
  /** With the message itself it makes its id: an edited one is another. */
  messageName: string;
  /** Record what was sent in this file of the inbox, durably. Throws if it cannot be written. */
  sent: (file: string, record: Readonly<Record<string, unknown>>) => Promise<void>;
}

/** A call that may run: `execute` never throws. What is not a `read` is run once at most. */
export interface ReadyCall {
  effect: ToolEffect;
  /** A person must approve this very call first. */
  asks: boolean;
  /**
   * What a person is asked, or was before the policy allowed it. A failure: it could not be run as it is, so nobody is
   * asked. Never throws, changes nothing; what comes back has no secrets.
   */
  ask: () => Promise<Ask | ToolFailure>;
  /** It cannot change anything in the workspace. */
  readOnly: boolean;
  /** It runs where it could write files of the home: what is decided meanwhile does not count. */
  unconfined: boolean;
  /** The yes to it is bound to files of the workspace: nothing else may change any while it runs. */
  alone?: boolean;
  /** Arguments that a person put in place of the agent's: it runs with these. */
  edited?: Readonly<Record<string, string>>;
  /** Where it `asks`, only after a person said yes to what it gives now. */
  execute: () => Promise<ToolResult>;
}

export type Arguments<N extends ToolName> = z.output<(typeof tools)[N]['arguments']>;

/** What a tool says of a call besides what is the same for all: the registry adds risk, reasons and what no rule allows. */
export type ToolAsk = Pick<Ask, 'title' | 'parts'> & Partial<Ask>;

/** What runs a tool of `policy/tool-table.ts`; `registry.ts` has checked the arguments and the policy. */
export interface Tool<N extends ToolName> {
  /** An expected failure is returned; whatever is thrown becomes FAILED. */
  execute: (args: Arguments<N>, context: ToolContext) => ToolResult | Promise<ToolResult>;
  /** Without it, a person is shown the arguments. */
  ask?: (args: Arguments<N>, context: ToolContext) => ToolAsk | ToolFailure | Promise<ToolAsk | ToolFailure>;
}

/** A tool that the policy judges by its arguments. */
export interface JudgingTool<N extends ToolName> {
  prepare: (args: Arguments<N>, policy: Policy, context: ToolContext) => Promise<JudgedToolCall>;
}

/** A call that was judged, and how it runs if it may. */
export interface JudgedToolCall {
  verdict: Verdict;
  reason: string;
  /** Why it leaves the home, if it does. */
  leaves?: string | undefined;
  readOnly?: boolean;
  /** It runs outside a sandbox, and may write. */
  unconfined?: boolean;
  /** `approved`: a person approved this very call. */
  execute: (approved: boolean) => ToolResult | Promise<ToolResult>;
  ask: () => ToolAsk | ToolFailure | Promise<ToolAsk | ToolFailure>;
}
