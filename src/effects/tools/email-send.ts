import {isAddress} from '../../formats/connector-settings.ts';
import {domainOf, mailAccess, sendMail} from '../connect/mail.ts';
import {logSent, uuidOf} from '../connect/outcome.ts';
import {failure, isFailure} from '../tool/failure.ts';
import type {Arguments, Tool, ToolFailure} from '../tool/tool.ts';

const LONGEST_SUBJECT = 500;
const MAX_MAIL_TEXT = 1024 * 1024;

export const emailSendTool: Tool<'email_send'> = {
  async execute(args, context) {
    const {outside, signal} = context;
    const access = unfit(args) ?? mailAccess(outside);
    if (isFailure(access)) return access;
    const {to, subject, text, thread} = args;
    const messageId = `<${uuidOf(outside.messageName, [to, subject, text, thread])}@${domainOf(access)}>`;
    const sent = await sendMail(access, {to, subject, text, messageId, answers: thread}, signal);
    if (isFailure(sent)) return sent;
    const record = {id: messageId, source: 'email', text, subject, recipient: to, thread: thread ?? messageId};
    return {success: true, to, message_id: messageId, ...(await logSent(context, access.file, record))};
  },
  ask(args, {outside}) {
    const access = unfit(args) ?? mailAccess(outside);
    if (isFailure(access)) return access;
    const {to, subject, text, thread} = args;
    const {name, address} = access.from;
    const from = name === '' ? address : `${name} <${address}>`;
    return {
      type: 'external_message',
      title: `e-mail to ${to}: ${subject.slice(0, 120)}`,
      parts: [
        {label: 'To', text: to},
        {label: 'From', text: from},
        {label: 'Subject', text: subject},
        ...(thread === undefined ? [] : [{label: 'Answers', text: thread}]),
        {label: 'Text', text},
      ],
      edits: {argument: 'text', label: 'Text'},
      basis: {mail: `${access.host}:${access.port} ${from}`},
      always: {none: 'what goes to people outside is asked each time'},
    };
  },
};

function unfit({to, subject, text, thread}: Arguments<'email_send'>): ToolFailure | undefined {
  const wrong = (what: string) => failure('INVALID_ARGUMENTS', what);
  if (!isAddress(to))
    return wrong(`to: expected one address such as ann@example.org, got ${JSON.stringify(to.slice(0, 100))}`);
  if (subject.trim() === '' || subject.length > LONGEST_SUBJECT || CONTROL.test(subject))
    return wrong(`subject: expected one line of at most ${LONGEST_SUBJECT} characters`);
  if (text.trim() === '') return wrong('text: expected a message, got nothing but blanks');
  if (text.length > MAX_MAIL_TEXT)
    return wrong(`text: expected at most ${MAX_MAIL_TEXT} characters, got ${text.length}`);
  if (text.includes('\0')) return wrong('text: expected plain text, got a NUL');
  if (thread !== undefined && !/^<[^<>\s]{1,400}>$/.test(thread))
    return wrong(`thread: expected a Message-ID such as <1@example.org>, got ${JSON.stringify(thread.slice(0, 100))}`);
  return undefined;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters.
const CONTROL = /[\0-\x1f\x7f-\x9f\u2028\u2029]/;
