import {globPattern} from '../workspace/glob-pattern.ts';
import {placeOf, shownPath} from '../workspace/place.ts';
import {walk} from '../workspace/walk.ts';
import {MOST_TEXT} from './cut.ts';
import {failure, isFailure} from './failure.ts';
import type {Tool} from './tool.ts';

const MOST = 1000;

export const glob: Tool<'glob'> = {
  execute: async ({pattern, path}, context) => {
    if (/^[/~]/.test(pattern)) return failure('DENIED', `${pattern}: patterns are relative to the workspace`);
    const {fixed, rest} = cutFixed(pattern);
    const place = placeOf([...(path === undefined ? [] : [path]), ...fixed].join('/') || '.');
    if (isFailure(place)) return place;
    if (rest.split('/').includes('..')) return failure('DENIED', `${pattern}: ".." is not allowed`);
    const compiled = globPattern(rest);
    if (typeof compiled === 'string') return failure('INVALID_ARGUMENTS', `"pattern" is ${compiled}`);

    const files: string[] = [];
    let bytes = 0;
    const walked = await walk(context, place, {
      start: compiled.start,
      enter: compiled.step,
      visit: ({name, parts, kind, state}) => {
        if (kind !== 'file') return true;
        const matched = compiled.step(state, name);
        if (!matched || !compiled.accepts(matched)) return true;
        if (files.length >= MOST || bytes > MOST_TEXT) return false;
        const shown = shownPath(place.root, parts);
        bytes += shown.length + 4;
        return files.push(shown) > 0;
      },
      ignoring: true,
    });
    if (isFailure(walked)) {
      // Where nothing is, nothing matches.
      if (walked.code !== 'FAILED') return walked;
      return {success: true, files: [], note: walked.error};
    }
    const cut = files.length >= MOST || bytes > MOST_TEXT;
    const incomplete = cut ? `only the first ${files.length} are listed; make the pattern narrower` : walked.incomplete;
    const note = files.length > 0 ? undefined : whyNone(pattern, walked.ignored);
    return {success: true, files, ...(incomplete && {incomplete}), ...(note && {note})};
  },
};

/** The leading parts without wildcards say where to begin; `memory/*.md` is about the home's memory. */
function cutFixed(pattern: string): {fixed: string[]; rest: string} {
  const parts = pattern.split('/');
  const fixed: string[] = [];
  while (parts.length > 1 && !/[*?[{\\]/.test(parts[0] ?? '')) fixed.push(parts.shift() ?? '');
  return {fixed, rest: parts.join('/')};
}

function whyNone(pattern: string, ignored: number): string | undefined {
  if (!/[/]|^\*\*$/.test(pattern)) return `none here; **/${pattern} also looks in folders`;
  if (ignored > 0) return `${ignored} files or folders were left out by ignore files; name the folder to look in it`;
  return undefined;
}
