import {z} from 'zod';
import {nameArgument, type ToolDefinition, textArgument} from './definition.ts';

/** Known to `check` and the policy, but not implemented yet. */
export const laterTools = {
  task: {
    effect: 'write',
    default: 'allow',
    description:
      'Give a piece of work to a fresh agent of the named type and get back a summary of what it found or did.',
    arguments: z.strictObject({
      agent_type: nameArgument('Template id.'),
      description: nameArgument('The whole assignment: the agent sees nothing else.'),
      estimated_complexity: z.enum(['simple', 'moderate', 'complex']).optional(),
    }),
  },
  agent_spawn: {
    effect: 'write',
    default: 'ask',
    description: 'Start a new agent that stays and can be sent messages.',
    arguments: z.strictObject({
      name: nameArgument('Its id.'),
      template: textArgument('Template to make it from.').optional(),
      provider: textArgument('Model provider.').optional(),
      model: textArgument('Model.').optional(),
    }),
  },
} as const satisfies Record<string, ToolDefinition>;
