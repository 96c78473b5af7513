import {createHash} from 'node:crypto';
import type {FetchMessageObject, ImapFlow} from 'imapflow';
import {exit, UserError} from '../../formats/common/errors.ts';
import {newRecord} from '../../formats/inbox.ts';
import type {MailCursor} from '../../formats/mail-cursors.ts';
import type {ReceivedIds} from '../../home/received-ids.ts';
import type {Redactor} from '../../policy/redact/redact.ts';
import {cursorOf, moveCursor} from './cursors.ts';
import {letterRecord} from './letter.ts';

/** Fetch only the beginning of longer mails. */
const MAX_MAIL_BYTES = 10 * 1024 * 1024;
const BEGINNING = 1024 * 1024;
/** Save the position after this many mails. */
const BATCH = 50;

export interface Mailbox {
  home: string;
  /** Key in `state/mail.yaml`. */
  name: string;
  path: string;
  first: 'new' | 'all';
  /** Stops between mails. */
  stopping: AbortSignal;
  received: ReceivedIds;
  /** The address that agents write from. */
  own: string | undefined;
  redact: Redactor;
  tell: (told: {
    event: 'received' | 'known' | 'began' | 'ignored';
    why?: string;
    id?: string;
    from?: unknown;
    uid?: number;
  }) => void;
}

/**
 * Appends new mails to the inbox, in order. The position moves after the lines are durable; after a crash, repeated
 * mails are recognised by id. Never changes the mailbox.
 */
export async function fetchNew(client: ImapFlow, mailbox: Mailbox): Promise<number> {
  const {home, name, path} = mailbox;
  const lock = await client.getMailboxLock(path, {readOnly: true}).catch(error => {
    throw error.responseStatus ? notOpened(path, error) : error;
  });
  try {
    if (!client.mailbox) return 0;
    const {uidValidity, uidNext} = client.mailbox;
    const known = cursorOf(home, name);
    let cursor = begin(known, String(uidValidity), uidNext, mailbox.first);
    if (known === undefined) mailbox.tell({event: 'began', uid: cursor.uid});
    const move = async (to: MailCursor) => {
      cursor = to;
      await moveCursor(home, name, to);
    };
    if (cursor !== known) await move(cursor);
    const fresh = await list(client, cursor.uid);
    let taken = 0;
    for (const [at, message] of fresh.entries()) {
      if (await receiveMail(client, mailbox, message, cursor)) taken++;
      const last = at === fresh.length - 1 || mailbox.stopping.aborted;
      const next = {...cursor, uid: message.uid};
      if (last || at % BATCH === BATCH - 1) await move(next);
      else cursor = next;
      if (last) break;
    }
    return taken;
  } finally {
    lock.release();
  }
}

function notOpened(path: string, {responseText}: {responseText?: string}): UserError {
  const why = responseText ?? 'the server refused';
  return new UserError(`the mailbox "${path}" cannot be opened: ${why}`, exit.failed, 'see mail.imap in agentdir.yaml');
}

/** After a new UIDVALIDITY, all mails are checked again; known and older ones are skipped. */
function begin(known: MailCursor | undefined, validity: string, next: number, first: 'new' | 'all'): MailCursor {
  if (known?.uid_validity === validity) return known;
  if (known) return {...known, uid_validity: validity, uid: 0, renumbered: Math.max(0, next - 1)};
  const isNew = first === 'new';
  return {
    uid_validity: validity,
    uid: isNew ? Math.max(0, next - 1) : 0,
    ...(isNew && {since: new Date().toISOString()}),
  };
}

async function list(client: ImapFlow, after: number): Promise<FetchMessageObject[]> {
  const all = await client.fetchAll(`${after + 1}:*`, {uid: true, size: true, internalDate: true}, {uid: true});
  // "5:*" includes the last mail even if its number is lower.
  return all.filter(({uid}) => uid > after).sort((a, b) => a.uid - b.uid);
}

async function receiveMail(
  client: ImapFlow,
  mailbox: Mailbox,
  message: FetchMessageObject,
  cursor: MailCursor,
): Promise<boolean> {
  const {name, received, redact, tell} = mailbox;
  const {uid, size = 0, internalDate} = message;
  const arrived = internalDate === undefined ? new Date() : new Date(internalDate);
  const again = uid <= (cursor.renumbered ?? 0);
  // Server times have whole seconds.
  if (again && cursor.since !== undefined && arrived.getTime() < Date.parse(cursor.since) - 1000) return false;
  const cut = size > MAX_MAIL_BYTES;
  const fetched = await client.fetchOne(
    String(uid),
    {source: cut ? {start: 0, maxLength: BEGINNING} : true},
    {uid: true},
  );
  if (!fetched || fetched.source === undefined) return false;
  const id = `mail:${name}:${cursor.uid_validity}:${uid}`;
  const digest = `mail-source:${createHash('sha256').update(fetched.source).digest('hex')}`;
  const {id: _, ...rest} = await letterRecord({id, source: fetched.source, cut, arrived: arrived.toISOString()});
  if (isOwn(rest, mailbox.own)) {
    tell({event: 'ignored', id, why: 'an agent of ours wrote it', uid});
    return false;
  }
  const record = {id, ...redact.value(rest)};
  const became = await received.appendOnce(again ? [id, digest] : [id], newRecord(record), [digest]);
  tell({event: became === 'taken' ? 'received' : 'known', id, from: rest.from, uid});
  return became === 'taken';
}

/** A copy of a mail by email_send, which is already recorded. */
function isOwn({from, message_id}: Record<string, unknown>, own: string | undefined): boolean {
  const ours = /^<[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}@/;
  return own !== undefined && String(from).toLowerCase() === own.toLowerCase() && ours.test(String(message_id));
}
