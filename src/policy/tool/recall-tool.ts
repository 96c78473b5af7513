import {z} from 'zod';
import {countArgument, type ToolDefinition, textArgument} from './definition.ts';

export const recallTools = {
  recall: {
    effect: 'read',
    default: 'allow',
    description:
      'Find what was said earlier in this conversation, also where only notes about it are left. Give a query: words to look for; or from and to: the numbers of the first and the last message.',
    arguments: z.strictObject({
      query: textArgument('Words to look for; the rarer, the better.').optional(),
      from: countArgument('Number of the first message.').optional(),
      to: countArgument('Number of the last message; the first one alone if left out.').optional(),
      offset: countArgument('How many characters of the first message to skip.').optional(),
    }),
    result: {
      messages: '`n`, `from`, `time`, `text` and `calls` of each; `untrusted` if it came from outside.',
      found: 'How many messages match, or are in the range.',
      'more?': 'How to get what is left.',
    },
  },
} as const satisfies Record<string, ToolDefinition>;
