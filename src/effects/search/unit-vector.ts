/** The same direction with length 1, so that the product of two says how near they are. Undefined if it is no vector. */
function unitVector(values: unknown): Float32Array | undefined {
  if (!Array.isArray(values) || values.length === 0 || values.length > 8192) return undefined;
  let square = 0;
  for (const value of values) {
    if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
    square += value * value;
  }
  if (square === 0 || !Number.isFinite(square)) return undefined;
  const length = Math.sqrt(square);
  return Float32Array.from(values, value => value / length);
}

/** One for each text, all of one length; else what is wrong. */
export function unitVectors(lists: readonly unknown[], count: number): Float32Array[] | string {
  if (lists.length !== count) return `it gave ${lists.length} vectors for ${count} texts`;
  const vectors = lists.map(unitVector);
  const good = vectors.filter(vector => vector !== undefined);
  if (good.length < count) return 'it gave something that is no vector';
  return good.every(vector => vector.length === good[0]?.length) ? good : 'its vectors are of different lengths';
}
