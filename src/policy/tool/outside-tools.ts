import {z} from 'zod';
import {countArgument, nameArgument, type ToolDefinition, textArgument} from './definition.ts';

export const outsideTools = {
  slack_send: {
    effect: 'outside',
    default: 'ask',
    alwaysAsks: true,
    description: 'Post a message to a Slack channel or thread. A person approves each one first.',
    arguments: z.strictObject({
      channel: nameArgument('Channel or user, by id or #name.'),
      text: nameArgument('The message, in Slack mrkdwn.'),
      thread: textArgument('Thread to answer in: the `thread` of the message that is answered.').optional(),
    }),
    result: {
      channel: 'Id of the channel.',
      ts: "Slack's name for the message.",
      message_id: 'Under which it was sent: the same call never posts two.',
      'logged?': 'The inbox file that has a record of it.',
      'not_logged?': 'Why there is none.',
    },
  },
  slack_read: {
    effect: 'read',
    default: 'allow',
    description:
      'Read the latest Slack messages: those that came to this home, or with `channel` the history of a channel that the bot is in. A person approves channels that the settings do not list.',
    arguments: z.strictObject({
      channel: textArgument('Id of a channel; without it, what came to this home.').optional(),
      thread: textArgument('Only this thread.').optional(),
      limit: countArgument('Most messages to return; 20 if left out, 100 at most.').optional(),
    }),
    result: {
      messages:
        '`from`, `text`, `channel`, `thread` and `ts` of each, the oldest first; `direction: out` of what was sent.',
      'more?': 'There are older ones.',
      untrusted: 'Always: people outside wrote them.',
    },
  },
  email_send: {
    effect: 'outside',
    default: 'ask',
    alwaysAsks: true,
    description: 'Send a plain text e-mail to one address. A person approves each one first.',
    arguments: z.strictObject({
      to: nameArgument('Address.'),
      subject: nameArgument('Subject.'),
      text: nameArgument('Plain text body.'),
      thread: textArgument('Message-ID of the mail that is answered: its `thread`.').optional(),
    }),
    result: {
      to: 'The address.',
      message_id: 'Its Message-ID: the same call never has two.',
      'logged?': 'The inbox file that has a record of it.',
      'not_logged?': 'Why there is none.',
    },
  },
} as const satisfies Record<string, ToolDefinition>;
