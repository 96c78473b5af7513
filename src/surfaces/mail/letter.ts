import type {Address, Email} from 'postal-mime';

const MAX_MAIL_TEXT = 100_000;
const MOST_NAMES = 20;

export interface Raw {
  /** Its id in the inbox. */
  id: string;
  source: Buffer;
  /** `source` is incomplete. */
  cut: boolean;
  /** When the server got it. */
  arrived: string;
}

/** Converts a mail to an inbox record; keys of the sender have no meaning. */
export async function letterRecord({id, source, cut, arrived}: Raw): Promise<Record<string, unknown>> {
  const mail = await parse(source);
  const subject = oneLine(mail?.subject ?? '');
  const {words, short} = cutAt(await textOf(mail), MAX_MAIL_TEXT);
  const from = addresses(mail?.from)[0];
  const attachments = (mail?.attachments ?? []).slice(0, MOST_NAMES).map(({filename, mimeType, content}) => ({
    name: oneLine(filename ?? ''),
    type: oneLine(mimeType ?? ''),
    bytes: typeof content === 'string' ? content.length : content.byteLength,
  }));
  const record = {
    id,
    ts: arrived,
    source: 'email',
    text: [subject && `Subject: ${subject}`, words].filter(Boolean).join('\n\n') || '(an empty mail)',
    from: from?.address,
    name: from?.name,
    subject,
    thread: threadOf(mail) ?? id,
    message_id: messageIds(mail?.messageId)[0],
    recipients: [...addresses(mail?.to), ...addresses(mail?.cc)].slice(0, MOST_NAMES).map(({address}) => address),
    attachments: attachments.length > 0 ? attachments : undefined,
    incomplete: cut || short ? 'it is longer than what is here' : undefined,
  };
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined && value !== ''));
}

/** An unreadable mail becomes a placeholder. */
async function parse(source: Buffer): Promise<Email | undefined> {
  const {default: PostalMime} = await import('postal-mime');
  try {
    return await PostalMime.parse(source, {maxNestingDepth: 50});
  } catch {
    return undefined;
  }
}

async function textOf(mail: Email | undefined): Promise<string> {
  if (!mail) return '(this mail could not be read)';
  const text = mail.text?.trim() ?? '';
  if (text !== '' || !mail.html) return text;
  const {readHtml} = await import('../../effects/web/html-thread.ts');
  return (await readHtml(mail.html, 'about:blank', new AbortController().signal)).content.trim();
}

/** The Message-ID of the first mail of the conversation. */
function threadOf(mail: Email | undefined): string | undefined {
  return messageIds(mail?.references)[0] ?? messageIds(mail?.inReplyTo)[0] ?? messageIds(mail?.messageId)[0];
}

function messageIds(text: string | undefined): string[] {
  return text?.slice(0, 10_000).match(/<[^<>\s]{1,400}>/g) ?? [];
}

function addresses(given: Address | Address[] | undefined): {name: string; address: string}[] {
  return [given ?? []].flat().flatMap(each => {
    const group = each.group ?? [each];
    return group.flatMap(({name, address}) =>
      address ? [{name: oneLine(name ?? ''), address: oneLine(address)}] : [],
    );
  });
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, 500);
}

function cutAt(text: string, most: number): {words: string; short: boolean} {
  return text.length > most ? {words: text.slice(0, most), short: true} : {words: text, short: false};
}
