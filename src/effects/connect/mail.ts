import {hostname} from 'node:os';
import {PassThrough} from 'node:stream';
import {envValue} from '../../formats/common/values.ts';
import {isLocal, MAIL_FILE, readMailbox} from '../../formats/connector-settings.ts';
import {failure} from '../tool/failure.ts';
import type {Outside, ToolFailure} from '../tool/tool.ts';
import {notReachedCode, unknownOutcome} from './outcome.ts';

const CONNECT_MS = 15_000;
const SILENCE_MS = 30_000;

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
  /** Message-ID of the mail this one answers. */
  answers: string | undefined;
}

export function mailAccess({settings: {mail}, env}: Outside): MailAccess | ToolFailure {
  const missing = (what: string) => failure('FAILED', `mail is not set up: a person has to ${what}. Nothing was sent`);
  const smtp = mail?.smtp;
  if (!smtp) return missing('add mail: {smtp: …} to agentdir.yaml');
  const {host, user, password_env, secure = true} = smtp;
  const pass = password_env === undefined ? undefined : envValue(env, password_env);
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

/** Domain part of a Message-ID: the sender's. */
export function domainOf({from: {address}}: MailAccess): string {
  return address.slice(address.lastIndexOf('@') + 1) || hostname();
}

/** Make one attempt. Never resends a mail that the server accepted or may have accepted. */
export async function sendMail(
  access: MailAccess,
  {to, subject, text, messageId, answers}: OutgoingMail,
  signal: AbortSignal,
): Promise<{answer: string} | ToolFailure> {
  // Loaded here, so that homes without mail never load nodemailer.
  const {createTransport} = await import('nodemailer');
  const {host, port, secure, auth, from} = access;
  const transport = createTransport({
    host,
    port,
    secure,
    // Passwords and mail are sent in the clear to this machine only.
    requireTLS: !secure && !isLocal(host),
    // Servers on this machine use self-signed certificates.
    ...(isLocal(host) && {tls: {rejectUnauthorized: false}}),
    ...(auth && {auth}),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  // Nodemailer reads the text once the server has accepted the login. From then on the server may have the mail.
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
    // A started mail cannot be cancelled; the server may still deliver it.
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

/** Nothing was sent if the server did not get the text or answered with an error. Otherwise the outcome is unknown. */
function mailFailure(error: unknown, begun: boolean): ToolFailure {
  const {responseCode, message} = error as {responseCode?: number; message: string};
  if (responseCode !== undefined && responseCode >= 400)
    return failure('FAILED', `the mail server refuses it: ${message}`);
  const reached = notReachedCode(error);
  if (reached !== undefined) return failure('FAILED', `the mail server cannot be reached (${reached})`);
  if (!begun) return failure('FAILED', `the mail was not sent: ${message}`);
  return unknownOutcome(`the connection to the mail server failed (${message})`);
}
