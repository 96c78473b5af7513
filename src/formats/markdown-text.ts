import {visibleLine} from './common/visible.ts';

/** Longer texts are cut to fit a line. */
const MAX_SPAN = 300;

/** Foreign text within a line of Markdown: it cannot break out, act as markup, or hide anything. */
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

/** Link to a line of a file, as editors and forges understand it. `path` is relative, with "/". */
export function fileLink(path: string, line?: number): string {
  const [colon, fragment] = line === undefined ? ['', ''] : [`:${line}`, `#L${line}`];
  return `[${linkText(path)}${colon}](${path.split('/').map(encode).join('/')}${fragment})`;
}

/** Keep ordinary paths; escape anything that could be markup in others. */
function linkText(path: string): string {
  const shown = visibleLine(path).replace(/\s/g, ' ');
  return /^[A-Za-z0-9./-]+(?:(?<=[A-Za-z0-9])_(?=[A-Za-z0-9])[A-Za-z0-9./-]+)*$/.test(shown)
    ? shown
    : shown.replace(/[\\`*_[\]<>&~|!$]/g, '\\$&');
}

/** Encode a path component for a URL. A lone surrogate cannot be encoded. */
function encode(part: string): string {
  return encodeURIComponent(part.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /[!'()*]/g,
    mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
