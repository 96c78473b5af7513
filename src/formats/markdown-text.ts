import {visibleLine} from './common/visible.ts';

/** Longer texts are cut: what a person reads in a list is a line. */
const MAX_SPAN = 300;

/**
 * Text of somebody else, within a line of Markdown that we write: nothing in it can end its place, be read as markup,
 * or hide.
 */
export function codeSpan(text: string): string {
  const line =
    visibleLine(text.length > MAX_SPAN ? `${text.slice(0, MAX_SPAN - 1)}…` : text)
      .replace(/\s+/g, ' ')
      .trim() || ' ';
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const gap = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${fence}${gap}${line}${gap}${fence}`;
}

/** A link to a line of a file beside the one that we write, as editors and forges follow it. `path` with "/". */
export function fileLink(path: string, line?: number): string {
  const [colon, fragment] = line === undefined ? ['', ''] : [`:${line}`, `#L${line}`];
  return `[${linkText(path)}${colon}](${path.split('/').map(encode).join('/')}${fragment})`;
}

/** Usual paths stay as they are. In others whatever could be markup is escaped. */
function linkText(path: string): string {
  const shown = visibleLine(path).replace(/\s/g, ' ');
  return /^[A-Za-z0-9./-]+(?:(?<=[A-Za-z0-9])_(?=[A-Za-z0-9])[A-Za-z0-9./-]+)*$/.test(shown)
    ? shown
    : shown.replace(/[\\`*_[\]<>&~|!$]/g, '\\$&');
}

/** One part of a path in a URL. Half a character cannot be encoded. */
function encode(part: string): string {
  return encodeURIComponent(part.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /[!'()*]/g,
    mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
