import {readFileSync} from 'node:fs';
import {join} from 'node:path';

/** Where git looks for patterns, besides the folders of the path itself. */
export interface IgnoreFiles {
  /** The top of the work tree. */
  top: string;
  /** Of the whole repository, and of the person: patterns as if they stood at the top. */
  others: readonly string[];
}

/**
 * Whether git may ignore this path, which is below the top. False is certain, and saves asking git; true is not. Patterns
 * that are not plain count as fitting, and so does what another pattern takes back.
 */
export function mayBeIgnored({top, others}: IgnoreFiles, path: string): boolean {
  const parts = path.split('/');
  if (others.some(file => mayMatch(file, parts))) return true;
  return parts.some((_, depth) => mayMatch(join(top, ...parts.slice(0, depth), '.gitignore'), parts.slice(depth)));
}

/** Whether a pattern of this file may match the path, given from where the file counts. */
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
  // What is taken back was named by another pattern before.
  if (line.trim() === '' || line.startsWith('#') || line.startsWith('!')) return false;
  const pattern = line.trim().replace(/\/+$/, '');
  if (/[\\[\]{}()!+@]|\*\*/.test(pattern)) return true;
  if (!pattern.includes('/')) return parts.some(part => matches(part, pattern));
  const segments = pattern.replace(/^\//, '').split('/');
  return segments.length <= parts.length && segments.every((segment, i) => matches(parts[i] ?? '', segment));
}

/** Stars and question marks; upper and lower case alike, as git has it on some file systems. */
function matches(part: string, segment: string): boolean {
  if (!/[*?]/.test(segment)) return part.toLowerCase() === segment.toLowerCase();
  const source = segment
    .replace(/[.^$|]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replace(/\?/g, '.');
  return new RegExp(`^${source}$`, 'isu').test(part);
}
