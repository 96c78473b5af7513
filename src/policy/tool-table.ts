import type {ToolDefinition} from './tool/definition.ts';
import {fileTools} from './tool/file-tools.ts';
import {laterTools} from './tool/later-tools.ts';
import {outsideTools} from './tool/outside-tools.ts';
import {runTools} from './tool/run-tools.ts';
import {talkTools} from './tool/talk-tools.ts';
import {taskTools} from './tool/task-tools.ts';

export type {ToolDefinition, ToolEffect} from './tool/definition.ts';

/** The one list of tools: what `check` knows, what a model is offered, and what the policy says of each. */
export const tools = {
  ...fileTools,
  ...runTools,
  ...taskTools,
  ...talkTools,
  ...outsideTools,
  ...laterTools,
} as const satisfies Record<string, ToolDefinition>;

export type ToolName = keyof typeof tools;
