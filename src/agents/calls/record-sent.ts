import {newRecord} from '../../formats/inbox.ts';
import {appendLines} from '../../home/append-line.ts';
import {crashPoint} from '../../home/disk/crash.ts';
import type {Disk, OpenFile} from '../../home/disk/disk.ts';
import type {With} from '../state/parts.ts';

/** Bytes at the end of the file that are searched for the record. */
const TAIL = 1024 * 1024;

/**
 * Record an outgoing message in the inbox file that receives the replies. The record is never delivered to an agent. A
 * message that is sent again after a crash is already recorded under its id and is not added twice.
 */
export async function recordSent(
  {files, reports}: With<'files' | 'reports'>,
  file: string,
  record: Readonly<Record<string, unknown>>,
): Promise<void> {
  const {disk} = files;
  const {redact} = reports;
  crashPoint('message-sent');
  const redacted = redact.value(record);
  if (isRecorded(disk, `inbox/${file}`, redacted.id)) return;
  await appendLines(disk, `inbox/${file}`, newRecord({direction: 'out', ...redacted}));
}

function isRecorded(disk: Disk, path: string, id: unknown): boolean {
  let file: OpenFile;
  try {
    file = disk.open(path, 'r');
  } catch {
    return false;
  }
  try {
    const size = Number(file.stat().size);
    const bytes = Buffer.alloc(Math.min(size, TAIL));
    const length = file.read(bytes, 0, bytes.length, size - bytes.length);
    const lines = bytes.toString('utf8', 0, length).split('\n').slice(0, -1);
    return lines.some(line => line.includes('"direction":"out"') && line.includes(`"id":${JSON.stringify(id)}`));
  } finally {
    file.close();
  }
}
