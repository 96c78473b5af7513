import {isDeepStrictEqual} from 'node:util';
import {isMap, isScalar, isSeq, type Pair, type ParsedNode, type YAMLMap, type YAMLSeq} from 'yaml';
import {UserError} from '../common/errors.ts';
import {lineEnd, type Splice, splice} from '../common/lines.ts';
import {jsonText} from '../common/visible.ts';
import {keepsComments} from './yaml-comments.ts';
import {nodeAt, type Path, readYaml, type YamlSource} from './yaml-source.ts';
import {indentLines, scalarText, yamlText} from './yaml-text.ts';
import {keyText} from './yaml-value.ts';
import {colonOf, columnText, insertLines, isEmptyNode, joinAtEnd, pairEnd, pairOf} from './yaml-where.ts';

/** Set, append or remove one value. Only the lines of that value change. */
export type YamlEdit =
  | {set: Path; to: unknown; before?: string}
  | {append: Path; item: unknown; before?: number}
  | {remove: Path};

/** Apply an edit and parse the result; throws UserError unless it reads back as exactly the intended value. */
export function editYaml(text: string, edit: YamlEdit): string {
  const source = readYaml(text);
  if (source.problems.length > 0)
    throw new UserError('a file with errors is not edited', 4, 'fix it first: agentdir check');
  const expected = intended(readYaml(withFinalNewline(text)).value, edit);
  for (const cautious of [false, true]) {
    const edited = splice(
      text,
      'set' in edit
        ? setSplices(source, edit, cautious)
        : 'append' in edit
          ? appendSplices(source, edit, cautious)
          : removeSplices(source, edit.remove),
    );
    const again = readYaml(edited);
    if (again.problems.length > 0 || !keepsComments(source, edited, 'remove' in edit ? edit.remove : undefined))
      continue;
    const value = plain(again.value);
    if (isDeepStrictEqual(value, expected) || isDeepStrictEqual(value, intended(source.value, edit))) return edited;
  }
  throw new UserError(
    `cannot change ${('set' in edit ? edit.set : 'append' in edit ? edit.append : edit.remove).join('.')} here without touching the rest`,
    4,
    'make the change in an editor',
  );
}

function withFinalNewline(text: string): string {
  return text.endsWith('\n') || text === '' ? text : text + lineEnd(text);
}

/** Deep copy without undefined keys. Not by JSON, which would turn .inf into null and hide its loss. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object') return value ?? null;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => (item === undefined ? [] : [[key, plain(item)]])),
  );
}

function intended(value: unknown, edit: YamlEdit): unknown {
  // Not structuredClone, which keeps shared aliases: an edit through an anchor would look intended.
  const root = plain(value ?? {});
  const path = 'set' in edit ? edit.set : 'append' in edit ? edit.append : edit.remove;
  let parent = root as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) {
    if (typeof (parent[step] ?? {}) !== 'object') throw new UserError(`${path.slice(0, -1).join('.')} is not a map`, 4);
    parent[step] ??= {};
    parent = parent[step] as typeof parent;
  }
  const last = path.at(-1) ?? '';
  if ('set' in edit) parent[last] = plain(edit.to);
  else if ('remove' in edit) delete parent[last];
  else if (parent[last] === null || parent[last] === undefined || Array.isArray(parent[last])) {
    const list = [...((parent[last] as unknown[] | null | undefined) ?? [])];
    list.splice(edit.before ?? list.length, 0, plain(edit.item));
    parent[last] = list;
  } else throw new UserError(`${path.join('.')} is not a list`, 4);
  return root;
}

function setSplices(source: YamlSource, edit: {set: Path; to: unknown; before?: string}, cautious: boolean): Splice[] {
  const {text} = source;
  const key = edit.set.at(-1) ?? '';
  const parentPath = edit.set.slice(0, -1);
  const parent = nodeAt(source.root, parentPath)?.node ?? null;
  if (isSeq(parent)) return replaceItem(source, parent as YAMLSeq.Parsed, Number(key), edit.to, cautious);
  if (!isMap(parent)) {
    if (parentPath.length > 0 && (parent === null || isEmptyNode(parent)))
      return setSplices(source, {set: parentPath, to: {[key]: edit.to}}, cautious);
    if (parentPath.length === 0 && parent === null)
      return [
        {start: text.length, end: text.length, insert: joinAtEnd(text) + block({[key]: edit.to}, '', text, cautious)},
      ];
    throw new UserError(`${parentPath.join('.') || 'the file'} is not a map`, 4);
  }
  const map = parent as YAMLMap.Parsed;
  const pair = pairOf(map, String(key));
  if (map.flow) return setInFlow(text, map, pair, String(key), edit.to);
  if (!pair) {
    if (map.items.length === 0) return [{start: map.range[0], end: map.range[1], insert: jsonText({[key]: edit.to})}];
    return insertKey(text, map, {[key]: edit.to}, edit.before, cautious);
  }
  return replaceValue(text, pair, edit.to, columnText(text, map), cautious);
}

function replaceValue(
  text: string,
  pair: Pair<ParsedNode, ParsedNode | null>,
  value: unknown,
  indent: string,
  cautious: boolean,
): Splice[] {
  const colon = colonOf(pair);
  const node = pair.value;
  const empty = !node || isEmptyNode(node);
  const end = empty ? colon + 1 : node.range[1];
  const same = scalarText(value, node);
  if (same !== undefined && node) return [{start: node.range[0], end, insert: same}];
  const rendered = cautious
    ? ` ${jsonText(value)}`
    : block({k: value}, indent, text, false)
        .slice(indent.length + 2)
        .replace(/\r?\n$/, '');
  const multiline = rendered.includes('\n');
  const wasLines = end > 0 && text[end - 1] === '\n' && !empty;
  // Replace the value alone: a comment between key and value stays.
  const scalar = !empty && !multiline && isScalar(node) && !wasLines;
  const onOneLine = scalar || (!empty && !multiline && !text.slice(colon, end).includes('\n'));
  const start = onOneLine && node ? node.range[0] : colon + 1;
  const insert = onOneLine ? rendered.trimStart() : rendered;
  return [{start, end, insert: insert + (wasLines ? lineEnd(text) : '')}];
}

function replaceItem(
  source: YamlSource,
  seq: YAMLSeq.Parsed,
  index: number,
  value: unknown,
  cautious: boolean,
): Splice[] {
  const node = seq.items[index] as ParsedNode | undefined;
  if (!node) throw new UserError(`no item ${index + 1} in the list`, 4);
  const same = scalarText(value, node);
  const scalar = typeof value !== 'object' || value === null;
  if (seq.flow || (cautious && scalar) || same !== undefined)
    return [{start: node.range[0], end: node.range[1], insert: same ?? jsonText(value)}];
  const indent = `${columnText(source.text, seq)}  `;
  const text = indentLines(yamlText(value).replace(/\n$/, ''), indent, lineEnd(source.text)).slice(indent.length);
  const wasLines = source.text[node.range[1] - 1] === '\n';
  return [{start: node.range[0], end: node.range[1], insert: text + (wasLines ? lineEnd(source.text) : '')}];
}

function appendSplices(source: YamlSource, edit: Extract<YamlEdit, {append: Path}>, cautious: boolean): Splice[] {
  const {text} = source;
  const found = nodeAt(source.root, edit.append);
  const seq = found?.node ?? null;
  if (!isSeq(seq)) return setSplices(source, {set: edit.append, to: [edit.item]}, cautious);
  const list = seq as YAMLSeq.Parsed;
  const last = list.items.at(-1) as ParsedNode | undefined;
  if (!last) return setSplices(source, {set: edit.append, to: [edit.item]}, cautious);
  const next = edit.before === undefined ? undefined : (list.items[edit.before] as ParsedNode | undefined);
  if (list.flow && next) return [{start: next.range[0], end: next.range[0], insert: `${jsonText(edit.item)}, `}];
  if (list.flow) return [{start: last.range[1], end: last.range[1], insert: `, ${jsonText(edit.item)}`}];
  const item = cautious ? `- ${jsonText(edit.item)}\n` : yamlText([edit.item]);
  if (next) {
    // Insert before the line of its dash; parsing the result detects other layouts.
    const start = text.lastIndexOf('\n', text.lastIndexOf('-', next.range[0] - 1)) + 1;
    return [{start, end: start, insert: indentLines(item, columnText(text, list), lineEnd(text))}];
  }
  return [insertLines(text, last.range[1], indentLines(item, columnText(text, list), lineEnd(text)))];
}

function insertKey(
  text: string,
  map: YAMLMap.Parsed,
  entry: Record<string, unknown>,
  before: string | undefined,
  cautious: boolean,
): Splice[] {
  const lines = block(entry, columnText(text, map), text, cautious);
  const index =
    before === undefined ? -1 : map.items.findIndex(item => isScalar(item.key) && keyText(item.key.value) === before);
  const previous = index === -1 ? map.items.at(-1) : map.items[index - 1];
  if (!previous) {
    const start = map.range[0];
    return [{start, end: start, insert: lines.trimStart() + columnText(text, map)}];
  }
  return [insertLines(text, pairEnd(previous), lines)];
}

function setInFlow(
  text: string,
  map: YAMLMap.Parsed,
  pair: ReturnType<typeof pairOf>,
  key: string,
  value: unknown,
): Splice[] {
  const json = jsonText(value);
  if (pair) {
    const node = pair.value;
    if (node && !isEmptyNode(node))
      return [{start: node.range[0], end: node.range[1], insert: scalarText(value, node) ?? json}];
    const at = pair.srcToken && 'sep' in pair.srcToken && pair.srcToken.sep ? colonOf(pair) + 1 : pair.key.range[1];
    return [{start: at, end: at, insert: text[at - 1] === ':' ? ` ${json}` : `: ${json}`}];
  }
  const last = map.items.at(-1);
  const at = last ? pairEnd(last) : map.range[0] + 1;
  return [
    {
      start: at,
      end: at,
      insert: `${last ? ', ' : ''}${/^[A-Za-z_]\w*$/.test(key) ? key : jsonText(key)}: ${json}`,
    },
  ];
}

function removeSplices(source: YamlSource, path: Path): Splice[] {
  const {text} = source;
  const map = nodeAt(source.root, path.slice(0, -1))?.node as YAMLMap.Parsed | undefined;
  const index = isMap(map)
    ? map.items.findIndex(item => isScalar(item.key) && keyText(item.key.value) === String(path.at(-1)))
    : -1;
  const pair = map?.items[index];
  if (!map || !pair) return [];
  const next = map.items[index + 1];
  const previous = map.items[index - 1];
  if (map.flow || map.items.length === 1) {
    if (next) return [{start: pair.key.range[0], end: next.key.range[0], insert: ''}];
    if (previous) return [{start: pairEnd(previous), end: pairEnd(pair), insert: ''}];
    return [{start: map.range[0], end: pairEnd(pair), insert: map.flow ? '{' : '{}'}];
  }
  const lineStart = text.lastIndexOf('\n', pair.key.range[0] - 1) + 1;
  const alone = text.slice(lineStart, pair.key.range[0]).trim() === '';
  if (!alone) return next ? [{start: pair.key.range[0], end: next.key.range[0], insert: ''}] : [];
  const after = insertLines(text, pairEnd(pair), '').start;
  return [{start: lineStart, end: after, insert: ''}];
}

function block(entry: Record<string, unknown>, indent: string, text: string, cautious: boolean): string {
  const [key, value] = Object.entries(entry)[0] ?? ['', null];
  const lines = cautious
    ? `${yamlText({[key]: null}).replace(/: null\n$/, '')}: ${jsonText(value)}\n`
    : yamlText({[key]: value});
  return indentLines(lines, indent, lineEnd(text));
}
