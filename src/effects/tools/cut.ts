/** As much text as one result carries, in bytes of UTF-8. */
export const MAX_TEXT = 32 * 1024;

/** As many of the items, from the first, as one result carries, or as have room in so many bytes of it. */
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
