import type {z} from 'zod';
import type {ToolEffect, ToolName, tools} from '../../policy/tools.ts';

export type ResultCode =
  | 'REJECTED'
  | 'DENIED'
  | 'NOT_ALLOWED'
  | 'INVALID_ARGUMENTS'
  | 'TIMEOUT'
  | 'INTERRUPTED'
  | 'FAILED'
  | 'EXPIRED';

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

/** Where a call runs. */
export interface ToolContext {
  home: string;
  agent: string;
  session: string;
  call: string;
  signal: AbortSignal;
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
