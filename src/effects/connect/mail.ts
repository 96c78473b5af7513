import {hostname} from 'node:os';
import {PassThrough} from 'node:stream';
import {isLocal, MAIL_FILE, readMailbox} from '../../formats/connector-settings.ts';
import {failure} from '../tool/failure.ts';
import type {Outside, ToolFailure} from '../tool/tool.ts';
import {notReachedCode, unknownOutcome} from './outcome.ts';
import {variable} from './set-up.ts';

const CONNECT_MS = 15_000;
const SILENCE_MS = 30_000;

/** How mail is sent. */
export interface MailAccess {
  host: string;
  port: number;
  secure: boolean;
  auth: {user: string; pass: string} | undefined;
  from: {name: string; address: string};
  file: string;
}

export interface OutgoingMail {
  to: string;
  subject: string;
  text: string;
  messageId: string;
  /** The mail that it answers. */
  answers: string | undefined;
}

export function mailAccess({settings: {mail}, env}: Outside): MailAccess | ToolFailure {
  const missing = (what: string) => failure('FAILED', `mail is not set up: a person has to ${what}. Nothing was sent`);
  const smtp = mail?.smtp;
  if (!smtp) return missing('add mail: {smtp: …} to agentdir.yaml');
  const {host, user, password_env, secure = true} = smtp;
  const pass = password_env === undefined ? undefined : variable(env, password_env);
  if (user !== undefined && password_env === undefined)
    return missing('name the variable with the password: password_env');
  if (password_env !== undefined && pass === undefined)
    return missing(`set ${password_env} where the daemon is started`);
  return {
    host,
    port: smtp.port ?? (secure ? 465 : 587),
    secure,
    auth: user !== undefined && pass !== undefined ? {user, pass} : undefined,
    from: readMailbox(smtp.from) ?? {name: '', address: smtp.from},
    file: mail?.file ?? MAIL_FILE,
  };
}

/** The part of a Message-ID after the @: of whoever it is from. */
export function domainOf({from: {address}}: MailAccess): string {
  return address.slice(address.lastIndexOf('@') + 1) || hostname();
}

/** One try. What the server took, or may have taken, is not sent again. */
export async function sendMail(
  access: MailAccess,
  {to, subject, text, messageId, answers}: OutgoingMail,
  signal: AbortSignal,
): Promise<{answer: string} | ToolFailure> {
  // Whoever never sends mail does not load it.
  const {createTransport} = await import('nodemailer');
  const {host, port, secure, auth, from} = access;
  const transport = createTransport({
    host,
    port,
    secure,
    // No password and no text goes over the wire in the clear, but to this machine.
    requireTLS: !secure && !isLocal(host),
    // Programs on this machine sign their certificates themselves.
    ...(isLocal(host) && {tls: {rejectUnauthorized: false}}),
    ...(auth && {auth}),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  // The text is asked for when the server is there and knows us: from then on it may have it.
  let begun = false;
  transport.use('stream', (mail, done) => {
    mail.message.transform(() => {
      begun = true;
      return new PassThrough();
    });
    done();
  });
  const sending = transport.sendMail({
    from,
    to: {name: '', address: to},
    subject,
    text,
    messageId,
    ...(answers !== undefined && {inReplyTo: answers, references: answers}),
  });
  try {
    const sent = await Promise.race([sending, aborted(signal)]);
    // It cannot be called back: it may still be sent.
    return sent ? {answer: String(sent.response)} : unknownOutcome('it was stopped before the mail server answered');
  } catch (error) {
    return mailFailure(error, begun);
  } finally {
    sending.catch(() => {});
    transport.close();
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise(resolve => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), {once: true});
  });
}

/** Before the text is handed over nothing is sent, and a server that says no has not taken it. Else nobody knows. */
function mailFailure(error: unknown, begun: boolean): ToolFailure {
  const {responseCode, message} = error as {responseCode?: number; message: string};
  if (responseCode !== undefined && responseCode >= 400)
    return failure('FAILED', `the mail server refuses it: ${message}`);
  const reached = notReachedCode(error);
  if (reached !== undefined) return failure('FAILED', `the mail server cannot be reached (${reached})`);
  if (!begun) return failure('FAILED', `the mail was not sent: ${message}`);
  return unknownOutcome(`the connection to the mail server failed (${message})`);
}
