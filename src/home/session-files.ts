import {closeSync, constants, fstatSync, openSync, readSync} from 'node:fs';
import {join} from 'node:path';
import {isSegment, kindOf, stemOf} from '../formats/common/key.ts';
import {nodeDisk} from './disk/disk.ts';
import {listFolder} from './read.ts';

export interface SessionFile {
  /** The session_id, which is the file's stem. */
  id: string;
  path: string;
}

/** All sessions without their archived segments, sorted by path. Reads no file. */
export function listSessions(home: string): SessionFile[] {
  return listFolder(nodeDisk(home), 'sessions')
    .filter(path => kindOf(path) === 'session' && !isSegment(path))
    .sort()
    .map(path => ({id: stemOf(path), path}));
}

const HEAD = 8 * 1024;
const FOOT = 2 * 1024;
const buffer = Buffer.allocUnsafe(HEAD + FOOT);

/**
 * The text above the messages of a session and the end of the file, where keys may be too. Lets callers rule out sessions at a fraction
 * of the cost of reading them. Decoded as Latin-1, which is enough to search for names. Undefined if the file cannot be read.
 */
export function sessionHead(home: string, path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(join(home, path), constants.O_RDONLY | constants.O_NONBLOCK);
    const got = readSync(file, buffer, 0, HEAD, 0);
    const head = buffer.toString('latin1', 0, got);
    if (got < HEAD) return head;
    const {size} = fstatSync(file);
    if (!head.includes('\nmessages:')) return whole(file, size);
    const from = Math.max(HEAD, size - FOOT);
    return head + buffer.toString('latin1', 0, readSync(file, buffer, 0, size - from, from));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The whole file, because a long system prompt precedes the messages. */
function whole(file: number, size: number): string {
  const all = Buffer.allocUnsafe(size);
  return all.toString('latin1', 0, readSync(file, all, 0, size, 0));
}
