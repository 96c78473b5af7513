import {cutText} from '../../../formats/session/session.ts';
import {type Path, placeOfValue, readYaml} from '../../../formats/yaml/yaml-source.ts';

/** Line number (from 1) of a part of a message; for a multi-line text, of its first difference. */
export function lineOf(text: string, index: number, part: Path, differs = 0): number | undefined {
  const cut = cutText(text);
  const item = cut?.items[index];
  if (!cut || item === undefined) return undefined;
  let start = cut.head.length;
  for (let i = 0; i < index; i++) start += cut.items[i]?.length ?? 0;
  const first = linesIn(text.slice(0, start)) + 1;
  const lines = item.split('\n');
  const found = placeOfValue(readYaml(item), [0, ...part], undefined, 'key').line - 1;
  const isBlock = /:\s*[|>][-+\d]*\s*$/.test(lines[found] ?? '');
  return first + found + (isBlock ? 1 + Math.min(differs, lines.length - found - 2) : 0);
}

function linesIn(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

/** The number of the first line that differs, from 0. */
export function lineThatDiffers(a: string, b: string): number {
  const [from, to] = [a.split('\n'), b.split('\n')];
  const at = from.findIndex((line, i) => line !== to[i]);
  return at === -1 ? from.length : at;
}

const AROUND = 40;
const MAX_EXCERPT = 160;

/** Shortens two texts to their first difference, with context. */
export function whereTheyDiffer(a: string, b: string): {a: string; b: string} {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const from = Math.max(0, head - AROUND);
  const cut = (text: string) => {
    const end = Math.min(text.length, text.length - tail + AROUND);
    const part = text.slice(from, end);
    const short = part.length > MAX_EXCERPT ? `${part.slice(0, MAX_EXCERPT - 1)}…` : part;
    return `${from > 0 ? '…' : ''}${short}${end < text.length && part === short ? '…' : ''}`;
  };
  return {a: cut(a), b: cut(b)};
}
