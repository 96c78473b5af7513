import type {Problem} from '../common/diagnostic.ts';
import {startsWithText} from '../common/lines.ts';
import {validate, validateValue} from '../yaml/validate.ts';
import {readQuickly} from '../yaml/yaml-quick.ts';
import {readYaml} from '../yaml/yaml-source.ts';
import {yamlText} from '../yaml/yaml-text.ts';
import {quickHeader, quickMessage} from './session-quick.ts';
import {headerSchema, type Message, messageSchema, type SessionHeader, sessionSchema} from './session-schema.ts';

/** A message and its exact lines. */
export interface Item {
  text: string;
  value: Message;
  /** The fast reader could read it: it ends with its text, and no following item changes it. */
  plain: boolean;
}

/**
 * A session file split at its messages: text = head + body + foot, body = the items' texts in order. A turn then costs
 * only what it adds. A text that cannot be split (flow style, anchors, errors) is all in `head` and handled as a whole.
 */
export interface Session {
  head: string;
  body: string;
  foot: string;
  /** Items of the body; undefined if the text could not be split. */
  items: readonly Item[] | undefined;
  /** Undefined if the file has an error. */
  header: SessionHeader | undefined;
  messages: readonly Message[];
  problems: Problem[];
}

const EMPTY_HINT = 'write at least "agent_id: NAME" and "messages:" with a "- role: user" and its "content:"';

/** Must not throw. Reuses messages of `previous` with the same lines. */
export function parseSession(text: string, previous?: Session): Session {
  return parseCut(text, previous) ?? parseWhole(text);
}

export function sessionText(session: Session): string {
  return session.head + session.body + session.foot;
}

/** Reference for `parseCut`: parses the whole text at once. */
export function parseWhole(text: string): Session {
  const {value, problems} = validate(sessionSchema, readYaml(text), EMPTY_HINT, 'nothing');
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

/** Header without messages; undefined if anything is wrong or unusual. */
export function parseHeader(head: string, foot: string, previous?: Session): SessionHeader | undefined {
  if (previous?.items && previous.head === head && previous.foot === foot) return previous.header;
  const source = readQuickly(head + foot);
  if (source.problems.length > 0 || source.linked || (source.value as {messages?: unknown} | null)?.messages !== null)
    return undefined;
  // The head alone must be complete; otherwise the line "messages:" was something else.
  if (foot !== '' && readQuickly(head).problems.length > 0) return undefined;
  const {messages: _, ...rest} = source.value as Record<string, unknown>;
  const quick = quickHeader(rest);
  if (quick) return quick;
  const {value, problems} = validateValue(headerSchema, rest, () => ({line: 1, column: 1}), EMPTY_HINT, 'nothing');
  return problems.length > 0 ? undefined : value;
}

/** Parse the items after the unchanged ones, reusing items with the same text. */
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

/** Copy the text: a slice would keep its whole file version in memory. */
function copyOf(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

/** Parse a single message; undefined if it is not exactly one, is invalid, or refers to others. */
export function parseItem(text: string): Item | undefined {
  const source = readQuickly(text);
  if (source.problems.length > 0 || source.linked || !Array.isArray(source.value) || source.value.length !== 1)
    return undefined;
  const plain = source.plain === true;
  const value = parseMessage(source.value[0]);
  return value && {text, value, plain};
}

/** The message that a YAML value means; undefined if it is invalid. */
export function parseMessage(item: unknown): Message | undefined {
  const quick = quickMessage(item);
  if (quick) return quick;
  const {value, problems} = validateValue(messageSchema, item, () => ({line: 1, column: 1}), EMPTY_HINT, 'nothing');
  return problems.length === 0 ? value : undefined;
}

/** Larger sessions are parsed whole and refused as too large: older messages belong into segments. */
const MAX_MESSAGES = 50_000;

export interface CutSessionText {
  head: string;
  body: string;
  foot: string;
  /** Without unchanged items. */
  items: string[];
  /** Number of leading items that equal those of the earlier version. */
  unchanged: number;
}

const SPACE = 32;
const TAB = 9;
const NEWLINE = 10;
const RETURN = 13;
const HASH = 35;
const DASH = 45;

/**
 * Find the block sequence under a top-level `messages:` by indentation alone. In YAML everything that belongs to an
 * item of a block sequence is indented deeper than its dash (except comments and blank lines), so a dash in that column
 * starts an item. Other errors show up when head and items are parsed. The first messages of `previous`, an earlier
 * version, are compared as one text and not scanned again.
 */
export function cutText(text: string, previous?: Pick<Session, 'body' | 'items'>): CutSessionText | undefined {
  const key = text.startsWith('messages:') ? 0 : text.indexOf('\nmessages:') + 1;
  if (key === 0 && !text.startsWith('messages:')) return undefined;
  // A directive such as %YAML 1.1 applies to the whole text.
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
        // The last unchanged item may continue on new lines.
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

/** Number of leading `items` (with text `body`) that `text` has at `start`, and their length. */
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

/** NaN marks the end of the text. */
function isGap(code: number): boolean {
  return code === SPACE || code === NEWLINE || code === RETURN || Number.isNaN(code);
}

/** Comments right above a key after the messages belong to that key, not to the last message. */
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

/** Text of a new session file. `schema`: path from the file to schemas/session.json. */
export function newSession(header: SessionHeader, messages: readonly Message[], schema: string): string {
  return `${SCHEMA_LINE}${schema}\n${yamlText({...header, messages})}`;
}
