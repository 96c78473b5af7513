import {stemOf} from '../../formats/common/key.ts';
import {type Cursor, cursorPath, type Position, parseCursor} from '../../formats/cursor-file.ts';
import type {Disk} from '../../home/disk/disk.ts';
import {listFolder, readHomeFile} from '../../home/read.ts';
import type {With} from '../state/parts.ts';

/** Reading positions of all other inboxes and of their rotated files. */
export function otherPositions(
  {files, inboxes}: With<'files' | 'inboxes'>,
  path: string,
): {path: string; at: Position; busy: boolean}[] {
  const {disk} = files;
  const written = listFolder(disk, 'state/inbox').map(each => `inbox/${stemOf(each)}.jsonl`);
  return [...new Set([...written, ...inboxes.paths()])].flatMap(other => {
    const reading = other === path ? undefined : inboxes.get(other);
    const cursor = other === path ? undefined : (reading?.cursor ?? readCursor(disk, other).cursor);
    const busy = (reading?.underWay ?? 0) > 0;
    return cursor ? [cursor, ...(cursor.rotated ?? [])].map(at => ({path: other, at, busy})) : [];
  });
}

/** Read the cursor file. `wrong`: it has errors. */
export function readCursor(disk: Disk, inbox: string): {cursor?: Cursor; text: string; wrong?: true} {
  const read = readHomeFile(disk, cursorPath(inbox));
  if (!read) return {text: ''};
  const {value, text} = 'text' in read ? parseCursor(read.text) : {value: undefined, text: ''};
  return value ? {cursor: value, text} : {text, wrong: true};
}
