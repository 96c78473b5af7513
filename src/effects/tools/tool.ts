import type {z} from 'zod';
import type {Policy, Verdict} from '../../files/rule.ts';
import type {Redactor} from '../../policy/redact.ts';
import type {ToolEffect, ToolName, tools} from '../../policy/tools.ts';
import type {Sandbox} from '../sandbox/sandbox.ts';

/** Why a call did not succeed. */
export const resultCodes = {
  REJECTED: 'It needs a decision of a person, or a person said no.',
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

export interface AgentLine {
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

/** `sandbox:` in agentdir.yaml. */
export type SandboxMode = 'auto' | 'require' | 'off';

/** Where a call runs. */
export interface ToolContext {
  home: string;
  agent: string;
  session: string;
  call: string;
  /** What processes of this call carry. */
  mark: string;
  /** Absolute; where the agent's files are and its commands run. */
  workspace: string;
  /** How commands are confined: what the settings say, and what this machine can do. */
  commands: {mode: SandboxMode; sandbox: Sandbox};
  /** Called when programs of a command have been started. */
  onStarted: () => void;
  /** Longest time that the call may take. */
  timeoutMs: number | undefined;
  signal: AbortSignal;
  /** For what a tool writes down itself; its result is redacted without it. */
  redact: Redactor;
  agents: () => readonly AgentLine[];
  sessions: () => readonly SessionLine[];
}

/** A call that may run: `execute` never throws. What is not a `read` is run once at most. */
export interface ReadyCall {
  effect: ToolEffect;
  execute: () => Promise<ToolResult>;
  /** What it would do, as text for the person who decides. Never throws, changes nothing. */
  preview: () => Promise<string>;
}

export type Arguments<N extends ToolName> = z.output<(typeof tools)[N]['arguments']>;

/** What runs a tool of `policy/tool-table.ts`; `registry.ts` has checked the arguments and the policy. */
export interface Tool<N extends ToolName> {
  /** An expected failure is returned; whatever is thrown becomes FAILED. */
  execute: (args: Arguments<N>, context: ToolContext) => ToolResult | Promise<ToolResult>;
  /** Without it, a person is shown the arguments. */
  preview?: (args: Arguments<N>, context: ToolContext) => string | Promise<string>;
}

/** A tool that the policy judges by its arguments. */
export interface JudgingTool<N extends ToolName> {
  prepare: (args: Arguments<N>, policy: Policy, context: ToolContext) => Promise<Prepared>;
}

/** A call that was judged, and how it runs if it may. */
export interface Prepared {
  verdict: Verdict;
  reason: string;
  /** What a person can do about a verdict that is not `allow`. */
  remedy: string;
  /** `approved`: a person approved this very call. */
  execute: (approved: boolean) => ToolResult | Promise<ToolResult>;
  preview: () => string | Promise<string>;
}
