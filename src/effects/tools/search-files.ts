import type {IndexedFile} from '../search/file-index.ts';
import type {TextOf} from '../search/passage-text.ts';
import type {RankedPassage} from '../search/search.ts';
import {isFailure} from '../tool/failure.ts';
import type {Arguments, Tool, ToolContext, ToolFailure} from '../tool/tool.ts';
import {closeFolder, openFolder} from '../workspace/folder.ts';
import {makeToolPath, parseToolPath, shownPath, type ToolPath} from '../workspace/place.ts';
import {fittingLines} from './cut.ts';

const USUAL = 8;
const MAX_PASSAGES = 50;

export const searchFilesTool: Tool<'search_files'> = {
  execute: async (args, context) => {
    const places = placesOf(args, context);
    if (isFailure(places)) return places;
    // Loaded here, because most daemons never search.
    const {search} = await import('../search/search.ts');
    const searched = await search(context, places, args.query);
    if (isFailure(searched)) return searched;
    const {ranked, looked, notes} = searched;
    const limit = Math.min(args.limit ?? USUAL, MAX_PASSAGES);
    const {passages, changed} = await shown(context, ranked, limit);
    const sum = (key: 'files' | 'binary' | 'large' | 'full' | 'unread' | 'ignored' | 'hidden') =>
      looked.reduce((all, one) => all + one[key], 0);
    const incomplete = [...unseen(sum), ...looked.flatMap(one => one.incomplete ?? [])].join('; ');
    const skipped = [
      ...(sum('large') > 0 ? [`${sum('large')} ${sum('large') === 1 ? 'file' : 'files'} larger than 1 MB`] : []),
      ...(sum('binary') > 0 ? [`${sum('binary')} binary ${sum('binary') === 1 ? 'file' : 'files'}`] : []),
    ].join(', ');
    const note = [
      ...((args.limit ?? 0) > MAX_PASSAGES ? [`limit is ${MAX_PASSAGES} at most, and was taken as that`] : []),
      ...(changed > 0 ? [`${changed} passages changed just now and are left out; search again`] : []),
      ...notes,
      ...(passages.length > 0 ? [] : whyNone(places, sum)),
    ].join('; ');
    return {
      success: true,
      passages,
      files: sum('files'),
      ...(incomplete && {incomplete}),
      ...(skipped && {skipped}),
      ...(note && {note}),
    };
  },
};

/** The named place, or the workspace and memory/ as far as they exist. */
function placesOf({path}: Arguments<'search_files'>, context: ToolContext): ToolPath[] | ToolFailure {
  if (path === undefined) {
    const memory = makeToolPath('memory', []);
    return [makeToolPath('workspace', []), ...(isThere(context, memory) ? [memory] : [])];
  }
  const named = parseToolPath(path, 'read', context.workspace);
  return isFailure(named) ? named : [named];
}

function isThere(context: ToolContext, where: ToolPath): boolean {
  const folder = openFolder(context, where);
  if (isFailure(folder)) return false;
  closeFolder(folder);
  return true;
}

interface Shown {
  path: string;
  first_line: number;
  last_line: number;
  score: number;
  heading?: string;
  text: string;
}

/** Read the texts of the best passages, skipping those that overlap a better one. */
async function shown(context: ToolContext, ranked: readonly RankedPassage[], limit: number) {
  const {readTexts} = await import('../search/passage-text.ts');
  const texts = new Map<IndexedFile, TextOf | undefined>();
  const taken = new Map<IndexedFile, RankedPassage['passage'][]>();
  const passages: Shown[] = [];
  let changed = 0;
  for (const {root, file, passage, score} of ranked) {
    if (passages.length >= limit) break;
    const others = taken.get(file) ?? [];
    if (others.some(({start, end}) => passage.start < end && start < passage.end)) continue;
    if (!texts.has(file)) texts.set(file, await readTexts(context, root, file));
    const text = texts.get(file)?.(passage);
    if (text === undefined) {
      changed++;
      continue;
    }
    taken.set(file, [...others, passage]);
    passages.push({
      path: shownPath(root, file.parts),
      first_line: passage.first,
      last_line: passage.last,
      score: Number(score.toPrecision(3)),
      ...(passage.trail !== '' && {heading: passage.trail}),
      text,
    });
  }
  return {passages: fittingLines(passages, limit), changed};
}

type Sum = (key: 'files' | 'full' | 'unread' | 'ignored' | 'hidden') => number;

function unseen(sum: Sum): string[] {
  const full = `${sum('full')} files are not in the index, which is full; grep finds words in them`;
  const unread = `the index is still being built: ${sum('unread')} files are not read yet; search again to go on`;
  return [...(sum('full') > 0 ? [full] : []), ...(sum('unread') > 0 ? [unread] : [])];
}

function whyNone(places: readonly ToolPath[], sum: Sum): string[] {
  const where = places.map(({path, parts}) => (parts.length === 0 && path === '.' ? 'the workspace' : path));
  const out = [
    ...(sum('ignored') > 0 ? [`ignore files left out ${sum('ignored')}`] : []),
    ...(sum('hidden') > 0 ? [`${sum('hidden')} hidden ones were left out`] : []),
  ];
  return [
    `nothing found in ${where.join(' and ')} (${sum('files')} files); try other words, or grep for an exact text`,
    ...(out.length > 0 ? [`${out.join(', ')}; name one as path to look in it`] : []),
  ];
}
