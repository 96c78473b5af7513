import type {Place} from '../formats/common/diagnostic.ts';
import {lineStarts, placeAt, placeNear} from '../formats/common/lines.ts';
import {type Session, sessionText} from '../formats/session/session.ts';
import {placeOfValue, readYaml, type YamlSource} from '../formats/yaml/yaml-source.ts';

export type SessionPath = readonly (string | number)[];

/**
 * Finds the line and column of values in a session. For a message only that message is parsed, for a header key the
 * header is searched; the whole text is parsed only if that is not enough.
 */
export function placesIn(session: Session): (path: SessionPath, what?: 'value' | 'key') => Place {
  let whole: {source: YamlSource; starts: number[]} | undefined;
  let itemLines: number[] | undefined;
  let lastItem: {index: number; source: YamlSource; starts: number[]} | undefined;

  const inWhole = (path: SessionPath, what: 'value' | 'key'): Place => {
    if (!whole) {
      const source = readYaml(sessionText(session));
      whole = {source, starts: lineStarts(source.text)};
    }
    return placeOfValue(whole.source, path, whole.starts, what);
  };
  const inHead = (key: string): Place | undefined => {
    const offset = offsetInHead(session, key);
    return offset === undefined ? undefined : placeNear(session.head, offset);
  };
  const inItem = (index: number, path: SessionPath, what: 'value' | 'key'): Place | undefined => {
    const text = session.items?.[index]?.text;
    if (text === undefined) return undefined;
    itemLines ??= linesBefore(session);
    if (lastItem?.index !== index) lastItem = {index, source: readYaml(text), starts: lineStarts(text)};
    const {line, column} = placeOfValue(lastItem.source, [0, ...path], lastItem.starts, what);
    return {line: (itemLines[index] ?? 0) + line, column};
  };

  return (path, what = 'value') => {
    const [first, second, ...rest] = path;
    const found =
      typeof first === 'string' && path.length === 1 && what === 'value'
        ? inHead(first)
        : first === 'messages' && typeof second === 'number'
          ? inItem(second, rest, what)
          : undefined;
    return found ?? inWhole(path, what);
  };
}

/**
 * Finds the line and column of `approval: ID` in messages by their text, which is quick even in a message with a thousand
 * calls. Undefined if the text is not plain there, or has the same line twice.
 */
export function approvalPlaces(session: Session): (message: number, approval: string) => Place | undefined {
  let itemLines: number[] | undefined;
  let lastItem: {index: number; starts: number[]; offsets: ReadonlyMap<string, number | undefined>} | undefined;
  return (index, approval) => {
    const {text, plain} = session.items?.[index] ?? {};
    if (text === undefined || !plain) return undefined;
    if (lastItem?.index !== index) lastItem = {index, starts: lineStarts(text), offsets: approvalOffsets(text)};
    const offset = lastItem.offsets.get(approval);
    if (offset === undefined) return undefined;
    itemLines ??= linesBefore(session);
    const place = placeAt(lastItem.starts, offset);
    return {line: (itemLines[index] ?? 0) + place.line, column: place.column};
  };
}

/** Where the values of lines `approval: ID` begin; undefined for an id with more than one line. */
function approvalOffsets(text: string): Map<string, number | undefined> {
  const offsets = new Map<string, number | undefined>();
  for (const {index, 0: line, 1: id = ''} of text.matchAll(/^ +approval: ([A-Za-z0-9._-]+)$/gm))
    offsets.set(id, offsets.has(id) ? undefined : index + line.length - id.length);
  return offsets;
}

/** Blank lines and comments before the first key. */
const MAP_START = /^\ufeff?(?:[ \t]*(?:#[^\n]*)?\r?\n)*(?=[A-Za-z_])/;

/**
 * The offset of a key's value in the session head, which is a block map with its keys in the first column. Undefined: the
 * key is not in the head, or not in plain style.
 */
function offsetInHead(session: Session, key: string): number | undefined {
  const {items, header, head} = session;
  if (!items || !header) return undefined;
  if (!Object.hasOwn(header, key)) return MAP_START.exec(head)?.[0].length;
  let only: number | undefined;
  for (let at = head.indexOf(`${key}:`); at !== -1; at = head.indexOf(`${key}:`, at + 1)) {
    const first = at === 0 || head[at - 1] === '\n' || (at === 1 && head[0] === '\ufeff');
    VALUE_START.lastIndex = at + key.length + 1;
    if (!first || !VALUE_START.test(head)) continue;
    if (only !== undefined) return undefined;
    only = VALUE_START.lastIndex;
  }
  return only;
}

const VALUE_START = /[ \t]+(?=[A-Za-z0-9'"])/y;

/** For each item, the number of lines before it. */
function linesBefore({head, items = []}: Session): number[] {
  let lines = newlines(head);
  return items.map(({text}) => {
    const before = lines;
    lines += newlines(text);
    return before;
  });
}

function newlines(text: string): number {
  let count = 0;
  for (let i = text.indexOf('\n'); i !== -1; i = text.indexOf('\n', i + 1)) count++;
  return count;
}
