import {setTimeout as delay} from 'node:timers/promises';
import {pace} from '../tool/pace.ts';
import type {ToolContext} from '../tool/tool.ts';
import {goOn, LONGEST_INPUT, stopFor, whyStopped} from './embed-passages.ts';
import type {Embedder} from './embedder.ts';
import type {IndexedPassage} from './file-index.ts';
import {nearness, startOver, type Vectors} from './vectors.ts';

/** Longest time that a search waits for the vector of its query. */
const LONGEST_WAIT_MS = 2000;
/** A later answer is kept for the next search. */
const LONGEST_ANSWER_MS = 30_000;
const MOST_REMEMBERED = 200;

const remembered = new Map<string, Float32Array>();

/** The vector of a query, or why there is none. Never throws. */
export async function vectorOf(
  query: string,
  embedder: Embedder,
  vectors: Vectors,
  context: ToolContext,
): Promise<Float32Array | string> {
  const text = context.redact.text(query).slice(0, LONGEST_INPUT);
  const key = `${embedder.name}\n${text}`;
  const known = remembered.get(key);
  if (known && isLike(known, vectors)) return known;
  const stopped = whyStopped(vectors);
  if (stopped !== undefined) return stopped;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(LONGEST_ANSWER_MS)]);
  const asking = embedder.embed([text], signal).then(answer => {
    if ('failed' in answer) return answer.failed;
    const [vector] = answer;
    if (!vector) return 'it gave no vector';
    remember(key, vector);
    return vector;
  });
  const waited = new AbortController();
  const late = delay(LONGEST_WAIT_MS, 'it did not answer in time', {signal: waited.signal, ref: false});
  const answer = await Promise.race([asking, late.catch(() => 'it was given up')]);
  waited.abort();
  if (typeof answer === 'string') {
    if (!context.signal.aborted) stopFor(vectors, answer);
    // If the embedder was only slow, the next search gets the vector.
    void asking.then(vector => typeof vector !== 'string' && goOn(vectors));
    return answer;
  }
  // The passages are embedded again; the search reports how many are missing.
  if (!isLike(answer, vectors)) await startOver(vectors).catch(() => {});
  return answer;
}

function remember(key: string, vector: Float32Array): void {
  const oldest = remembered.size >= MOST_REMEMBERED ? remembered.keys().next().value : undefined;
  if (oldest !== undefined) remembered.delete(oldest);
  remembered.set(key, vector);
}

/** A remembered vector may come from another model than the passages' vectors. */
function isLike(vector: Float32Array, {dims}: Vectors): boolean {
  return dims === 0 || vector.length === dims;
}

/** Passages nearest to a vector, best first; passages without a vector are skipped. */
export async function nearestTo<T extends {passage: IndexedPassage}>(
  query: Float32Array,
  vectors: Vectors,
  passages: readonly T[],
  most: number,
  signal: AbortSignal,
): Promise<T[]> {
  if (query.length !== vectors.dims) return [];
  const breathe = pace(signal);
  const near: {one: T; product: number}[] = [];
  for (const [i, one] of passages.entries()) {
    const product = nearness(vectors, one.passage.hash, query);
    if (product !== undefined && product > 0) near.push({one, product});
    const pause = i % 256 === 0 ? breathe() : undefined;
    if (pause) await pause;
  }
  return near
    .sort((a, b) => b.product - a.product)
    .slice(0, most)
    .map(({one}) => one);
}
