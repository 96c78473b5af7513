import {deflateSync} from 'node:zlib';
import {changedRanges} from './changed-ranges.ts';

/** Smaller objects are stored uncompressed: setting up a compressor costs more than it saves. */
const STORED = 512;

/** Compress with zlib for speed rather than size: a repack compresses again. */
export function deflate(body: Buffer): Buffer {
  if (body.length < STORED) return stored(body);
  // A smaller window is set up faster, and compresses a small body equally well.
  const small = body.length < 8_000;
  return deflateSync(body, {level: 1, memLevel: small ? 5 : 8, windowBits: small ? 13 : 15});
}

/** A zlib stream of one uncompressed block. */
function stored(body: Buffer): Buffer {
  const {length} = body;
  const bytes = Buffer.allocUnsafe(length + 11);
  bytes.writeUInt16BE(0x7801, 0);
  bytes[2] = 1;
  bytes.writeUInt16LE(length, 3);
  bytes.writeUInt16LE(~length & 0xffff, 5);
  body.copy(bytes, 7);
  let a = 1;
  let b = 0;
  for (const byte of body) {
    a += byte;
    b += a;
  }
  bytes.writeUInt32BE((((b % 65_521) << 16) | (a % 65_521)) >>> 0, length + 7);
  return bytes;
}

/** A delta in git's format: copies what both texts have in common, and inserts the rest. */
export function deltaOf(from: Buffer, to: Buffer): Buffer {
  const parts: Buffer[] = [Buffer.from([...size(from.length), ...size(to.length)])];
  let at = 0;
  for (const {at: changed, removed, inserted} of changedRanges(from, to)) {
    parts.push(Buffer.from(copy(at, changed - at)));
    for (let i = 0; i < inserted.length; i += 127) {
      const piece = inserted.subarray(i, i + 127);
      parts.push(Buffer.from([piece.length]), piece);
    }
    at = changed + removed;
  }
  parts.push(Buffer.from(copy(at, from.length - at)));
  return Buffer.concat(parts);
}

function size(length: number): number[] {
  const bytes: number[] = [];
  for (let rest = length; ; rest >>>= 7) {
    bytes.push(rest > 127 ? (rest & 127) | 128 : rest);
    if (rest <= 127) return bytes;
  }
}

/** Copy instructions of at most 64 KB each. Zero bytes of offset and size are left out. */
function copy(from: number, length: number): number[] {
  const bytes: number[] = [];
  for (let at = from, remaining = length; remaining > 0; ) {
    const part = Math.min(remaining, 0xffff);
    const place = bytes.push(0x80) - 1;
    for (const [i, value] of [at, at >>> 8, at >>> 16, at >>> 24, part, part >>> 8].entries()) {
      if ((value & 0xff) === 0) continue;
      bytes[place] = (bytes[place] ?? 0) | (1 << i);
      bytes.push(value & 0xff);
    }
    at += part;
    remaining -= part;
  }
  return bytes;
}
