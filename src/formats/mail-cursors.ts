import {z} from 'zod';
import type {Problem} from './common/diagnostic.ts';
import {validate} from './yaml/validate.ts';
import {time} from './yaml/value-schemas.ts';
import {readQuickly} from './yaml/yaml-quick.ts';
import {yamlText} from './yaml/yaml-text.ts';

export const MAIL_CURSORS = 'state/mail.yaml';

const cursor = z.looseObject({
  uid_validity: z.string().regex(/^\d+$/).describe('Of the mailbox: if it is another one, all of its numbers are.'),
  uid: z.int().min(0).describe('The last mail that is in the inbox file.'),
  since: time.describe('When the reading began, if mails from before are not taken.').optional(),
  renumbered: z.int().min(0).describe('Up to this uid mails were there before they got other numbers.').optional(),
});

const cursorsSchema = z.looseObject({mailboxes: z.record(z.string(), cursor)});

export type MailCursor = z.infer<typeof cursor>;

export interface MailCursors {
  text: string;
  value: {mailboxes: Record<string, MailCursor>} | undefined;
  problems: Problem[];
}

/** Must not throw. */
export function parseMailCursors(text: string): MailCursors {
  return {text, ...validate(cursorsSchema, readQuickly(text), 'delete the file: agentdir mail then starts over')};
}

export function mailCursorsText(mailboxes: Readonly<Record<string, MailCursor>>): string {
  return `# How far agentdir mail has read each mailbox; it writes this.\n${yamlText({mailboxes})}`;
}
