import {taintIn} from '../../formats/task/taint-field.ts';
import {parseTasks} from '../../formats/task/task-parse.ts';
import {isFailure} from '../tool/failure.ts';
import type {ToolContext, ToolResult} from '../tool/tool.ts';
import {readPlace} from '../workspace/open-file.ts';
import {parseToolPath} from '../workspace/place.ts';

/** Lines of a file, from 1. */
interface Lines {
  first: number;
  last: number;
}

/** As grep has them. */
const LARGEST = 64 * 1024 * 1024;
/** One would be enough. */
const MAX_SOURCES = 10;

/** What a result says that has words of others. None: nothing. */
export function untrustedFrom(sources: readonly string[]): {untrusted?: true; sources?: string[]} {
  return sources.length > 0 ? {untrusted: true, sources: sources.slice(0, MAX_SOURCES)} : {};
}

/** What from outside led to tasks whose lines a result shows, with those of their parts. */
export async function taintShown(result: ToolResult, context: ToolContext): Promise<string[]> {
  const sources = new Set<string>();
  for (const [path, shown] of linesShown(result))
    for (const source of await taintOfLines(path, shown, context)) sources.add(source);
  return [...sources];
}

async function taintOfLines(path: string, shown: readonly Lines[], context: ToolContext): Promise<string[]> {
  const place = parseToolPath(path);
  const read = isFailure(place) ? place : await readPlace(context, place, LARGEST);
  // It is gone, or cannot be read any more: nobody knows who wrote it.
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

/** Which lines of which task files: as read_file, grep and search_files say it. */
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
