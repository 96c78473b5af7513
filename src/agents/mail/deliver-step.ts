import {taintKeys} from '../../decide/taint.ts';
import {withHeader} from '../../decide/turn.ts';
import {stemOf} from '../../formats/common/key.ts';
import {type Item, newSession, type Session} from '../../formats/session/session.ts';
import {appendItems, insertMessage, messageItem} from '../../formats/session/session-edit.ts';
import type {Message, SessionHeader} from '../../formats/session/session-schema.ts';
import {timestamp} from '../../home/disk/clock.ts';
import {crashPoint} from '../../home/disk/crash.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {DaemonEntry} from '../../loop/planned-write.ts';
import type {Creation} from '../../loop/reconciler.ts';
import {countMovable, FULL_AT, makeRoom} from '../sessions/make-room.ts';
import type {SessionStep} from '../sessions/step.ts';
import type {Letter} from '../state/mail.ts';
import type {With} from '../state/parts.ts';
import {sharedSession} from './receivers.ts';

/** Insert the letters for a session. A letter that the session already has is only reported as delivered. */
export async function deliverStep(
  daemon: With<'files' | 'reports' | 'turns' | 'mail' | 'approvals'>,
  path: string,
  session: Session,
  now: string,
): Promise<SessionStep | undefined> {
  const {mail} = daemon;
  const letters = mail.lettersFor(path);
  if (letters.length === 0) return undefined;
  const id = session.header?.session_id ?? stemOf(path);
  const byDelivery = new Map(session.messages.map(({delivery}, i) => [delivery, i]));
  const earlier = await daemon.turns.segments.ids(session.header?.segments ?? []);
  const isDelivered = (letter: Letter) => byDelivery.has(letter.id) || earlier.some(ids => ids.has(letter.id));
  const fresh: Letter[] = [];
  const {agent_id, status} = session.header ?? {};
  for (const letter of letters) {
    const at = byDelivery.get(letter.id);
    const begun = at === undefined || isBegun(session, at);
    if (isDelivered(letter))
      mail.delivered(path, letter, {
        ...{session: id, begun},
        at: session.messages[at ?? -1]?.timestamp,
        content: session.messages[at ?? -1]?.content,
      });
    else if (letter.unsure && (agent_id !== letter.agent || status === 'completed')) forwardLetter(daemon, letter);
    else fresh.push(letter);
  }
  const delivery = await insertLetters(daemon, path, session, fresh, now);
  if (!delivery) return undefined;
  const {session: result, letters: inserted} = delivery;
  const wakes = status === undefined || status === 'sleeping';
  return {
    session: withHeader(result, {...(wakes && {status: 'active'}), ...taintKeys(result)}, now),
    entry: entryOf(inserted),
    done: () => {
      crashPoint('delivery');
      for (const letter of inserted)
        mail.delivered(path, letter, {session: id, begun: false, at: now, content: letter.message.content});
    },
  };
}

/** Forward a letter to the shared session, because its session is completed or belongs to another agent. */
function forwardLetter({files, mail}: With<'files' | 'mail'>, {unsure: _, ...letter}: Letter): void {
  const {path, opening} = sharedSession(files, letter.agent);
  mail.post(path, {...letter, opening});
  lookAgain(files, path);
}

/** The session with as many letters as there is room for; undefined if none. */
async function insertLetters(
  daemon: With<'files' | 'reports' | 'turns' | 'approvals'>,
  path: string,
  session: Session,
  letters: readonly Letter[],
  now: string,
): Promise<{session: Session; letters: readonly Letter[]} | undefined> {
  const {turns} = daemon;
  if (letters.length === 0) return undefined;
  const single = letters.filter(({bulk}) => !bulk);
  // Bulk letters wait: the session is large, and its pending work keeps older messages from moving.
  const isFull = session.body.length > FULL_AT / 2 && countMovable(daemon, path, session) === 0;
  const many = isFull ? [] : letters.filter(({bulk}) => bulk);
  let result = session;
  for (const letter of single) {
    const {asked, ahead} = {asked: turns.question(path), ahead: turns.questionAhead(path)};
    const basis = Math.max(asked?.basis.length ?? 0, ahead?.basis.length ?? 0);
    const at = letter.message.priority === 'high' ? urgentPosition(result.messages, basis) : result.messages.length;
    const replacement = letter.unless?.(session.messages);
    const message = messageOf(letter, now);
    result = insertMessage(result, at, replacement === undefined ? message : {...message, content: replacement});
  }
  const grown = await appendMany(daemon.files, result, many, now);
  const moved = await makeRoom(daemon, path, grown, now);
  const inserted = [...single, ...many];
  return inserted.length > 0 ? {session: moved, letters: inserted} : undefined;
}

/** Append many messages in time slices, so that other work can run. */
async function appendMany(
  {disk}: HomeFiles,
  session: Session,
  letters: readonly Letter[],
  now: string,
): Promise<Session> {
  const {clock} = disk;
  const items: Item[] = [];
  let slice = clock.monotonic();
  let result = session;
  for (const letter of letters) {
    const item = messageItem(session, messageOf(letter, now));
    if (item) items.push(item);
    else {
      result = insertMessage(appendItems(result, items), result.messages.length + items.length, messageOf(letter, now));
      items.length = 0;
    }
    if (clock.monotonic() - slice < SLICE_MS) continue;
    await clock.nextTurn();
    slice = clock.monotonic();
  }
  return appendItems(result, items);
}

const SLICE_MS = 5;

const MOST_AT_FIRST = 20;

/** Create the session for the letters at this path, with the first of them. */
export async function newSessionFor(
  {files, current, mail}: With<'files' | 'current' | 'mail'>,
  path: string,
): Promise<Creation> {
  // The rest is delivered once the session exists.
  const letters = urgentFirst(mail.lettersFor(path)).slice(0, MOST_AT_FIRST);
  const [first] = letters;
  const template = first && (await current.template(first.agent));
  if (!first || !template) return undefined;
  const now = timestamp(files.disk.clock);
  const id = stemOf(path);
  const header: SessionHeader = {
    session_id: id,
    agent_id: first.agent,
    agent_type: template.type,
    model: template.model ?? 'default',
    system_prompt: template.system_prompt,
    created: now,
    updated: now,
    status: 'active',
    ...first.opening,
  };
  const messages = letters.map(letter => messageOf(letter, now));
  Object.assign(header, taintKeys({header, messages}));
  const schema = `${'../'.repeat(path.split('/').length - 1)}schemas/session.json`;
  return {
    text: newSession(header, messages, schema),
    entry: openingEntry(first, letters),
    done: () => {
      crashPoint('delivery');
      for (const letter of letters)
        mail.delivered(path, letter, {session: id, begun: false, at: now, content: letter.message.content});
    },
    next: {after: 1},
  };
}

function messageOf({id, message}: Letter, now: string): Message {
  return {timestamp: now, role: 'user', ...message, delivery: id};
}

function isBegun({messages}: Session, at: number): boolean {
  return messages.slice(at + 1).some(({role}) => role === 'assistant');
}

/** High priority first, otherwise in order. */
function urgentFirst(letters: readonly Letter[]): Letter[] {
  const isHigh = ({message}: Letter) => message.priority === 'high';
  return [...letters.filter(isHigh), ...letters.filter(letter => !isHigh(letter))];
}

/** Before waiting messages, but after results and after the messages that the model is being asked about. */
function urgentPosition(messages: readonly Message[], basis: number): number {
  let at = messages.length;
  while (at > basis && messages[at - 1]?.role === 'user') at--;
  while (at < messages.length && messages[at]?.priority === 'high') at++;
  return at;
}

/** The entry of a new session. */
function openingEntry({opening: {parent}}: Letter, letters: readonly Letter[]): DaemonEntry {
  const entry = entryOf(letters);
  if (!parent) return entry;
  const trailers: [string, string][] = [...(entry.trailers ?? []), ['Parent', parent.session], ['Call', parent.call]];
  return {...entry, words: `begins a task for ${parent.session}`, trailers};
}

function entryOf(letters: readonly Letter[]): DaemonEntry {
  const from = [...new Set(letters.map(({message}) => message.from ?? ''))];
  const words = from.length > 3 ? `${from.slice(0, 3).join(', ')} and ${from.length - 3} more` : from.join(', ');
  return {
    words: `message from ${words}`,
    cause: 'delivery',
    trailers: letters.slice(0, 10).map(({id}): [string, string] => ['Delivery', id]),
  };
}
