import {readFileSync} from 'node:fs';
import {join} from 'node:path';

/** Files with ignore patterns, besides the .gitignore files of the path's folders. */
export interface IgnoreFiles {
  /** The top of the work tree. */
  top: string;
  /** info/exclude and the person's excludes file: their patterns are relative to the top. */
  others: readonly string[];
}

/**
 * Whether git may ignore this path, relative to the top. False is certain and saves a call of git; true is not. Complex patterns count as
 * matching, and negated patterns are not considered.
 */
export function mayBeIgnored({top, others}: IgnoreFiles, path: string): boolean {
  const parts = path.split('/');
  if (others.some(file => mayMatch(file, parts))) return true;
  return parts.some((_, depth) => mayMatch(join(top, ...parts.slice(0, depth), '.gitignore'), parts.slice(depth)));
}

/** Whether a pattern of this file may match the path, which is relative to the pattern file's folder. */
function mayMatch(file: string, parts: readonly string[]): boolean {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
  return text.split(/\r?\n/).some(line => fits(line, parts));
}

function fits(line: string, parts: readonly string[]): boolean {
  // A negated pattern only affects paths that another pattern matches.
  if (line.trim() === '' || line.startsWith('#') || line.startsWith('!')) return false;
  const pattern = line.trim().replace(/\/+$/, '');
  if (/[\\[\]{}()!+@]|\*\*/.test(pattern)) return true;
  if (!pattern.includes('/')) return parts.some(part => matches(part, pattern));
  const segments = pattern.replace(/^\//, '').split('/');
  return segments.length <= parts.length && segments.every((segment, i) => matches(parts[i] ?? '', segment));
}

/** Match `*` and `?`. Ignores case, as git does on some file systems. */
function matches(part: string, segment: string): boolean {
  if (!/[*?]/.test(segment)) return part.toLowerCase() === segment.toLowerCase();
  const source = segment
    .replace(/[.^$|]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replace(/\?/g, '.');
  return new RegExp(`^${source}$`, 'isu').test(part);
}
