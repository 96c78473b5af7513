import {closeSync} from 'node:fs';
import {failure, isFailure} from '../tool/failure.ts';
import {lineSearch} from '../tool/search-lines.ts';
import type {Arguments, Tool, ToolContext, ToolFailure} from '../tool/tool.ts';
import {closeFolder, type Folder, openFolder} from '../workspace/folder.ts';
import {beginRegular, type FileBeginning, fileTypeAt, readAll} from '../workspace/open-file.ts';
import {parseToolPath, shownPath, type ToolPath} from '../workspace/place.ts';
import {isUtf16} from '../workspace/text-encoding.ts';
import {type WalkResult, walkFolder} from '../workspace/walk.ts';
import {type FileFilter, fileFilter} from './file-filter.ts';
import {wholeLines} from './large-file.ts';
import {type LineFinder, makeLineFinder, PIECE} from './line-finder.ts';

const USUAL_MATCHES = 200;
const MOST_MATCHES = 2000;
const MOST_CONTEXT = 20;
const LARGEST = 64 * 1024 * 1024;
/** The limit of read_file. */
const LARGEST_UTF16 = 1024 * 1024;

export const grepTool: Tool<'grep'> = {
  execute: async (args, context) => {
    const place = parseToolPath(args.path ?? '.', 'read', context.workspace);
    if (isFailure(place)) return place;
    const search = lineSearch(args.pattern, args.ignore_case ?? false, Math.min(args.context ?? 0, MOST_CONTEXT));
    if (typeof search === 'string') return failure('INVALID_ARGUMENTS', `"pattern": ${search}`);
    const filter = fileFilter(args.glob ?? '', place);
    if (typeof filter === 'string') return failure('INVALID_ARGUMENTS', `"glob" is ${filter}`);

    const found = makeLineFinder(
      search,
      Math.min(args.limit ?? USUAL_MATCHES, MOST_MATCHES),
      context.signal,
      context.redact,
    );
    const seen = await readInto(found, context, place, filter);
    if (isFailure(seen)) return seen;
    const end = await found.end();
    if (isFailure(end)) return end;
    const incomplete = end.full ? 'there may be more; narrow the pattern, path or glob' : seen.incomplete;
    const skipped = [
      ...(seen.skipped > 0
        ? [`${seen.skipped} ${seen.skipped === 1 ? 'file' : 'files'} too large or not readable`]
        : []),
      ...(end.binary > 0 ? [`${end.binary} binary ${end.binary === 1 ? 'file' : 'files'} that may match`] : []),
    ].join(', ');
    const note = [...tooMuch(args), ...(end.matches > 0 ? [] : whyNone(seen, args))].join('; ');
    return {
      success: true,
      matches: end.matches,
      files: end.files,
      content: end.content,
      ...(incomplete && {incomplete}),
      ...(skipped && {skipped}),
      ...(note && {note}),
    };
  },
};

interface Seen extends WalkResult {
  wanted: number;
  skipped: number;
}

function tooMuch({context = 0, limit = 0}: Arguments<'grep'>): string[] {
  return [
    ...(context > MOST_CONTEXT ? [`context is ${MOST_CONTEXT} at most, and was taken as that`] : []),
    ...(limit > MOST_MATCHES ? [`limit is ${MOST_MATCHES} at most, and was taken as that`] : []),
  ];
}

function whyNone({wanted, ignored, hidden}: Seen, {glob, pattern}: Arguments<'grep'>): string[] {
  const bars = /\\\|/.test(pattern) ? ['\\| finds the character |; to find one or the other, write | without \\'] : [];
  const out = [
    ...(ignored > 0 ? [`ignore files left out ${ignored}`] : []),
    ...(hidden > 0 ? [`${hidden} hidden ones were left out`] : []),
  ];
  const named = out.length > 0 ? [`${out.join(', ')}; name one as path to look in it`] : [];
  const none =
    wanted > 0 || glob === undefined
      ? []
      : [`no file matches the glob ${glob}; several are written in braces, as in *.{ts,js}`];
  return [...bars, ...none, ...named];
}

/** Pass the bytes of each file to `found` until it has enough. */
async function readInto(
  found: LineFinder,
  context: ToolContext,
  place: ToolPath,
  {wants, namesHidden}: FileFilter,
): Promise<Seen | ToolFailure> {
  let skipped = 0;
  let wanted = 0;
  const read = (folder: Folder, name: string, parts: readonly string[]): boolean | Promise<boolean> => {
    wanted++;
    const file = begin(folder, name);
    const pathOf = () => shownPath(place.root, parts);
    if (!file) skipped++;
    else if (file.more && file.more.size > LARGEST) {
      closeSync(file.more.fd);
      skipped++;
    } else {
      const searched = file.more
        ? inPieces(found, file.bytes, file.more, pathOf(), context.signal)
        : found.add(file.bytes, pathOf);
      if (searched) return searched.then(() => !found.full());
    }
    return !found.full();
  };
  const kind = fileTypeAt(context, place);
  if (isFailure(kind)) return kind;
  if (kind === 'file') {
    const folder = openFolder(context, place, place.parts.slice(0, -1));
    if (isFailure(folder)) return folder;
    try {
      await read(folder, place.parts.at(-1) ?? '', place.parts);
    } finally {
      closeFolder(folder);
    }
    return {skipped, wanted, ignored: 0, hidden: 0};
  }
  const walked = await walkFolder(context, place, {
    start: true,
    enter: () => true,
    visit: ({folder, name, parts, kind: what}) => what !== 'file' || !wants(parts) || read(folder, name, parts),
    ignoring: true,
    withoutHidden: !namesHidden,
  });
  return isFailure(walked) ? walked : {...walked, skipped, wanted};
}

async function inPieces(
  found: LineFinder,
  head: Buffer,
  {fd, size}: {fd: number; size: number},
  path: string,
  signal: AbortSignal,
) {
  try {
    // UTF-16 cannot be split at newline bytes.
    const whole = isUtf16(head) ? await readAll(fd, size, LARGEST_UTF16, signal) : undefined;
    if (whole) await found.add(whole, () => path);
    else await found.addPieces(wholeLines(fd, head, size, PIECE), path);
  } finally {
    closeSync(fd);
  }
}

const buffer = Buffer.allocUnsafe(64 * 1024);

/** The bytes are valid until the next call. Undefined: the file is not readable. */
function begin(folder: Folder, name: string): FileBeginning | undefined {
  try {
    return beginRegular(folder, name, buffer);
  } catch {
    return undefined;
  }
}
