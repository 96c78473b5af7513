import {isFailure} from '../tool/failure.ts';
import type {Tool, ToolContext, ToolFailure} from '../tool/tool.ts';
import {closeFolder, type Folder, openFolder} from '../workspace/folder.ts';
import {lookAt} from '../workspace/open-file.ts';
import {parseToolPath, type ToolPath} from '../workspace/place.ts';
import {entriesOf, entryType, type WalkEntry, walkFolder} from '../workspace/walk.ts';
import {fittingLines} from './cut.ts';

const MAX_ENTRIES = 1000;
const MOST_SEEN = 50_000;

interface Line {
  /** With a trailing `/` for directories. */
  name: string;
  size?: number;
  link?: true;
}

export const listDirectoryTool: Tool<'list_directory'> = {
  execute: async ({path = '.', recursive = false}, context) => {
    const place = parseToolPath(path, 'read', context.workspace);
    if (isFailure(place)) return place;
    const seen = recursive ? await allBelow(context, place) : directlyIn(context, place);
    if (isFailure(seen)) return seen;
    const entries = fittingLines(seen.lines, MAX_ENTRIES);
    const left = seen.lines.length - entries.length;
    const incomplete =
      left > 0 || seen.incomplete
        ? `only the first ${entries.length} are listed; name a folder, or find files with glob`
        : undefined;
    return {success: true, path: place.path, entries, ...(incomplete && {incomplete})};
  },
};

interface Seen {
  lines: Line[];
  incomplete: boolean;
}

function directlyIn(context: ToolContext, place: ToolPath): Seen | ToolFailure {
  const folder = openFolder(context, place);
  if (isFailure(folder)) return folder;
  try {
    const {list, cut} = entriesOf(folder, MOST_SEEN);
    const lines = list.slice(0, MAX_ENTRIES + 1).map(entry => lineOf(folder, entry.name, entryType(entry), entry.name));
    return {lines, incomplete: cut};
  } finally {
    closeFolder(folder);
  }
}

async function allBelow(context: ToolContext, place: ToolPath): Promise<Seen | ToolFailure> {
  const lines: Line[] = [];
  const walked = await walkFolder(context, place, {
    start: true,
    enter: () => true,
    visit: ({folder, name, parts, kind}) => {
      lines.push(lineOf(folder, name, kind, parts.slice(place.parts.length).join('/')));
      return lines.length <= MAX_ENTRIES;
    },
    ignoring: false,
  });
  return isFailure(walked) ? walked : {lines, incomplete: walked.incomplete !== undefined};
}

function lineOf(folder: Folder, name: string, kind: WalkEntry<unknown>['kind'], shown: string): Line {
  if (kind === 'directory') return {name: `${shown}/`};
  if (kind === 'link') return {name: shown, link: true};
  if (kind === 'other') return {name: shown};
  const size = lookAt(folder, name)?.size;
  return {name: shown, ...(size !== undefined && {size})};
}
