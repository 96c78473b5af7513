import {isUtf8} from 'node:buffer';
import {type Problem, problem} from '../../formats/common/diagnostic.ts';
import {isId} from '../../formats/common/values.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {type Cursor, deliveredAs, type Position} from '../../formats/cursor-file.ts';
import {readRecord} from '../../formats/inbox.ts';
import {
  KEYED,
  keyDelivery,
  lineDelivery,
  messageContent,
  recordValue,
  routeOf,
  shortHash,
  threadOf,
} from '../../formats/inbox-message.ts';
import type {Rejected} from '../../formats/rejected.ts';
import type {InboxRoute, Settings} from '../../formats/settings.ts';
import {timestamp} from '../../home/disk/clock.ts';
import {MAX_LINE, type RawLine} from '../../home/inbox-lines.ts';
import {agentExists, suggestAgents} from '../mail/agents.ts';
import {inboxSession} from '../mail/receivers.ts';
import type {InboxReading} from '../state/inboxes.ts';
import type {Letter} from '../state/mail.ts';
import type {AgentReports, With} from '../state/parts.ts';
import {keysDelivered} from './lines-found.ts';

/** A letter and the path of its session. */
export interface AddressedLetter {
  path: string;
  letter: Omit<Letter, 'delivered'>;
}

/** The result of reading some lines of an inbox. */
export interface InboxBatch {
  letters: AddressedLetter[];
  rejected: Rejected[];
  /** How many lines were read, and the offset after them. */
  lines: number;
  end: number;
  /** Why the next line has to wait. */
  blocked?: {problem?: Problem; agent?: string; line: number};
}

const SLICE_MS = 5;

/** Convert lines to letters. `at`: the position in the file that contains them. Lines in `reading.skip` are skipped. */
export async function readBatch(
  daemon: With<'files' | 'reports' | 'current'>,
  reading: InboxReading,
  at: Position,
  lines: readonly RawLine[],
): Promise<InboxBatch> {
  const {files} = daemon;
  const settings = await daemon.current.settings();
  const route = routeOf(reading.name, settings.inbox?.routes ?? []);
  const batch: InboxBatch = {letters: [], rejected: [], lines: 0, end: at.offset};
  const keys = new Set<string>();
  const isMain = at.generation === reading.cursor?.generation;
  const as = deliveredAs(reading.name, at);
  let slice = files.disk.clock.monotonic();
  for (const line of lines) {
    // Let other work run.
    if (files.disk.clock.monotonic() - slice > SLICE_MS) {
      await files.disk.clock.nextTurn();
      slice = files.disk.clock.monotonic();
    }
    const hash = shortHash(line.bytes);
    const number = at.line + batch.lines + 1;
    const isOld = isMain && line.start < (reading.cursor?.rewritten ?? 0) && reading.skip?.takeOne(hash) === true;
    const id = lineDelivery({...as, offset: line.start, hash});
    const read = isOld ? undefined : await readLine(daemon, {reading, id, line, number, route, settings});
    if (read && 'blocked' in read) {
      batch.blocked = {...read.blocked, line: number};
      break;
    }
    if (isMain && !isOld) reading.lines.add(hash);
    batch.lines++;
    batch.end = line.start + line.length;
    if (read && 'rejected' in read) batch.rejected.push(read.rejected);
    else if (read && !keys.has(read.letter.id)) {
      keys.add(read.letter.id);
      batch.letters.push(read);
    }
  }
  return batch;
}

interface Line {
  reading: Pick<InboxReading, 'name' | 'path'>;
  /** Delivery id, unless the line has a key. */
  id: string;
  line: Pick<RawLine, 'length' | 'bytes' | 'tooLong'>;
  number: number;
  route: InboxRoute | undefined;
  settings: Settings;
}

type LineResult =
  | AddressedLetter
  | {rejected: Rejected}
  | {blocked: Omit<NonNullable<InboxBatch['blocked']>, 'line'>}
  | undefined;

/** Returns undefined if there is nothing to deliver. */
async function readLine(
  {files, reports, current}: With<'files' | 'reports' | 'current'>,
  of: Line,
): Promise<LineResult> {
  const {reading, line, number, route, settings} = of;
  const reject = (reason: string, rest: Partial<Rejected> = {}): LineResult => ({
    rejected: {
      ...{id: of.id, file: reading.path, line: number, at: timestamp(files.disk.clock)},
      reason: reports.redact.text(reason),
      ...rest,
      ...rejectedFields(reports, line),
    },
  });
  if (line.tooLong)
    return reject(`expected at most ${MAX_LINE / 1024 / 1024} MB in a line, found ${line.length} bytes`);
  if (!isUtf8(line.bytes)) return reject('expected UTF-8 text, found other bytes');
  const source = line.bytes
    .toString()
    .replace(/^\ufeff/, '')
    .trim();
  if (source === '') return undefined;
  const record = readRecord(source);
  if (typeof record === 'string') return reject(record);
  if (record.outgoing) return undefined;
  const own = route?.to === undefined ? record.to : undefined;
  const agent = (route?.to ?? own ?? settings.default_agent)?.trim().replace(/^@/, '');
  if (own !== undefined && !isId(agent ?? ''))
    return reject(`expected the name of an agent in "to", got ${shown(own)}`);
  if (agent === undefined || agent === '') return {blocked: {problem: nobody(reading.path, number)}};
  const template = agentExists(files, agent) ? await current.template(agent) : undefined;
  if (!template && own !== undefined)
    return reject(`expected an agent in "to", got "${agent}": ${suggestAgents(files, agent)}`, {to: agent});
  if (!template) return {blocked: {agent}};
  const key = route?.key === undefined ? undefined : recordValue(record.data, route.key);
  const id = route && key !== undefined ? keyDelivery(route, key) : of.id;
  const thread = threadOf(record.data, route);
  const scope = route?.files ?? reading.name;
  const {path, opening} = inboxSession(files, agent, {scope, thread, id, fresh: template.context === 'fresh'});
  const from = `${reading.path}#${number}`;
  const content = reports.redact.text(messageContent(record, `${reading.path}, line ${number}`));
  return {path, letter: {id, agent, opening, bulk: true, message: {from, content, untrusted: true}}};
}

function shown(text: string): string {
  return visibleLine(JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text));
}

/** The fields of a rejected line that a person needs to fix it. The inbox itself has the rest. */
function rejectedFields({redact}: AgentReports, {bytes, length, tooLong}: Line['line']): Partial<Rejected> {
  const text = isUtf8(bytes) ? {text: redact.text(bytes.toString())} : {base64: bytes.toString('base64')};
  return {...text, ...(tooLong && {bytes: length})};
}

function nobody(path: string, line: number): Problem {
  return problem(
    'UNKNOWN_AGENT',
    {line, column: 1},
    'expected an agent to deliver this to, found no route, no "to" and no default_agent',
    'write "default_agent: NAME", or a route under "inbox:", in agentdir.yaml',
    path,
  );
}

/** Drop records whose key was delivered before, to any session. */
export async function withoutDeliveredKeys<T extends AddressedLetter>(
  {files, inboxes}: With<'files' | 'inboxes'>,
  letters: readonly T[],
): Promise<T[]> {
  const {disk} = files;
  if (!letters.some(({letter}) => letter.id.startsWith(KEYED))) return [...letters];
  inboxes.keys ??= keysDelivered(disk);
  const keys = await inboxes.keys;
  return letters.filter(({letter: {id}}) => !id.startsWith(KEYED) || (!keys.has(id) && keys.add(id)));
}

/** The letter of a line that was rejected for a missing agent; undefined if the agent is still missing. */
export async function releasedLine(
  daemon: With<'files' | 'reports' | 'current'>,
  entry: Rejected,
): Promise<AddressedLetter | undefined> {
  const settings = await daemon.current.settings();
  const name = entry.file.slice('inbox/'.length);
  if (entry.text === undefined || entry.to === undefined || !agentExists(daemon.files, entry.to)) return undefined;
  const bytes = Buffer.from(entry.text);
  const read = await readLine(daemon, {
    ...{reading: {name, path: entry.file}, id: entry.id, number: entry.line, settings},
    line: {length: bytes.length, bytes, tooLong: false},
    route: routeOf(name, settings.inbox?.routes ?? []),
  });
  return read && 'letter' in read ? read : undefined;
}

/** The position after this batch. */
export function positionAfter(
  at: Position,
  {lines, end}: InboxBatch,
  marks: Pick<Position, 'head' | 'tail'>,
): Position {
  return {...at, offset: end, line: at.line + lines, ...marks};
}

/** The cursor with a new position in one of its files. `rewritten` ends when its offset is reached. */
export function advanceCursor(cursor: Cursor, next: Position): Cursor {
  if (next.generation !== cursor.generation) {
    const rotated = (cursor.rotated ?? []).map(each => (each.generation === next.generation ? next : each));
    return {...cursor, rotated};
  }
  const {rewritten, ...rest} = {...cursor, ...next};
  return rewritten !== undefined && rest.offset < rewritten ? {...rest, rewritten} : rest;
}
