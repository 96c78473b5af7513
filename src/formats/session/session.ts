import type {Problem} from '../common/diagnostic.ts';
import {startsWithText} from '../common/lines.ts';
import {validate, validateValue} from '../yaml/validate.ts';
import {readQuickly} from '../yaml/yaml-quick.ts';
import {readYaml} from '../yaml/yaml-source.ts';
import {yamlText} from '../yaml/yaml-text.ts';
import {quickHeader, quickMessage} from './session-quick.ts';
import {headerSchema, type Message, messageSchema, type SessionHeader, sessionSchema} from './session-schema.ts';

/** One message and the very lines it stands in. */
export interface Item {
  text: string;
  value: Message;
  /** The fast reader could read it: it ends where its text ends, and whatever item follows does not change it. */
  plain: boolean;
}

/**
 * A session file, cut at its messages: text = head + body + foot, body = the items' texts in order. So a turn costs
 * what it adds: the rest is neither read nor written again. A text that cannot be cut (flow style, anchors, errors)
 * has it all in `head`, and is handled whole.
 */
export interface Session {
  head: string;
  body: string;
  foot: string;
  /** The items of the body; undefined if the text could not be cut. */
  items: readonly Item[] | undefined;
  /** Undefined if the file has an error. */
  header: SessionHeader | undefined;
  messages: readonly Message[];
  problems: Problem[];
}

const EMPTY_HINT = 'write at least "agent_id: NAME" and "messages:" with a "- role: user" and its "content:"';

/** Must not throw. With `previous`, messages whose lines are the same are not read again. */
export function parseSession(text: string, previous?: Session): Session {
  return parseCut(text, previous) ?? parseWhole(text);
}

export function sessionText(session: Session): string {
  return session.head + session.body + session.foot;
}

/** The reference for `parseCut`: one parse of the whole text. */
export function parseWhole(text: string): Session {
  const {value, problems} = validate(sessionSchema, readYaml(text), EMPTY_HINT);
  const {messages, ...header} = value ?? {messages: undefined};
  return {
    head: text,
    body: '',
    foot: '',
    items: undefined,
    header: value ? (header as SessionHeader) : undefined,
    messages: messages ?? [],
    problems,
  };
}

function parseCut(text: string, previous: Session | undefined): Session | undefined {
  const cut = cutText(text, previous);
  if (!cut) return undefined;
  const header = parseHeader(cut.head, cut.foot, previous);
  if (!header) return undefined;
  const added = parseItems(cut, previous?.items ?? []);
  if (!added) return undefined;
  const {head, body, foot, unchanged} = cut;
  const values = added.map(item => item.value);
  return {
    head,
    body,
    foot,
    items: previous?.items && unchanged > 0 ? previous.items.slice(0, unchanged).concat(added) : added,
    header,
    messages: previous && unchanged > 0 ? previous.messages.slice(0, unchanged).concat(values) : values,
    problems: [],
  };
}

/** The header without the messages, or undefined if anything is wrong or odd about it. */
export function parseHeader(head: string, foot: string, previous?: Session): SessionHeader | undefined {
  if (previous?.items && previous.head === head && previous.foot === foot) return previous.header;
  const source = readQuickly(head + foot);
  if (source.problems.length > 0 || source.linked || (source.value as {messages?: unknown} | null)?.messages !== null)
    return undefined;
  // The head alone must be complete, or the line "messages:" was not what it looked like.
  if (foot !== '' && readQuickly(head).problems.length > 0) return undefined;
  const {messages: _, ...rest} = source.value as Record<string, unknown>;
  const quick = quickHeader(rest);
  if (quick) return quick;
  const {value, problems} = validateValue(headerSchema, rest, () => ({line: 1, column: 1}), EMPTY_HINT);
  return problems.length > 0 ? undefined : value;
}

/** The items below those that were found unchanged. Items that stand as they stood before are not read again. */
function parseItems({items: texts, unchanged}: CutSessionText, known: readonly Item[]): Item[] | undefined {
  const items: Item[] = [];
  const before = known.slice(unchanged);
  let same = 0;
  while (same < texts.length && texts[same] === before[same]?.text) items.push(before[same++] as Item);
  let tail = 0;
  while (
    tail < texts.length - same &&
    tail < before.length - same &&
    texts.at(-1 - tail) === before.at(-1 - tail)?.text
  )
    tail++;
  for (let index = same; index < texts.length - tail; index++) {
    const text = texts[index] as string;
    const item = parseItem(unchanged > 0 ? copyOf(text) : text);
    if (!item) return undefined;
    items.push(item);
  }
  return items.concat(before.slice(before.length - tail));
}

/** A slice of a text keeps that text in memory. One message of each of many versions must not keep all of these versions. */
function copyOf(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

/** One message read on its own; undefined if it is not one message, is wrong, or refers to others. */
export function parseItem(text: string): Item | undefined {
  const source = readQuickly(text);
  if (source.problems.length > 0 || source.linked || !Array.isArray(source.value) || source.value.length !== 1)
    return undefined;
  const plain = source.plain === true;
  const quick = quickMessage(source.value[0]);
  if (quick) return {text, value: quick, plain};
  const {value, problems} = validateValue(messageSchema, source.value[0], () => ({line: 1, column: 1}), EMPTY_HINT);
  return value && problems.length === 0 ? {text, value, plain} : undefined;
}

/** Beyond this the text is read whole, and refused there as too large: older messages belong into segments. */
const MAX_MESSAGES = 50_000;

export interface CutSessionText {
  head: string;
  body: string;
  foot: string;
  /** Without those that are unchanged. */
  items: string[];
  /** How many of the first items were found to be those of the earlier version. */
  unchanged: number;
}

const SPACE = 32;
const TAB = 9;
const NEWLINE = 10;
const RETURN = 13;
const HASH = 35;
const DASH = 45;

/**
 * Find the block sequence under a top-level `messages:` by indentation alone. In YAML whatever belongs to an item of a
 * block sequence is indented deeper than its dash (comments and blank lines apart), so a dash in that column starts an
 * item. What else may be wrong with the text shows when head and items are parsed. The first messages of `previous`, an
 * earlier version, are compared as one text and not scanned again.
 */
export function cutText(text: string, previous?: Pick<Session, 'body' | 'items'>): CutSessionText | undefined {
  const key = text.startsWith('messages:') ? 0 : text.indexOf('\nmessages:') + 1;
  if (key === 0 && !text.startsWith('messages:')) return undefined;
  // A directive such as %YAML 1.1 holds for the whole text.
  if (text.startsWith('%') || text.lastIndexOf('\n%', key) !== -1) return undefined;
  let bodyStart = -1;
  let indent = -1;
  let itemStart = -1;
  let bodyEnd = text.length;
  const items: string[] = [];
  let unchanged = 0;
  for (let line = nextLine(text, key); line < text.length; line = nextLine(text, line)) {
    let at = line;
    while (text.charCodeAt(at) === SPACE) at++;
    const code = text.charCodeAt(at);
    const column = at - line;
    if (at >= text.length || code === NEWLINE || code === RETURN || code === TAB) continue;
    if (indent !== -1 && column > indent) continue;
    if (code === HASH) continue;
    if (code === DASH && (indent === -1 || column === indent) && isGap(text.charCodeAt(at + 1))) {
      if (itemStart === -1) {
        bodyStart = line;
        indent = column;
        const same = previous?.items ? unchangedItems(text, bodyStart, previous.body, previous.items) : NONE;
        // The last of them may go on in lines that are new.
        if (same.count > 1) {
          unchanged = same.count - 1;
          line += same.length - (previous?.items?.[unchanged]?.text.length ?? 0);
        }
      } else if (items.push(text.slice(itemStart, line)) > MAX_MESSAGES - unchanged) return undefined;
      itemStart = line;
    } else if (indent !== -1 && column === 0) {
      bodyEnd = line;
      break;
    } else return undefined;
  }
  if (bodyStart === -1) return undefined;
  if (bodyEnd < text.length) bodyEnd = commentsBefore(text, itemStart, bodyEnd, indent);
  items.push(text.slice(itemStart, bodyEnd));
  return {
    head: text.slice(0, bodyStart),
    body: text.slice(bodyStart, bodyEnd),
    foot: text.slice(bodyEnd),
    items,
    unchanged,
  };
}

const NONE = {count: 0, length: 0};

/** How many of `items`, whose text is `body`, `text` has at `start`, and their length. */
function unchangedItems(text: string, start: number, body: string, items: readonly Item[]): typeof NONE {
  if (startsWithText(text, body, start)) return {count: items.length, length: body.length};
  const ends = [0];
  for (const item of items) ends.push((ends.at(-1) ?? 0) + item.text.length);
  let [count, beyond] = [0, items.length];
  while (beyond - count > 1) {
    const middle = (count + beyond) >> 1;
    const [from, to] = [ends[count], ends[middle]] as [number, number];
    if (text.slice(start + from, start + to) === body.slice(from, to)) count = middle;
    else beyond = middle;
  }
  return {count, length: ends[count] ?? 0};
}

function nextLine(text: string, from: number): number {
  const newline = text.indexOf('\n', from);
  return newline === -1 ? text.length : newline + 1;
}

/** NaN: the end of the text. */
function isGap(code: number): boolean {
  return code === SPACE || code === NEWLINE || code === RETURN || Number.isNaN(code);
}

/** Comments right above a key that follows the messages belong to that key, not to the last message. */
function commentsBefore(text: string, from: number, end: number, indent: number): number {
  let result = end;
  for (let lineEnd = end; lineEnd > from; ) {
    const line = text.lastIndexOf('\n', lineEnd - 2) + 1;
    const content = text.slice(line, lineEnd);
    const trimmed = content.trim();
    if (trimmed.startsWith('#') && content.indexOf('#') <= indent) result = line;
    else if (trimmed !== '') break;
    lineEnd = line;
  }
  return result;
}

export const SCHEMA_LINE = '# yaml-language-server: $schema=';

/** A new session file. `schema` is the path from the file to schemas/session.json. */
export function newSession(header: SessionHeader, messages: readonly Message[], schema: string): string {
  return `${SCHEMA_LINE}${schema}\n${yamlText({...header, messages})}`;
}
