import {z} from 'zod';
import {refuse} from './yaml/validate.ts';

/** Name of a file in `inbox/`. */
const inboxFile = z
  .string()
  .refine(
    name => INBOX_FILE.test(name),
    refuse('BAD_VALUE', 'expected the name of a file in inbox/', 'write for example slack-messages.jsonl'),
  )
  .meta({pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*\\.jsonl$'});
const INBOX_FILE = /^[A-Za-z0-9][A-Za-z0-9._-]*\.jsonl$/;

/** Name of a variable; a secret hardly ever looks like one. */
const variable = z
  .string()
  .refine(
    name => VARIABLE.test(name),
    refuse(
      'BAD_VALUE',
      'expected the name of an environment variable, never the secret itself',
      'write for example SLACK_SIGNING_SECRET, and set that where the command is started',
    ),
  )
  .meta({pattern: '^[A-Z_][A-Z0-9_]{0,99}$'});
const VARIABLE = /^[A-Z_][A-Z0-9_]{0,99}$/;

const path = z
  .string()
  .refine(
    text => /^\/[A-Za-z0-9/_.-]{0,200}$/.test(text),
    refuse('BAD_VALUE', 'expected a path of letters, digits and / _ . -', 'write for example /slack'),
  );

const host = z.string().min(1).describe('Name or address of the server.');
const port = z.int().min(1).max(65_535);

const webhookKinds = ['slack', 'github', 'standard'] as const;

const webhook = z.looseObject({
  path: path.describe('Where the sender posts to: /slack.'),
  kind: z.enum(webhookKinds).describe('How it signs: as Slack, as GitHub, or by standardwebhooks.com.'),
  secret_env: z
    .union([variable, z.array(variable).min(1).max(4)])
    .describe('The variable with the signing secret; several while one replaces another.'),
  file: inboxFile.describe('The file of inbox/ that its events are appended to.'),
  max_bytes: z
    .int()
    .min(1)
    .max(25 * 1024 * 1024)
    .optional()
    .describe('Longest body; 1048576 if left out.'),
});

export const webhooksSchema = z
  .array(webhook)
  .refine(
    all => new Set(all.map(each => each.path)).size === all.length,
    refuse('BAD_VALUE', 'expected each path once', 'give each webhook a path of its own'),
  )
  .nullable()
  .optional();

export const slackSchema = z
  .looseObject({
    token_env: variable.optional().describe('The variable with the bot token; SLACK_BOT_TOKEN if left out.'),
    api_url: z
      .string()
      .refine(
        isServer,
        refuse('BAD_VALUE', 'expected an https address', 'leave it out: https://slack.com/api/ is Slack itself'),
      )
      .optional()
      .describe("Slack's API, or what stands in for it; plain http only on this machine."),
    file: inboxFile
      .optional()
      .describe('The file of inbox/ that has what was sent, and what slack_read reads; slack-messages.jsonl.'),
    channels: z
      .array(z.string().min(1))
      .optional()
      .describe('Ids of channels whose history slack_read reads without asking; it asks about others.'),
  })
  .nullable()
  .optional();

export const mailSchema = z
  .looseObject({
    file: inboxFile
      .optional()
      .describe('The file of inbox/ that mails are appended to, and what was sent; mail.jsonl.'),
    imap: z
      .looseObject({
        host,
        port: port.optional().describe('993, or 143 with secure: false.'),
        secure: z.boolean().optional().describe('TLS from the first byte; true if left out. If false: STARTTLS.'),
        user: z.string().min(1),
        password_env: variable,
        mailbox: z.string().min(1).optional().describe('INBOX if left out.'),
        poll_seconds: z
          .int()
          .min(1)
          .max(86_400)
          .optional()
          .describe('60 if left out; where the server tells of new mail, it is seen at once.'),
        first: z
          .enum(['new', 'all'])
          .optional()
          .describe('At the first start: only what comes from then on, or all that is there.'),
      })
      .optional(),
    smtp: z
      .looseObject({
        host,
        port: port.optional().describe('465, or 587 with secure: false.'),
        secure: z.boolean().optional().describe('TLS from the first byte; true if left out. If false: STARTTLS.'),
        user: z.string().min(1).optional(),
        password_env: variable.optional(),
        from: z
          .string()
          .refine(
            text => readMailbox(text) !== undefined,
            refuse('BAD_VALUE', 'expected an address', 'write for example "Agents <agents@example.org>"'),
          )
          .describe('Who mails are from.'),
      })
      .optional(),
  })
  .nullable()
  .optional();

export type Webhook = z.infer<typeof webhook>;
type SlackSettings = z.infer<typeof slackSchema>;
export type MailSettings = z.infer<typeof mailSchema>;

export const SLACK_TOKEN = 'SLACK_BOT_TOKEN';
export const SLACK_FILE = 'slack-messages.jsonl';
export const MAIL_FILE = 'mail.jsonl';

/** Tokens are sent in the clear to this machine only. */
export function isLocal(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
}

function isServer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const {protocol, hostname} = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && isLocal(hostname));
}

/** Allows no invisible characters. */
const ADDRESS = /^[^\s\p{C}@<>(),:;"[\]\\]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?$/u;

export function isAddress(text: string): boolean {
  return ADDRESS.test(text);
}

/** Parse `ann@example.org` or `Ann <ann@example.org>`. */
export function readMailbox(text: string): {name: string; address: string} | undefined {
  const [, name = '', named] = /^([^<>\r\n"]{0,200})<([^<>]+)>$/.exec(text.trim()) ?? [];
  const address = (named ?? text).trim();
  return isAddress(address) ? {name: name.trim(), address} : undefined;
}

interface Connectors {
  webhooks?: readonly Webhook[] | null | undefined;
  slack?: SlackSettings;
  mail?: MailSettings;
}

export function connectorVariables({webhooks, slack, mail}: Connectors): string[] {
  return [
    SLACK_TOKEN,
    ...(slack?.token_env ? [slack.token_env] : []),
    ...(webhooks ?? []).flatMap(({secret_env}) => secret_env),
    ...[mail?.imap?.password_env, mail?.smtp?.password_env].filter(name => name !== undefined),
  ];
}
