import {setTimeout as delay} from 'node:timers/promises';
import type {ToolContext} from '../tool/tool.ts';
import type {Root} from '../workspace/place.ts';
import type {Embedder} from './embedder.ts';
import type {FileIndex, IndexedFile, IndexedPassage} from './file-index.ts';
import {passagesInMemory} from './indexes.ts';
import {readTexts} from './passage-text.ts';
import {addVectors, isFull, keepOnly, startOver, type Vectors} from './vectors.ts';

const AFTER_FAILURE_MS = 60_000;
const LEAST_PAUSE_MS = 20;
/** In characters. Most models read no more. */
export const LONGEST_INPUT = 1500;

/** Progress of embedding for one vectors file. */
interface Work {
  running: Promise<void> | undefined;
  failed: string | undefined;
  until: number;
  /** Hashes of passages that the embedder rejects. */
  refused: Set<string>;
}

const works = new Map<string, Work>();

function workOf(vectors: Vectors): Work {
  let work = works.get(vectors.path);
  if (!work) {
    work = {running: undefined, failed: undefined, until: 0, refused: new Set()};
    works.set(vectors.path, work);
  }
  return work;
}

/** Why embedding is paused, or undefined if it is not. */
export function whyStopped(vectors: Vectors): string | undefined {
  const {failed, until} = workOf(vectors);
  return performance.now() < until ? failed : undefined;
}

export function stopFor(vectors: Vectors, failed: string): void {
  Object.assign(workOf(vectors), {failed, until: performance.now() + AFTER_FAILURE_MS});
}

export function goOn(vectors: Vectors): void {
  Object.assign(workOf(vectors), {failed: undefined, until: 0});
}

/** Count passages that have no vector and may still get one. */
export function countMissing(vectors: Vectors, passages: readonly {passage: IndexedPassage}[]): number {
  const {refused} = workOf(vectors);
  let missing = 0;
  for (const {passage} of passages) if (!vectors.at.has(passage.hash) && !refused.has(passage.hash)) missing++;
  return missing;
}

/** Embed missing passages in batches, with pauses as long as the work. */
export function embedInBackground(
  context: ToolContext,
  embedder: Embedder,
  vectors: Vectors,
  indexes: readonly {root: Root; index: FileIndex}[],
): Promise<void> {
  const work = workOf(vectors);
  if (work.running || whyStopped(vectors) !== undefined) return work.running ?? Promise.resolve();
  // The work continues after the call ends.
  const own = {...context, signal: new AbortController().signal};
  const all = async () => {
    for (const {root, index} of indexes)
      for (const file of [...index.files.values()]) if (!(await embedFile(own, embedder, vectors, root, file))) return;
  };
  work.running = all()
    .catch((error: Error) => stopFor(vectors, context.redact.text(error.message)))
    .finally(() => {
      work.running = undefined;
    });
  return work.running;
}

export async function embeddingDone(home: string): Promise<void> {
  for (const [path, {running}] of works) if (path.startsWith(`${home}/`)) await running;
}

/** False: stop embedding. */
async function embedFile(
  context: ToolContext,
  embedder: Embedder,
  vectors: Vectors,
  root: Root,
  file: IndexedFile,
): Promise<boolean> {
  const {refused} = workOf(vectors);
  const missing = file.passages.filter(({hash}) => !vectors.at.has(hash) && !refused.has(hash));
  if (missing.length === 0) return true;
  const textOf = await readTexts(context, root, file);
  if (!textOf) return true;
  for (let at = 0; at < missing.length; at += embedder.batch) {
    if (isFull(vectors)) {
      await keepOnly(vectors, passagesInMemory(context.home));
      if (isFull(vectors)) {
        stopFor(vectors, 'there are too many passages for vectors of all');
        return false;
      }
    }
    const began = performance.now();
    const batch = missing.slice(at, at + embedder.batch);
    const inputs = batch.map(passage => ({
      hash: passage.hash,
      text: `${context.redact.text(passage.trail)}\n${textOf(passage)}`.trim().slice(0, LONGEST_INPUT),
    }));
    if (!(await embedBatch(embedder, vectors, inputs, context.signal))) return false;
    await delay(Math.max(LEAST_PAUSE_MS, performance.now() - began), undefined, {ref: false});
  }
  return true;
}

async function embedBatch(
  embedder: Embedder,
  vectors: Vectors,
  inputs: readonly {hash: string; text: string}[],
  signal: AbortSignal,
): Promise<boolean> {
  const answer = await embedder.embed(
    inputs.map(({text}) => text),
    signal,
  );
  if ('failed' in answer) {
    if (!answer.input) {
      stopFor(vectors, answer.failed);
      return false;
    }
    // One input may be the cause: embed each alone, and remember the one that fails alone.
    const [only] = inputs;
    if (inputs.length === 1 && only) workOf(vectors).refused.add(only.hash);
    else for (const input of inputs) if (!(await embedBatch(embedder, vectors, [input], signal))) return false;
    return true;
  }
  const added = inputs.flatMap(({hash}, i) => (answer[i] ? [{hash, vector: answer[i]}] : []));
  if (await addVectors(vectors, added)) return true;
  await startOver(vectors);
  return addVectors(vectors, added);
}
