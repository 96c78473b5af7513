import {closeSync, readSync} from 'node:fs';
import {closeFolder, type Folder, openFolder} from '../workspace/folder.ts';
import {type GlobPattern, globMatches, globPattern} from '../workspace/glob-pattern.ts';
import {isBinary, kindAt, openIn} from '../workspace/open-file.ts';
import {type Place, placeOf, shownPath} from '../workspace/place.ts';
import {type Walked, walk} from '../workspace/walk.ts';
import {failure, isFailure} from './failure.ts';
import {type Finding, finding} from './finding.ts';
import {lineSearch} from './search-lines.ts';
import type {Tool, ToolContext, ToolFailure} from './tool.ts';

const USUAL_MATCHES = 200;
const MOST_MATCHES = 2000;
const MOST_CONTEXT = 20;
const LARGEST = 64 * 1024 * 1024;

export const grep: Tool<'grep'> = {
  execute: async (args, context) => {
    const place = placeOf(args.path ?? '.');
    if (isFailure(place)) return place;
    const search = lineSearch(args.pattern, args.ignore_case ?? false, Math.min(args.context ?? 0, MOST_CONTEXT));
    if (typeof search === 'string') return failure('INVALID_ARGUMENTS', `"pattern": ${search}`);
    const only = args.glob === undefined || args.glob === '' ? undefined : globPattern(args.glob);
    if (typeof only === 'string') return failure('INVALID_ARGUMENTS', `"glob" is ${only}`);

    const found = finding(search, Math.min(args.limit ?? USUAL_MATCHES, MOST_MATCHES), context.signal);
    const seen = await readInto(found, context, place, nameFilter(args.glob, only, place));
    if (isFailure(seen)) return seen;
    const end = await found.end();
    if (isFailure(end)) return end;
    const incomplete = end.full ? 'there may be more; narrow the pattern, path or glob' : seen.incomplete;
    const {ignored} = seen;
    return {
      success: true,
      matches: end.matches,
      files: end.files,
      content: end.content,
      ...(incomplete && {incomplete}),
      ...(seen.skipped > 0 && {skipped: `${seen.skipped} files that are too large or not readable`}),
      ...(end.matches === 0 && ignored > 0 && {note: `ignore files left out ${ignored}; name one to look in it`}),
    };
  },
};

/** A glob without `/` is about names, at any depth. */
function nameFilter(
  source: string | undefined,
  only: GlobPattern | undefined,
  place: Place,
): (parts: readonly string[]) => boolean {
  if (!only) return () => true;
  if (!source?.includes('/')) return parts => globMatches(only, parts.slice(-1));
  return parts => globMatches(only, parts.slice(place.parts.length)) || globMatches(only, parts);
}

/** Hand the bytes of each file to `found`, until it has enough. */
async function readInto(
  found: Finding,
  context: ToolContext,
  place: Place,
  wanted: (parts: readonly string[]) => boolean,
): Promise<(Walked & {skipped: number}) | ToolFailure> {
  let skipped = 0;
  const read = (folder: Folder, name: string, parts: readonly string[]) => {
    const bytes = bytesOf(folder, name);
    if (!bytes) skipped++;
    const searched = bytes && !isBinary(bytes) ? found.add(shownPath(place.root, parts), bytes) : undefined;
    return searched ? searched.then(() => !found.full()) : !found.full();
  };
  const kind = kindAt(context, place);
  if (isFailure(kind)) return kind;
  if (kind === 'file') {
    const folder = openFolder(context, place, place.parts.slice(0, -1));
    if (isFailure(folder)) return folder;
    try {
      await read(folder, place.parts.at(-1) ?? '', place.parts);
    } finally {
      closeFolder(folder);
    }
    return {skipped, ignored: 0};
  }
  const walked = await walk(context, place, {
    start: true,
    enter: () => true,
    visit: ({folder, name, parts, kind: what}) => what !== 'file' || !wanted(parts) || read(folder, name, parts),
    ignoring: true,
  });
  return isFailure(walked) ? walked : {...walked, skipped};
}

const buffer = Buffer.allocUnsafe(64 * 1024);

/** Valid until the next call. Undefined: too large, or not to be read. */
function bytesOf(folder: Folder, name: string): Buffer | undefined {
  try {
    const file = openIn(folder, name);
    if (!file) return undefined;
    try {
      const {size} = file.stat;
      if (size > LARGEST) return undefined;
      const into = size <= buffer.length ? buffer : Buffer.allocUnsafe(size);
      let length = 0;
      while (length < into.length) {
        const read = readSync(file.fd, into, length, into.length - length, null);
        if (read === 0) break;
        length += read;
        if (length >= size) break;
      }
      return into.subarray(0, length);
    } finally {
      closeSync(file.fd);
    }
  } catch {
    return undefined;
  }
}
