/**
 * Code points that hide, reorder or break text: controls (except tab and newline), soft hyphen, zero-width, bidi,
 * variation selectors, fillers, tags, lone surrogates. Where a person decides, no text of an agent contains them raw.
 */
function isHidden(code: number): boolean {
  if (code < 0x20) return code !== 0x09 && code !== 0x0a;
  if (code < 0x7f) return false;
  if (code <= 0x9f || code === 0xad || code === 0x34f || code === 0x61c) return true;
  if (code === 0x115f || code === 0x1160 || code === 0x17b4 || code === 0x17b5) return true;
  if (code >= 0x180b && code <= 0x180f) return true;
  if (code >= 0x200b && code <= 0x200f) return true;
  if (code >= 0x2028 && code <= 0x202e) return true;
  if (code >= 0x2060 && code <= 0x206f) return true;
  if (code === 0x3164 || code === 0xffa0 || code === 0xfeff) return true;
  if (code >= 0xd800 && code <= 0xdfff) return true;
  if (code >= 0xfe00 && code <= 0xfe0f) return true;
  if (code >= 0xfff0 && code <= 0xfffb) return true;
  return code >= 0xe0000 && code <= 0xe0fff;
}

/** Joiners, variation selectors and soft hyphens are part of ordinary text and emoji: harmless in a file. */
function isOrdinary(code: number): boolean {
  return code === 0x200c || code === 0x200d || (code >= 0xfe00 && code <= 0xfe0f) || code === 0xad;
}

/** Write hidden characters as `⟨U+202E⟩`. `all` includes ordinary ones: where a person decides, nothing is hidden. */
export function makeVisible(text: string, all = true): string {
  let out = '';
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i) ?? 0;
    const width = code > 0xffff ? 2 : 1;
    if (isHidden(code) && (all || !isOrdinary(code))) {
      out += `${text.slice(from, i)}⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
      from = i + width;
    }
    i += width - 1;
  }
  return out + text.slice(from);
}

const WRITTEN_OUT = /⟨U\+([0-9A-F]{4,6})⟩/g;

/** Undo `makeVisible` on an edited text. Undefined: `original` itself has such sequences, so they are ambiguous. */
export function hideAgain(text: string, original: string): string | undefined {
  if (makeVisible(original) === original) return text;
  if (original.search(WRITTEN_OUT) !== -1) return undefined;
  return text.replace(WRITTEN_OUT, (words, hex: string) => {
    const code = Number.parseInt(hex, 16);
    return code <= 0x10ffff && isHidden(code) ? String.fromCodePoint(code) : words;
  });
}

/** Like `makeVisible`, for a single line: also writes out tabs and newlines. */
export function visibleLine(text: string): string {
  return makeVisible(text).replaceAll('\t', '⟨U+0009⟩').replaceAll('\n', '⟨U+000A⟩');
}

/** Whether a text has characters that must be escaped in a file, because they would be lost or move other text. */
export function needsEscape(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i) ?? 0;
    if (code > 0xffff) i++;
    if (isHidden(code) && !isOrdinary(code)) return true;
  }
  return false;
}

/** Escape hidden characters as \uXXXX in JSON, or in YAML with hidden characters only within double quotes. */
export function escapeHidden(json: string): string {
  if (!needsEscape(json)) return json;
  let out = '';
  for (const point of json) {
    const code = point.codePointAt(0) ?? 0;
    if (!isHidden(code) || isOrdinary(code)) out += point;
    else for (let i = 0; i < point.length; i++) out += `\\u${point.charCodeAt(i).toString(16).padStart(4, '0')}`;
  }
  return out;
}

/** JSON string with every hidden character as \uXXXX, including ordinary ones. */
export function escapeAll(text: string): string {
  let out = '';
  for (const point of JSON.stringify(text)) {
    if (!isHidden(point.codePointAt(0) ?? 0)) out += point;
    else for (let i = 0; i < point.length; i++) out += `\\u${point.charCodeAt(i).toString(16).padStart(4, '0')}`;
  }
  return out;
}

export function jsonText(value: unknown): string {
  return escapeHidden(JSON.stringify(value));
}
