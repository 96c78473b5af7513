import {constants} from 'node:fs';
import {dirname} from 'node:path';
import {parseRejected, type Rejected, rejectedLine} from '../formats/rejected.ts';
import {crashPoint} from './disk/crash.ts';
import type {Disk} from './disk/disk.ts';

/** So much of the end of the file is looked at for what is there already. */
const LOOKED_AT = 8 * 1024 * 1024;

/** Where the lines of an inbox go that are no messages. */
export function rejectedPath(inbox: string): string {
  return inbox.replace(/^inbox\//, 'inbox/rejected/');
}

/** Put these where a person finds them, durably. `again`: a crash may have left some there already. */
export async function appendRejected(
  disk: Disk,
  inbox: string,
  entries: readonly Rejected[],
  again: boolean,
): Promise<void> {
  const place = rejectedPath(inbox);
  disk.makeDirectory(dirname(place));
  const file = disk.open(place, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o644);
  try {
    const size = Number(file.stat().size);
    const end = Buffer.alloc(Math.min(size, again ? LOOKED_AT : 1));
    file.read(end, 0, end.length, size - end.length);
    const there = new Set(parseRejected(end.toString()).entries.map(({id}) => id));
    // A line that a crash or a full disk cut off is ended first.
    const torn = size > 0 && end.at(-1) !== 10 ? '\n' : '';
    const text = entries.filter(({id}) => !there.has(id)).map(rejectedLine);
    if (text.length === 0) return;
    const bytes = Buffer.from(torn + text.join(''));
    for (let at = 0; at < bytes.length; ) at += file.write(bytes, at);
    crashPoint('set-aside');
    await file.sync();
  } finally {
    file.close();
  }
}
