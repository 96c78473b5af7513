import {z} from 'zod';
import {countArgument, nameArgument, type ToolDefinition, textArgument} from './definition.ts';

const entries = '`n`, `time`, `from` and `text` of each, the oldest first.';

/** Channel and document of a workflow instance. Agents of a workflow with a context have them without asking. */
export const contextTools = {
  channel_send: {
    effect: 'deliver',
    default: 'allow',
    description:
      "Write to the workflow's channel, which all of the team can read. Each @name in it wakes that agent. Your final answer is not posted: what others must know goes here.",
    arguments: z.strictObject({message: nameArgument('The message. @name wakes that agent.')}),
    result: {
      entry: 'The number of the entry.',
      wakes: 'The agents that it wakes.',
      'unknown?': 'Names after @ that are no agents of the workflow.',
    },
  },
  channel_read: {
    effect: 'deliver',
    default: 'allow',
    description:
      "Read the entries of the workflow's channel that you have not had yet, and mark them as read. With `since`, entries after that time.",
    arguments: z.strictObject({
      since: textArgument('Only entries after this time, or after this number.').optional(),
      limit: countArgument('Most entries to return; the rest stay unread.').optional(),
    }),
    result: {entries, 'more?': 'How many more there are.'},
  },
  channel_peek: {
    effect: 'read',
    default: 'allow',
    description: "Look at the latest entries of the workflow's channel without marking them as read.",
    arguments: z.strictObject({limit: countArgument('Most entries to return; 20 if left out.').optional()}),
    result: {entries, 'more?': 'How many earlier ones there are.'},
  },
  document_read: {
    effect: 'read',
    default: 'allow',
    description: "Read the workflow's shared document.",
    arguments: z.strictObject({}),
    result: {
      content: 'The whole text.',
      version: 'Names this version; a later document_write is merged with changes since.',
    },
  },
  document_write: {
    effect: 'write',
    default: 'allow',
    description:
      "Replace the workflow's shared document. What others have changed since you read it is kept, if it is in other lines; else the call fails, and you read it again.",
    arguments: z.strictObject({content: textArgument('The whole new content.')}),
    result: {version: 'Names the new version.', 'merged?': 'Changes of others were kept.'},
  },
  document_append: {
    effect: 'write',
    default: 'allow',
    description: "Add to the end of the workflow's shared document.",
    arguments: z.strictObject({content: nameArgument('What to add.')}),
    result: {version: 'Names the new version.'},
  },
} as const satisfies Record<string, ToolDefinition>;
