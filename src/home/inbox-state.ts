import {readdirSync, type Stats, statSync} from 'node:fs';
import {join} from 'node:path';
import {kindOf} from '../formats/common/key.ts';
import {cursorPath, parseCursor} from '../formats/cursor-file.ts';
import {nodeDisk} from './disk/disk.ts';
import {readHomeFile} from './read.ts';
import {rejectedPath} from './rejected-lines.ts';

/** How far an inbox has been read, derived from its files alone. */
export interface InboxState {
  file: string;
  /** Lines that were delivered, rejected or skipped. */
  lines: number;
  /** Unread bytes, and the size of the file. */
  unread: number;
  size: number;
  /** The file with its rejected lines, if there are any. */
  rejected?: string;
}

/** All inboxes, sorted by name. */
export function inboxStates(home: string): InboxState[] {
  return namesIn(home)
    .map(name => `inbox/${name}`)
    .filter(path => kindOf(path) === 'inbox')
    .flatMap(path => inboxState(home, path) ?? []);
}

/** Paths in inbox/ that look like an inbox but are never read: slack.json, a file in a folder. */
export function misplacedInboxes(home: string): string[] {
  const isFolder = (name: string) => statOf(join(home, 'inbox', name))?.isDirectory() === true;
  return namesIn(home).flatMap(name => {
    if (name === 'rejected' || name.startsWith('.')) return [];
    if (isFolder(name)) return name.endsWith('.jsonl') || namesIn(home, name).length > 0 ? [`inbox/${name}/`] : [];
    return /\.(?:json|jsonl|ndjson|jsonlines)$/i.test(name) && !name.endsWith('.jsonl') ? [`inbox/${name}`] : [];
  });
}

/** Undefined: no such file. */
export function inboxState(home: string, file: string): InboxState | undefined {
  const stat = statOf(join(home, file));
  if (!stat?.isFile()) return undefined;
  const read = readHomeFile(nodeDisk(home), cursorPath(file));
  const cursor = read && 'text' in read ? parseCursor(read.text).value : undefined;
  const isSame = cursor?.inode === `${stat.ino}` && cursor.offset <= stat.size;
  const aside = statOf(join(home, rejectedPath(file)));
  return {
    file,
    lines: isSame ? cursor.line : 0,
    unread: isSame ? stat.size - cursor.offset : stat.size,
    size: stat.size,
    ...(aside && aside.size > 0 && {rejected: rejectedPath(file)}),
  };
}

/** Must not throw, also for a circular link or without permission. */
function statOf(place: string): Stats | undefined {
  try {
    return statSync(place, {throwIfNoEntry: false});
  } catch {
    return undefined;
  }
}

function namesIn(home: string, folder = ''): string[] {
  try {
    return readdirSync(join(home, 'inbox', folder)).sort();
  } catch {
    return [];
  }
}
