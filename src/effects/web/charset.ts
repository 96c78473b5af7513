import {isUtf8} from 'node:buffer';
import {TextDecoder} from 'node:util';
import {characterStart} from '../workspace/text-encoding.ts';

/** Decode by byte order mark, server charset, or declaration in the text; otherwise as UTF-8 or windows-1252. */
export function decodeText(bytes: Buffer, cut: boolean, charset: string | undefined): string {
  const sound = cut ? bytes.subarray(0, characterStart(bytes, bytes.length - 1)) : bytes;
  const decoder =
    decoderOf(byMark(bytes)) ??
    decoderOf(charset) ??
    decoderOf(byItself(bytes)) ??
    decoderOf(isUtf8(sound) ? 'utf-8' : 'windows-1252');
  return (decoder ?? new TextDecoder()).decode(sound);
}

function decoderOf(label: string | undefined): TextDecoder | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label);
  } catch {
    return undefined; // an unknown label
  }
}

function byMark(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined;
}

/** Encoding from `<meta charset>` or the XML declaration. Text that is readable as latin1 cannot be UTF-16. */
function byItself(bytes: Buffer): string | undefined {
  const start = bytes.toString('latin1', 0, 2048);
  if (!/^\s*</.test(start)) return undefined;
  const name =
    /^\s*<\?xml[^>]{0,200}encoding\s*=\s*["']([\w.:-]+)/.exec(start)?.[1] ??
    /<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(start)?.[1];
  return name !== undefined && /^utf-?16/i.test(name) ? 'utf-8' : name;
}
