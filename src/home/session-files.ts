import {closeSync, constants, fstatSync, openSync, readSync} from 'node:fs';
import {join} from 'node:path';
import {isSegment, stemOf} from '../formats/common/key.ts';
import {nodeDisk} from './disk/disk.ts';
import {listFolder} from './read.ts';

export interface SessionFile {
  /** Its session_id: the file's stem. */
  id: string;
  path: string;
}

/** All sessions by file name, in the order of their paths; segments are parts of others. No file is read. */
export function listSessions(home: string): SessionFile[] {
  return listFolder(nodeDisk(home), 'sessions')
    .filter(path => !isSegment(path))
    .sort()
    .map(path => ({id: stemOf(path), path}));
}

const HEAD = 8 * 1024;
const FOOT = 2 * 1024;
const buffer = Buffer.allocUnsafe(HEAD + FOOT);

/**
 * What stands above the messages of a session, and the end of the file, where keys may stand too: enough to see what a
 * session is not, at a fraction of the cost of reading it. Latin-1, since no more than names is looked for. Undefined if
 * it cannot be read.
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

/** A long system prompt: as far as the messages, or to the end. */
function whole(file: number, size: number): string {
  const all = Buffer.allocUnsafe(size);
  return all.toString('latin1', 0, readSync(file, all, 0, size, 0));
}
