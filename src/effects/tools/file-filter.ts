import {globMatches, globPattern} from '../workspace/glob-pattern.ts';
import type {ToolPath} from '../workspace/place.ts';

/** Which files a glob wants, as ripgrep's -g has it. */
export interface FileFilter {
  wants: (parts: readonly string[]) => boolean;
  /** Whether it speaks of names that begin with a dot. */
  namesHidden: boolean;
}

/**
 * A string says why it is none. With a `/` it is about the path, from `place` or from the workspace, else about names at
 * any depth; with one at its end about what is in folders; after `!` about what is left out, folders with all in them.
 */
export function fileFilter(source: string, place: ToolPath): FileFilter | string {
  const negated = source.startsWith('!');
  const body = source.slice(negated ? 1 : 0).replace(/^\.\//, '');
  const name = body.replace(/\/+$/, '');
  if (name === '') return {wants: () => true, namesHidden: false};
  const pattern = globPattern(name);
  if (typeof pattern === 'string') return pattern;
  const above = place.parts.length;
  const hits = name.includes('/')
    ? (parts: readonly string[], end: number) =>
        globMatches(pattern, parts.slice(0, end)) || (above > 0 && globMatches(pattern, parts.slice(above, end)))
    : (parts: readonly string[], end: number) => globMatches(pattern, parts.slice(end - 1, end));
  const ofFolder = body !== name;
  const wants = (parts: readonly string[]) => {
    for (let end = ofFolder ? parts.length - 1 : parts.length; end > 0; end--) {
      if (hits(parts, end)) return !negated;
      if (!negated && !ofFolder) return false;
    }
    return negated;
  };
  return {wants, namesHidden: !negated && /(?:^|[/{,])\.[^/]/.test(name)};
}
