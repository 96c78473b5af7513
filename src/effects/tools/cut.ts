/** As much text as one result carries, in bytes of UTF-8. */
export const MOST_TEXT = 32 * 1024;

/** The text, or its beginning and end around a note of what is missing, at most about `most` characters. */
export function cutMiddle(text: string, most = MOST_TEXT): string {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  const head = text.slice(0, isPair(text, half) ? half - 1 : half);
  const from = text.length - half;
  const tail = text.slice(isPair(text, from) ? from + 1 : from);
  return `${head}\n… ${text.length - head.length - tail.length} characters left out …\n${tail}`;
}

/** Whether a cut before `at` would split one character. */
function isPair(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}

/** As many of the items, from the first, as one result carries. */
export function fitting<T>(items: readonly T[], most: number): T[] {
  const fit: T[] = [];
  let bytes = 0;
  for (const item of items) {
    bytes += JSON.stringify(item).length + 1;
    if (fit.length >= most || bytes > MOST_TEXT) break;
    fit.push(item);
  }
  return fit;
}
