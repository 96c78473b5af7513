import {isDeepStrictEqual} from 'node:util';
import {refuseErrors} from '../common/diagnostic.ts';
import {exit, UserError} from '../common/errors.ts';
import {lineEnd} from '../common/lines.ts';
import {jsonText} from '../common/visible.ts';
import {editYaml, type YamlEdit} from '../yaml/yaml-edit.ts';
import {editPlainItems, editPlainYaml, type ItemKeys} from '../yaml/yaml-plain-edit.ts';
import {plainItemText} from '../yaml/yaml-plain-text.ts';
import type {Path} from '../yaml/yaml-source.ts';
import {readYaml} from '../yaml/yaml-source.ts';
import {indentLines, yamlText} from '../yaml/yaml-text.ts';
import {type Item, parseHeader, parseItem, parseMessage, parseSession, type Session, sessionText} from './session.ts';
import type {Message, SessionHeader} from './session-schema.ts';

/** Append a message. The cost depends only on what is added. */
export function appendMessage(session: Session, message: Message): Session {
  return insertMessage(session, session.messages.length, message);
}

/** Insert a message before `index`: a reply goes right after the last message of its request. */
export function insertMessage(session: Session, index: number, message: Message): Session {
  refuseErrors(session.problems);
  const before = session.items?.[index - 1];
  if (session.items && before) return insertAfter(session, session.items, index, before, message);
  const first = session.items?.[0];
  if (session.items && first) return insertFirst(session, session.items, first, message);
  if (index === session.messages.length) return whole(session, {append: ['messages'], item: message});
  return whole(session, {append: ['messages'], item: message, before: index});
}

/** Insert messages in order before `index`. The cost is linear, also in the middle of a long session. */
export function insertMessages(session: Session, index: number, messages: readonly Message[]): Session {
  const before = session.items?.[index - 1];
  const canBePlain = before?.plain && before.text.endsWith('\n') && lineEnd(session.head) === '\n';
  const indent = before?.text.slice(0, before.text.indexOf('-')) ?? '';
  const added = canBePlain ? messages.flatMap(message => plainItem(message, indent) ?? []) : [];
  if (session.items && before && messages.length > 1 && added.length === messages.length) {
    refuseErrors(session.problems);
    return splitAt(session, session.items, index, [before, ...added]);
  }
  let result = session;
  for (const [offset, message] of messages.entries()) result = insertMessage(result, index + offset, message);
  return result;
}

function insertAfter(session: Session, items: readonly Item[], index: number, before: Item, message: Message): Session {
  const eol = lineEnd(session.head);
  const indent = before.text.slice(0, before.text.indexOf('-'));
  const quick = before.plain && eol === '\n' ? plainItem(message, indent) : undefined;
  if (quick) return splitAt(session, items, index, [before, quick]);
  const ended = before.text.endsWith('\n') ? before.text : before.text + eol;
  for (const text of [yamlText([message]), `- ${jsonText(message)}\n`]) {
    const added = indentLines(text, indent, eol);
    const read = readYaml(ended + added);
    if (
      read.problems.length > 0 ||
      !Array.isArray(read.value) ||
      read.value.length !== 2 ||
      !isDeepStrictEqual(read.value[1], plain(message))
    )
      continue;
    const item = parseItem(added);
    const previous = ended === before.text ? before : parseItem(ended);
    if (!item || !previous || !isDeepStrictEqual(parseMessage(read.value[0]), previous.value)) continue;
    return splitAt(session, items, index, [previous, item]);
  }
  return whole(session, {append: ['messages'], item: message, before: index});
}

/**
 * The message as an item, if it can be written and read in plain style. A plain item may follow any plain item in the
 * same column: the fast reader reads an item up to such a dash just as it does up to the end of the text (a test checks
 * this).
 */
function plainItem(message: Message, indent: string): Item | undefined {
  const text = plainItemText(message, indent);
  const item = text === undefined ? undefined : parseItem(text);
  return item?.plain && isDeepStrictEqual(item.value, plain(message)) ? item : undefined;
}

/** The message as an item to append after the last; undefined: use `insertMessage`. */
export function messageItem({head, items, problems}: Session, message: Message): Item | undefined {
  const last = items?.at(-1);
  if (!last?.plain || !last.text.endsWith('\n') || problems.length > 0 || lineEnd(head) !== '\n') return undefined;
  return plainItem(message, last.text.slice(0, last.text.indexOf('-')));
}

export function appendItems(session: Session, added: readonly Item[]): Session {
  if (added.length === 0 || !session.items) return session;
  return {
    ...session,
    body: session.body + textOf(added),
    items: session.items.concat(added),
    messages: session.messages.concat(added.map(({value}) => value)),
  };
}

function insertFirst(session: Session, items: readonly Item[], first: Item, message: Message): Session {
  const indent = first.text.slice(0, first.text.indexOf('-'));
  for (const text of [yamlText([message]), `- ${jsonText(message)}\n`]) {
    const item = parseItem(indentLines(text, indent, lineEnd(session.head)));
    if (!item || !isDeepStrictEqual(plain(item.value), plain(message))) continue;
    const next = [item, ...items];
    return {...session, body: item.text + session.body, items: next, messages: next.map(({value}) => value)};
  }
  throw new UserError('the message is not a valid one', exit.badFile);
}

/** Replace the item before `index` by `replacement`. Appending leaves the rest of the body untouched. */
function splitAt(session: Session, items: readonly Item[], index: number, replacement: readonly Item[]): Session {
  const [first, ...added] = replacement;
  if (index === items.length && first?.text === items[index - 1]?.text) {
    const messages = session.messages.concat(added.map(item => item.value));
    return {...session, body: session.body + textOf(added), items: items.concat(added), messages};
  }
  const next = [...items.slice(0, index - 1), ...replacement, ...items.slice(index)];
  return {...session, body: textOf(next), items: next, messages: next.map(item => item.value)};
}

function textOf(items: readonly Item[]): string {
  let text = '';
  for (const item of items) text += item.text;
  return text;
}

/** The value after writing and reading: without undefined keys. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** Set a header key such as status or updated; undefined removes it. New keys go above the messages. */
export function setSessionField<K extends keyof SessionHeader & string>(
  session: Session,
  key: K,
  value: SessionHeader[K] | undefined,
): Session {
  return setSessionFields(session, {[key]: value});
}

/** Set several header keys, in order. */
export function setSessionFields(
  session: Session,
  keys: {readonly [K in keyof SessionHeader]?: SessionHeader[K] | undefined},
): Session {
  refuseErrors(session.problems);
  if (Object.hasOwn(keys, 'messages')) throw new UserError('messages are appended, never set', exit.badFile);
  const quick = setPlainFields(session, keys);
  if (quick) return quick;
  let result = session;
  for (const [key, value] of Object.entries(keys)) result = setOneField(result, key, value);
  return result;
}

/** Fast path for keys on lines of their own. The header is parsed again to check that nothing else changed. */
function setPlainFields(session: Session, keys: Readonly<Record<string, unknown>>): Session | undefined {
  const {foot} = session;
  if (!session.items || !session.header) return undefined;
  if (foot !== '' && Object.keys(keys).some(key => `\n${foot}`.includes(`\n${key}:`))) return undefined;
  const head = editPlainYaml(session.head, [], keys, 'messages');
  const header = head === undefined ? undefined : parseHeader(head, foot);
  if (head === undefined || !isDeepStrictEqual(header, withKeys(session.header, keys))) return undefined;
  return {...session, head, header};
}

function setOneField(session: Session, key: string, value: unknown): Session {
  const edit: YamlEdit = value === undefined ? {remove: [key]} : {set: [key], to: value, before: 'messages'};
  if (!session.items) return whole(session, edit);
  // A key below the messages also ends the last message: parse such a change as a whole.
  if (session.foot !== '' && Object.hasOwn((readYaml(session.foot).value ?? {}) as object, key))
    return whole(session, edit);
  const head = editYaml(session.head, edit);
  const {foot} = session;
  const header = parseHeader(head, foot);
  return header ? {...session, head, foot, header} : whole(session, edit);
}

/** Set a value within message `index`, such as ['tool_calls', 0, 'started']; undefined removes it. */
export function setInMessage(session: Session, index: number, path: Path, value: unknown): Session {
  const key = path.at(-1);
  if (typeof key === 'string') return setKeysInMessage(session, index, path.slice(0, -1), {[key]: value});
  refuseErrors(session.problems);
  return setOneInMessage(session, index, path, value);
}

/** Set several keys of a map within message `index`, in order. */
export function setKeysInMessage(
  session: Session,
  index: number,
  path: Path,
  keys: Readonly<Record<string, unknown>>,
): Session {
  refuseErrors(session.problems);
  const item = session.items?.[index];
  const quick = item?.plain
    ? checkedItem(editPlainYaml(item.text, [0, ...path], keys), withKeys(item.value, keys, path))
    : undefined;
  if (session.items && quick) return splitAt(session, session.items, index + 1, [quick]);
  let result = session;
  for (const [key, value] of Object.entries(keys)) result = setOneInMessage(result, index, [...path, key], value);
  return result;
}

/** Set keys of several calls of message `index`, in ascending order of the calls. The message is parsed once. */
export function setKeysInCalls(session: Session, index: number, changes: readonly ItemKeys[]): Session {
  refuseErrors(session.problems);
  const item = session.items?.[index];
  let expected: unknown = item?.value;
  for (const {item: call, keys} of changes) expected = withKeys(expected, keys, ['tool_calls', call]);
  const quick = item?.plain ? checkedItem(editPlainItems(item.text, [0, 'tool_calls'], changes), expected) : undefined;
  if (session.items && quick) return splitAt(session, session.items, index + 1, [quick]);
  let result = session;
  for (const {item: call, keys} of changes) result = setKeysInMessage(result, index, ['tool_calls', call], keys);
  return result;
}

/** The edited text as an item, if it means what was intended. */
function checkedItem(text: string | undefined, expected: unknown): Item | undefined {
  const changed = text === undefined ? undefined : parseItem(text);
  return changed?.plain && isDeepStrictEqual(changed.value, expected) ? changed : undefined;
}

/** Copy `value` with these keys set in the map at `path`, which exists. */
function withKeys(value: unknown, keys: Readonly<Record<string, unknown>>, path: Path = []): unknown {
  const [step, ...rest] = path;
  if (Array.isArray(value)) return value.map((item, i) => (i === step ? withKeys(item, keys, rest) : item));
  const result = {...(value as Record<string, unknown>)};
  if (step !== undefined) result[step] = withKeys(result[step], keys, rest);
  else
    for (const [key, item] of Object.entries(keys)) {
      if (item === undefined) delete result[key];
      else result[key] = item;
    }
  return result;
}

function setOneInMessage(session: Session, index: number, path: Path, value: unknown): Session {
  const item = session.items?.[index];
  if (session.items && item) {
    const text = editYaml(item.text, value === undefined ? {remove: [0, ...path]} : {set: [0, ...path], to: value});
    const changed = parseItem(text);
    if (changed) return splitAt(session, session.items, index + 1, [changed]);
  }
  const at = ['messages', index, ...path];
  return whole(session, value === undefined ? {remove: at} : {set: at, to: value});
}

function whole(session: Session, edit: YamlEdit): Session {
  const after = parseSession(editYaml(sessionText(session), edit));
  refuseErrors(after.problems);
  return after;
}
