import {createHash} from 'node:crypto';
import type {Stats} from 'node:fs';

/** Digest of a file's content, to which a decision is bound. */
export function fileDigest(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** Digest of a file that is not read: programs can set its mtime, but not its ctime. */
export function unreadDigest({ino, size, ctimeMs}: Stats): string {
  return `unread ${ino} ${size} ${ctimeMs}`;
}
