/** `input`: the texts are the cause; other texts may work. */
export interface EmbedFailure {
  failed: string;
  input?: boolean;
}

/** Computes vectors that represent the meaning of texts. */
export interface Embedder {
  /** Vectors are comparable only with those of an embedder of the same name. */
  name: string;
  /** Number of texts per request, small enough that a query need not wait long. */
  batch: number;
  /** One unit vector per text, all of one dimension. Never throws, and does not keep the process alive. */
  embed: (texts: readonly string[], signal: AbortSignal) => Promise<Float32Array[] | EmbedFailure>;
}

/** Scale to length 1, so that a dot product measures nearness. Undefined if `values` is no vector. */
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

/** `count` unit vectors of one dimension, or what is wrong with `lists`. */
export function unitVectors(lists: readonly unknown[], count: number): Float32Array[] | EmbedFailure {
  if (lists.length !== count) return {failed: `it gave ${lists.length} vectors for ${count} texts`};
  const vectors = lists.map(unitVector);
  const good = vectors.filter(vector => vector !== undefined);
  if (good.length < count) return {failed: 'it returned something that is not a vector'};
  const isEven = good.every(vector => vector.length === good[0]?.length);
  return isEven ? good : {failed: 'its vectors are of different lengths'};
}
