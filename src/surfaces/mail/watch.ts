import {ImapFlow} from 'imapflow';
import {exit, UserError} from '../../formats/common/errors.ts';
import {isLocal, type MailSettings} from '../../formats/connector-settings.ts';
import {fetchNew, type Mailbox} from './fetch-new.ts';

type Imap = NonNullable<NonNullable<MailSettings>['imap']>;

export interface MailWatchOptions {
  imap: Imap;
  password: string;
  mailbox: Mailbox;
  once: boolean;
  stopping: AbortSignal;
  /** A failure that is retried. */
  trouble: (why: string, seconds: number) => void;
  /** Connected, and existing mail is fetched. */
  ready: () => void;
}

const FIRST_MS = 1_000;
const LAST_MS = 300_000;
const POLL_SECONDS = 60;
const CONNECT_MS = 20_000;
const IDLE_AFTER_MS = 500;
const STOP_MS = 2_000;
/** Temporary refusals of a server (RFC 5530). */
const PASSING: ReadonlySet<string> = new Set(['UNAVAILABLE', 'INUSE', 'LIMIT', 'SERVERBUG']);

/** Fetches mail until stopped, or once. Reconnects after failures. */
export async function watchMail(watching: MailWatchOptions): Promise<void> {
  const {once, stopping, trouble} = watching;
  for (let wait = FIRST_MS; !stopping.aborted; wait = Math.min(wait * 2, LAST_MS)) {
    try {
      await connected(watching, () => {
        wait = FIRST_MS;
      });
      if (once) return;
    } catch (error) {
      if (stopping.aborted) return;
      const failed = connectionError(error, watching);
      if (failed instanceof UserError || once) throw failed;
      trouble(failed.message, wait / 1000);
    }
    await pause(wait, stopping);
  }
}

/** One connection, until it ends. */
async function connected(
  {imap, password, mailbox, once, stopping, ready}: MailWatchOptions,
  onWork: () => void,
): Promise<void> {
  const {host, user, secure = true, poll_seconds = POLL_SECONDS} = imap;
  const client = new ImapFlow({
    host,
    port: imap.port ?? (secure ? 993 : 143),
    secure,
    // Never send a password unencrypted, except to this machine.
    ...(!secure && !isLocal(host) && {doSTARTTLS: true}),
    // Accept self-signed certificates on this machine.
    ...(isLocal(host) && {tls: {rejectUnauthorized: false}}),
    auth: {user, pass: password},
    logger: false,
    connectionTimeout: CONNECT_MS,
    autoIdleDelay: IDLE_AFTER_MS,
    maxLiteralSize: 64 * 1024 * 1024,
  });
  let over: Error | undefined;
  let wake = () => {};
  client.on('error', error => {
    over = error;
    wake();
  });
  client.on('close', () => {
    over ??= new Error('the server closed the connection');
    wake();
  });
  client.on('exists', () => wake());
  let limit: NodeJS.Timeout | undefined;
  const stop = () => {
    wake();
    // Let the current fetch finish, but do not wait for a silent server.
    limit ??= setTimeout(() => client.close(), STOP_MS);
  };
  stopping.addEventListener('abort', stop);
  try {
    await client.connect();
    for (let first = true; !stopping.aborted; first = false) {
      if (over) throw over;
      // Mail that arrives during a fetch is fetched next.
      let woken = false;
      wake = () => {
        woken = true;
      };
      await fetchNew(client, mailbox);
      onWork();
      if (once) return;
      if (first) ready();
      if (over) throw over;
      if (woken || stopping.aborted) continue;
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, poll_seconds * 1000);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  } finally {
    stopping.removeEventListener('abort', stop);
    wake = () => {};
    await goodbye(client);
    clearTimeout(limit);
  }
}

async function goodbye(client: ImapFlow): Promise<void> {
  const limit = setTimeout(() => client.close(), STOP_MS);
  await client.logout().catch(() => {});
  clearTimeout(limit);
  client.close();
}

function connectionError(error: unknown, {imap: {host, user, password_env}}: MailWatchOptions): Error {
  if (error instanceof UserError) return error;
  const {authenticationFailed, serverResponseCode, responseText, message, code} = error as Error & {
    authenticationFailed?: boolean;
    serverResponseCode?: string;
    responseText?: string;
    code?: string;
  };
  if (authenticationFailed && !PASSING.has(serverResponseCode ?? ''))
    return new UserError(
      `${host} rejected the login of ${user}: ${responseText ?? message}`,
      exit.failed,
      `see mail.imap in agentdir.yaml, and the password in ${password_env}`,
    );
  return new Error(`${host}: ${responseText ?? message}${code && !message.includes(code) ? ` (${code})` : ''}`, {
    cause: error,
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
