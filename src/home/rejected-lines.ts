import {constants} from 'node:fs';
import {dirname} from 'node:path';
import {parseRejected, type Rejected, rejectedLine} from '../formats/rejected.ts';
import {crashPoint} from './disk/crash.ts';
import type {Disk} from './disk/disk.ts';

/** How many bytes at the end of the file are searched for existing entries. */
const LOOKED_AT = 8 * 1024 * 1024;

/** The file for lines of an inbox that are not messages. */
export function rejectedPath(inbox: string): string {
  return inbox.replace(/^inbox\//, 'inbox/rejected/');
}

/**
 * Append rejected lines durably, without those of `earlier`, which an earlier run or a failed try has appended. Undefined: they are read from
 * the file. Returns them for the next call.
 */
export async function appendRejected(
  disk: Disk,
  inbox: string,
  entries: readonly Rejected[],
  earlier: ReadonlySet<string> | undefined,
): Promise<ReadonlySet<string>> {
  const place = rejectedPath(inbox);
  disk.makeDirectory(dirname(place));
  const file = disk.open(place, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o644);
  try {
    const size = Number(file.stat().size);
    const end = Buffer.alloc(Math.min(size, earlier ? 1 : LOOKED_AT));
    file.read(end, 0, end.length, size - end.length);
    const existing = earlier ?? new Set(parseRejected(end.toString()).entries.map(({id}) => id));
    // End a line first that a crash or a full disk cut off.
    const torn = size > 0 && end.at(-1) !== 10 ? '\n' : '';
    const text = entries.filter(({id}) => !existing.has(id)).map(rejectedLine);
    if (text.length === 0) return existing;
    const bytes = Buffer.from(torn + text.join(''));
    for (let at = 0; at < bytes.length; ) at += file.write(bytes, at);
    crashPoint('set-aside');
    await file.sync();
    return existing;
  } finally {
    file.close();
  }
}
