import {createHash} from 'node:crypto';
import type {Stats} from 'node:fs';

/** What a decision is bound to of a file: its content. */
export function fileDigest(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** Of a file that is not read: programs can set its time of modification, but not the one of its last change. */
export function unreadDigest({ino, size, ctimeMs}: Stats): string {
  return `unread ${ino} ${size} ${ctimeMs}`;
}
