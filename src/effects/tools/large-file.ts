import {readSync} from 'node:fs';

const NEWLINE = 10;

/** A file in pieces of whole lines, about `piece` bytes each; longer only if a line is. `head` is how it begins. */
export function* wholeLines(fd: number, head: Buffer, size: number, piece: number): Generator<Buffer> {
  let rest = Buffer.from(head);
  for (let at = head.length; ; ) {
    const end = rest.lastIndexOf(NEWLINE) + 1;
    if (end > 0) yield rest.subarray(0, end);
    const left = rest.subarray(end);
    // What a line needs beyond a piece is read in ever larger steps, or copying it would take for ever.
    const next = Buffer.allocUnsafe(left.length + Math.max(piece, left.length));
    left.copy(next);
    const read = at < size ? readSync(fd, next, left.length, Math.min(next.length - left.length, size - at), at) : 0;
    if (read === 0) {
      if (left.length > 0) yield left;
      return;
    }
    at += read;
    rest = next.subarray(0, left.length + read);
  }
}
