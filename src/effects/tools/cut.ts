/** Maximum text in one result, in bytes of UTF-8. */
export const MAX_TEXT = 32 * 1024;

/** Return as many leading items as fit into `room` bytes, at most `most`. */
export function fittingLines<T>(items: readonly T[], most: number, room = MAX_TEXT): T[] {
  const fit: T[] = [];
  let bytes = 0;
  for (const item of items) {
    bytes += JSON.stringify(item).length + 1;
    if (fit.length >= most || bytes > room) break;
    fit.push(item);
  }
  return fit;
}
