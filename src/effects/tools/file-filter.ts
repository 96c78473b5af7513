import {globMatches, globPattern} from '../workspace/glob-pattern.ts';
import type {ToolPath} from '../workspace/place.ts';

/** Filters files by a glob, like ripgrep's -g. */
export interface FileFilter {
  wants: (parts: readonly string[]) => boolean;
  /** Whether the glob mentions names that begin with a dot. */
  namesHidden: boolean;
}

/**
 * A string says why the glob is invalid. With a `/` inside it matches paths from `place` or from the workspace,
 * otherwise names at any depth. A trailing `/` selects the content of folders; a leading `!` excludes, folders with
 * their content.
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
