import {isUtf8} from 'node:buffer';
import type {Stats} from 'node:fs';
import {failure, isFailure} from '../tool/failure.ts';
import type {Arguments, Tool, ToolContext, ToolFailure} from '../tool/tool.ts';
import {isBinary, readPlace} from '../workspace/open-file.ts';
import {parseToolPath, type ToolPath} from '../workspace/place.ts';
import {MAX_WRITTEN, replaceFile, wouldReplace} from '../workspace/replace-file.ts';
import {fileDigest} from './basis.ts';
import {diffOf} from './diff-of.ts';
import {notFound} from './near-miss.ts';

interface Edited {
  place: ToolPath;
  bytes: Buffer;
  after: string;
  /** Line numbers of the replaced pieces in the old file. */
  lines: number[];
  stat: Stats;
}

export const editFileTool: Tool<'edit_file'> = {
  execute: async (args, context) => {
    const edited = await edit(args, context);
    if (isFailure(edited)) return edited;
    const {place, after, lines, stat} = edited;
    const written = await replaceFile(context, place, after, stat);
    if (isFailure(written)) return written;
    return {success: true, path: place.path, replaced: lines.length, lines: lines.slice(0, 100), bytes: written.bytes};
  },
  ask: async (args, context) => {
    const edited = await edit(args, context);
    if (isFailure(edited)) return edited;
    const {place, bytes, after, stat} = edited;
    const target = wouldReplace(context, place, after, stat);
    if (isFailure(target)) return target;
    return {
      title: `edit file: ${place.path}`,
      parts: [
        {label: 'Path', text: place.path},
        {label: 'Diff', text: diffOf(place.path, bytes, after, context.redact), language: 'diff'},
        {label: 'New text', text: args.new},
      ],
      edits: {argument: 'new', label: 'New text'},
      basis: {file: fileDigest(bytes)},
    };
  },
};

async function edit(args: Arguments<'edit_file'>, context: ToolContext): Promise<Edited | ToolFailure> {
  const place = parseToolPath(args.path, 'write', context.workspace);
  if (isFailure(place)) return place;
  const file = await readPlace(context, place, MAX_WRITTEN);
  if (isFailure(file)) return file;
  // Decoding other encodings and writing the text back would lose bytes.
  if (isBinary(file.bytes) || !isUtf8(file.bytes))
    return failure(
      'FAILED',
      `${place.path} is not UTF-8 text and cannot be edited as text; write_file replaces it whole`,
    );
  const before = file.bytes.toString();
  const {old, new: replacement} = inLineEndsOf(before, args);
  if (old === replacement) {
    const why = args.old === args.new ? '' : `; the lines of ${place.path} end with \\r\\n, and edit_file keeps that`;
    return failure('FAILED', `old and new are the same: there is nothing to change${why}`);
  }

  const found = offsetsOf(before, old, args.all ?? false);
  if (found.length === 0) return failure('FAILED', notFound(before, old, place.path, context.redact));
  const lines = linesAt(before, found);
  if (found.length > 1 && !args.all) {
    const shown = `${lines.slice(0, 10).join(', ')}${lines.length > 10 ? ', …' : ''}`;
    const how = 'give more of the text around it, or set all';
    return failure('FAILED', `old occurs ${found.length} times in ${place.path}, at lines ${shown}; ${how}`);
  }
  // Not String.replace, which gives `$&` a special meaning.
  return {place, bytes: file.bytes, after: before.split(old).join(replacement), lines, stat: file.stat};
}

/** Models write \n: if every line of the file ends with \r\n, they mean that. */
function inLineEndsOf(text: string, args: {old: string; new: string}): {old: string; new: string} {
  if (!text.includes('\r\n') || /(?<!\r)\n/.test(text)) return args;
  const crlf = (part: string) => part.replace(/\r?\n/g, '\r\n');
  return {old: crlf(args.old), new: crlf(args.new)};
}

function offsetsOf(text: string, piece: string, all: boolean): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + piece.length)) found.push(at);
  // `aa` occurs twice in `aaa`: report overlapping occurrences as ambiguous.
  const [only] = found;
  const overlapping = found.length !== 1 || only === undefined || all ? -1 : text.indexOf(piece, only + 1);
  return overlapping < 0 ? found : [...found, overlapping];
}

/** Line numbers of ascending offsets. */
function linesAt(text: string, offsets: readonly number[]): number[] {
  let line = 1;
  let at = 0;
  return offsets.map(offset => {
    for (let end = text.indexOf('\n', at); end >= 0 && end < offset; end = text.indexOf('\n', at)) {
      line++;
      at = end + 1;
    }
    return line;
  });
}
