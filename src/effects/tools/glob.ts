import {failure, isFailure} from '../tool/failure.ts';
import type {Tool} from '../tool/tool.ts';
import {globPattern} from '../workspace/glob-pattern.ts';
import {fileTypeAt} from '../workspace/open-file.ts';
import {parseToolPath, shownPath, withoutWorkspace} from '../workspace/place.ts';
import {walkFolder} from '../workspace/walk.ts';
import {MAX_TEXT} from './cut.ts';

const MAX_FILES = 1000;
const WILD = /[*?[{\\]/;

export const globTool: Tool<'glob'> = {
  execute: async ({pattern: written, path}, context) => {
    const pattern = withoutWorkspace(written, context.workspace);
    if (/^[/~]/.test(pattern)) return failure('DENIED', `${pattern}: patterns are relative to the workspace`);
    if (pattern.endsWith('/'))
      return failure('INVALID_ARGUMENTS', `"pattern" ends with /, but files are found; ${pattern}** finds those in it`);
    const {fixed, rest} = cutFixed(pattern);
    const start = [...(path === undefined ? [] : [path]), ...fixed];
    const place = parseToolPath(start.join('/') || '.', 'read', context.workspace);
    if (isFailure(place)) return place;
    if (rest.split('/').includes('..')) return failure('DENIED', `${pattern}: ".." is not allowed`);
    const compiled = globPattern(rest);
    if (typeof compiled === 'string') return failure('INVALID_ARGUMENTS', `"pattern" is ${compiled}`);

    if (!WILD.test(rest)) {
      // A plain name is looked up directly, however many siblings it has, and ignore files do not apply.
      const named = parseToolPath([...start, rest].join('/'), 'read', context.workspace);
      const kind = isFailure(named) ? named : fileTypeAt(context, named);
      if (!isFailure(named) && kind === 'file') return {success: true, files: [named.path]};
      if (!isFailure(named) && kind === 'directory')
        return {success: true, files: [], note: `${named.path} is a folder; ${pattern}/** finds the files in it`};
    }
    const files: string[] = [];
    let more = false;
    let bytes = 0;
    const walked = await walkFolder(context, place, {
      start: compiled.start,
      enter: compiled.step,
      visit: ({name, parts, kind, state}) => {
        if (kind !== 'file') return true;
        const matched = compiled.step(state, name);
        if (!matched || !compiled.accepts(matched)) return true;
        if (files.length >= MAX_FILES || bytes > MAX_TEXT) {
          more = true;
          return false;
        }
        const shown = shownPath(place.root, parts);
        bytes += shown.length + 4;
        return files.push(shown) > 0;
      },
      ignoring: true,
    });
    if (isFailure(walked)) {
      // A missing folder has no matches.
      if (walked.code !== 'FAILED') return walked;
      return {success: true, files: [], note: walked.error};
    }
    const incomplete = more
      ? `only the first ${files.length} are listed; make the pattern narrower`
      : walked.incomplete;
    const note = files.length > 0 ? undefined : whyNone(pattern, walked.ignored);
    return {success: true, files, ...(incomplete && {incomplete}), ...(note && {note})};
  },
};

/** Leading components without wildcards say where to start; `memory/*.md` starts in the home's memory. */
function cutFixed(pattern: string): {fixed: string[]; rest: string} {
  const parts = pattern.split('/');
  const fixed: string[] = [];
  while (parts.length > 1 && !WILD.test(parts[0] ?? '')) fixed.push(parts.shift() ?? '');
  return {fixed, rest: parts.join('/')};
}

function whyNone(pattern: string, ignored: number): string | undefined {
  if (!/[/]|^\*\*$/.test(pattern)) return `none here; **/${pattern} also looks in folders`;
  if (ignored > 0) return `${ignored} files or folders were left out by ignore files; name the folder to look in it`;
  return undefined;
}
