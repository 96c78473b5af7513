import {z} from 'zod';
import {sessionStatuses} from '../../formats/session/session-status.ts';
import {nameArgument, type ToolDefinition, textArgument} from './definition.ts';

export const talkTools = {
  send_message: {
    effect: 'deliver',
    default: 'allow',
    description:
      'Send a message to another agent of this home; it wakes up and reads it. An answer comes as a message to you.',
    arguments: z.strictObject({
      to: nameArgument('Agent id, with or without @.'),
      content: nameArgument('The message.'),
      priority: z.enum(['normal', 'high']).describe('high: before others that wait for the agent.').optional(),
    }),
    result: {to: 'The agent.', session: 'The session that it is in now.'},
  },
  list_agents: {
    effect: 'read',
    default: 'allow',
    description: 'List the agents of this home with what they do.',
    arguments: z.strictObject({}),
    result: {
      agents: '`id`, `type` and `description` of each.',
      'others?': 'The ids of those that did not fit.',
      'left_out?': 'How many did not fit.',
    },
  },
  list_sessions: {
    effect: 'read',
    default: 'allow',
    description: 'List sessions with their status.',
    arguments: z.strictObject({
      agent: textArgument('Only of this agent.').optional(),
      status: z.enum(sessionStatuses).describe('Only with this status.').optional(),
    }),
    result: {
      sessions: '`id`, `agent`, `status` and `updated` of each, the latest first.',
      'left_out?': 'How many did not fit.',
    },
  },
} as const satisfies Record<string, ToolDefinition>;
