import {isScalar, type Pair, type ParsedNode, type YAMLMap, type YAMLSeq} from 'yaml';
import {lineEnd, type Splice} from '../common/lines.ts';
import {keyText} from './yaml-value.ts';

export function isEmptyNode(node: ParsedNode): boolean {
  return isScalar(node) && node.value === null && node.source === '';
}

export function pairOf(map: YAMLMap.Parsed, key: string): YAMLMap.Parsed['items'][number] | undefined {
  return map.items.find(item => isScalar(item.key) && keyText(item.key.value) === key);
}

export function pairEnd(pair: Pair<ParsedNode, ParsedNode | null>): number {
  if (pair.value && !isEmptyNode(pair.value)) return pair.value.range[1];
  return Math.max(colonOf(pair) + 1, pair.key.range[1]);
}

export function colonOf(pair: Pair<ParsedNode, ParsedNode | null>): number {
  const token = pair.srcToken as {sep?: {type: string; offset: number}[]} | undefined;
  return token?.sep?.find(part => part.type === 'map-value-ind')?.offset ?? pair.key.range[1];
}

/** Spaces up to the column of a block collection's items. */
export function columnText(text: string, node: YAMLMap.Parsed | YAMLSeq.Parsed): string {
  const lineStart = text.lastIndexOf('\n', node.range[0] - 1) + 1;
  const bom = lineStart === 0 && text.startsWith('\ufeff') ? 1 : 0;
  return ' '.repeat(node.range[0] - lineStart - bom);
}

/** Insert whole lines after the line that contains `end`. */
export function insertLines(text: string, end: number, lines: string): Splice {
  if (end > 0 && text[end - 1] === '\n') return {start: end, end, insert: lines};
  const newline = text.indexOf('\n', end);
  if (newline === -1) return {start: text.length, end: text.length, insert: joinAtEnd(text) + lines};
  return {start: newline + 1, end: newline + 1, insert: lines};
}

export function joinAtEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? '' : lineEnd(text);
}
