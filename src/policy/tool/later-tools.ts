import {z} from 'zod';
import {countArgument, nameArgument, type ToolDefinition, textArgument} from './definition.ts';

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
  channel_send: {
    effect: 'write',
    default: 'allow',
    description: "Write to the workflow's channel. `@name` wakes that agent.",
    arguments: z.strictObject({message: nameArgument('The message.')}),
  },
  channel_read: {
    effect: 'read',
    default: 'allow',
    description: "Read the workflow's channel.",
    arguments: z.strictObject({
      since: textArgument('Only entries after this time.').optional(),
      limit: countArgument('Most entries to return.').optional(),
    }),
  },
  channel_peek: {
    effect: 'read',
    default: 'allow',
    description: "Look at the latest entries of the workflow's channel without marking them as read.",
    arguments: z.strictObject({limit: countArgument('Most entries to return.').optional()}),
  },
  document_read: {
    effect: 'read',
    default: 'allow',
    description: "Read the workflow's shared document.",
    arguments: z.strictObject({}),
  },
  document_write: {
    effect: 'write',
    default: 'ask',
    description: "Replace the workflow's shared document.",
    arguments: z.strictObject({content: textArgument('The whole new content.')}),
  },
  document_append: {
    effect: 'write',
    default: 'ask',
    description: "Add to the end of the workflow's shared document.",
    arguments: z.strictObject({content: nameArgument('What to add.')}),
  },
} as const satisfies Record<string, ToolDefinition>;
