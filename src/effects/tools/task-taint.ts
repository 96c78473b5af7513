import {taintIn} from '../../formats/task/task.ts';
import {parseTasks} from '../../formats/task/task-parse.ts';
import {isFailure} from '../tool/failure.ts';
import type {ToolContext, ToolResult} from '../tool/tool.ts';
import {readPlace} from '../workspace/open-file.ts';
import {parseToolPath} from '../workspace/place.ts';

/** Range of line numbers, from 1. */
interface Lines {
  first: number;
  last: number;
}

/** The limit of grep, in bytes. */
const LARGEST = 64 * 1024 * 1024;
const MAX_SOURCES = 10;

/** Fields of a result that contains text from outside; empty without sources. */
export function untrustedFrom(sources: readonly string[]): {untrusted?: true; sources?: string[]} {
  return sources.length > 0 ? {untrusted: true, sources: sources.slice(0, MAX_SOURCES)} : {};
}

/** External sources behind tasks whose lines a result shows, subtasks included. */
export async function taintShown(result: ToolResult, context: ToolContext): Promise<string[]> {
  const sources = new Set<string>();
  for (const [path, shown] of linesShown(result))
    for (const source of await taintOfLines(path, shown, context)) sources.add(source);
  return [...sources];
}

async function taintOfLines(path: string, shown: readonly Lines[], context: ToolContext): Promise<string[]> {
  const place = parseToolPath(path);
  const read = isFailure(place) ? place : await readPlace(context, place, LARGEST);
  // The file is gone or unreadable, so its origin is unknown.
  if (isFailure(read)) return [path];
  const text = read.bytes.toString();
  if (!text.includes('taint:')) return [];
  return parseTasks(text).tasks.flatMap(task => {
    const taint = taintIn(task);
    if (taint.length === 0) return [];
    const last = task.line + text.slice(task.start, task.end).split('\n').length - 1;
    return shown.some(lines => lines.first <= last && lines.last >= task.line) ? taint : [];
  });
}

/** Lines of task files in a result of read_file, grep or search_files. */
function linesShown({path, first_line, last_line, content, passages}: ToolResult): Map<string, Lines[]> {
  const shown = new Map<string, Lines[]>();
  const add = (of: unknown, first: unknown, last: unknown) => {
    if (typeof of !== 'string' || !TASKS.test(of)) return;
    const lines = {first: Number(first), last: Number(last)};
    if (!shown.get(of)?.push(lines)) shown.set(of, [lines]);
  };
  add(path, first_line, last_line);
  if (path === undefined && typeof content === 'string')
    for (const [, of, line] of content.matchAll(FOUND)) add(of, line, line);
  for (const passage of Array.isArray(passages) ? (passages as Record<string, unknown>[]) : [])
    add(passage.path, passage.first_line, passage.last_line);
  return shown;
}

const TASKS = /^tasks\/.*\.task\.md$/i;
const FOUND = /^(tasks\/.*?\.task\.md)[:-](\d+)[:-]/gim;
