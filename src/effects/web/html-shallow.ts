import {emptyElements, hiding, itemElements} from './html-hidden.ts';
import {pieces} from './html-pieces.ts';

/** Deeper than people write. HTML parsers recurse, or scan all open elements at each tag. */
const DEEPEST = 150;
/** In characters. Longer tags lose their attributes. */
const LONGEST_TAG = 8 * 1024;

/** Elements without content, or closed by the next such element. */
const flat = new Set([...emptyElements, ...itemElements, 'p', 'html', 'head', 'body']);

const dropped = /^(script|style|iframe|noembed|noframes)$/;

/** Remove scripts, styles, comments, and tags that are nested too deeply. */
export function shallowText(html: string): string {
  // Without a doctype, quirks mode would put tables into paragraphs.
  const parts = ['<!doctype html>'];
  /** Open elements by name: an end tag without an open element is dropped. */
  const open = new Map<string, number>();
  let depth = 0;
  let skipped: string | undefined;
  const hides = hiding(html);
  for (const piece of pieces(html)) {
    const {from, to, name, closing} = piece;
    // A dropped tag takes its hidden content with it.
    if (hides(piece, depth >= DEEPEST || to - from > LONGEST_TAG)) continue;
    if (skipped !== undefined) {
      if (name === skipped && closing) skipped = undefined;
      continue;
    }
    if (name === undefined) {
      parts.push(html.slice(from, to));
      continue;
    }
    if (dropped.test(name)) {
      if (!closing) skipped = name;
      continue;
    }
    if (!flat.has(name)) {
      const count = open.get(name) ?? 0;
      if (closing && count === 0) continue;
      open.set(name, count + (closing ? -1 : 1));
      if (closing) depth--;
      const tooDeep = depth >= DEEPEST;
      if (!closing) depth++;
      if (tooDeep) continue;
    }
    parts.push(to - from > LONGEST_TAG ? `<${closing ? '/' : ''}${name}>` : html.slice(from, to));
  }
  return parts.join('');
}

const blocks =
  /^(address|article|aside|blockquote|br|dd|div|dl|dt|fieldset|figure|footer|form|h[1-6]|header|hr|li|main|nav|ol|p|pre|section|table|td|th|tr|ul)$/;

/** Extract only the visible words, for pages that cannot be converted to Markdown. */
export function visibleWords(html: string): string {
  const parts: string[] = [];
  const hides = hiding(html);
  for (const piece of pieces(html)) {
    const {from, to, name} = piece;
    if (hides(piece)) continue;
    if (name === undefined) parts.push(html.slice(from, to));
    else if (blocks.test(name)) parts.push('\n');
  }
  return withoutEntities(parts.join('').replace(/[^\S\n]+/g, ' '))
    .replace(/\n\s*\n\s*/g, '\n\n')
    .trim();
}

const entities: Readonly<Record<string, string>> = {amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' '};

function withoutEntities(text: string): string {
  return text.replace(/&(?:(amp|lt|gt|quot|apos|nbsp)|#(\d{1,7})|#x([\da-f]{1,6}));/gi, (whole, name, decimal, hex) => {
    if (name !== undefined) return entities[String(name).toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
