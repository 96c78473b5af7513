import {isUtf8} from 'node:buffer';
import {isBinary} from './open-file.ts';

/** Convert to UTF-8, with a note if that was needed; undefined for binary files. */
export function asUtf8(bytes: Buffer): {bytes: Buffer; note?: string} | undefined {
  const wide = fromUtf16(bytes);
  if (wide !== undefined) return {bytes: Buffer.from(wide), note: 'it is UTF-16; edit_file cannot change it'};
  if (isBinary(bytes)) return undefined;
  if (isUtf8(bytes)) return {bytes};
  if (/[^\p{ASCII}\ufffd]/u.test(bytes.toString()))
    return {bytes, note: 'it is not UTF-8 throughout: what could not be read is shown as \ufffd'};
  const note = 'it is not UTF-8 and was read as Latin-1, which may be wrong; edit_file cannot change it';
  return {bytes: Buffer.from(bytes.toString('latin1')), note};
}

/** Judged by the byte order mark; without one it is uncertain. */
export function isUtf16(bytes: Buffer): boolean {
  const [first, second] = [bytes[0], bytes[1]];
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

export function fromUtf16(bytes: Buffer): string | undefined {
  if (!isUtf16(bytes) || bytes.length % 2 !== 0) return undefined;
  return (bytes[0] === 0xff ? bytes : Buffer.from(bytes).swap16()).toString('utf16le', 2);
}

/** Start of the UTF-8 character at this offset. */
export function characterStart(bytes: Buffer, offset: number): number {
  let at = offset;
  while (at > 0 && at > offset - 4 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at--;
  return at;
}
