import {isFailure} from '../tool/failure.ts';
import type {ToolContext, ToolFailure} from '../tool/tool.ts';
import type {Root, ToolPath} from '../workspace/place.ts';
import {embedderOf} from './choose-embedder.ts';
import {countMissing, embedInBackground, whyStopped} from './embed-passages.ts';
import type {Embedder} from './embedder.ts';
import type {FileIndex, IndexedFile, IndexedPassage} from './file-index.ts';
import {withIndex} from './indexes.ts';
import {nearestTo, vectorOf} from './meaning.ts';
import {type IndexUpdate, updateIndex} from './update-index.ts';
import {type Vectors, vectorsOf} from './vectors.ts';

export interface RankedPassage {
  root: Root;
  file: IndexedFile;
  passage: IndexedPassage;
  score: number;
}

export interface FileSearchResult {
  /** Best first. */
  ranked: RankedPassage[];
  looked: IndexUpdate[];
  notes: string[];
}

type Candidate = Omit<RankedPassage, 'score'>;

/** Number of ranks of each list that count. */
const MOST_PLACES = 100;
/** Enough for the longest result, even without overlapping passages and changed files. */
const MOST_FOUND = 500;

/** Find passages for a query. Reads changed files first. */
export async function search(
  context: ToolContext,
  places: readonly ToolPath[],
  query: string,
): Promise<FileSearchResult | ToolFailure> {
  const embedder = embedderOf(context.search?.embeddings, process.env);
  if (embedder && !('failed' in embedder)) return withMeaning(context, places, query, embedder);
  const lists = await searchPlaces(context, places, query, false);
  if (isFailure(lists)) return lists;
  return {...byWords(lists), notes: embedder ? [`by words alone: ${embedder.failed}`] : []};
}

async function withMeaning(
  context: ToolContext,
  places: readonly ToolPath[],
  query: string,
  embedder: Embedder,
): Promise<FileSearchResult | ToolFailure> {
  const [lists, {vectors, vector}] = await Promise.all([
    searchPlaces(context, places, query, true),
    embedQuery(context, embedder, query),
  ]);
  if (isFailure(lists)) return lists;
  const words = byWords(lists);
  if (typeof vector === 'string') return {...words, notes: [`by words alone, without embeddings: ${vector}`]};

  const candidates = lists.flatMap(one => one.candidates);
  const missing = countMissing(vectors, candidates);
  const stopped = whyStopped(vectors);
  const why = stopped === undefined ? '' : ` (${stopped})`;
  if (missing > 0) void embedInBackground(context, embedder, vectors, lists);
  const near = await nearestTo(vector, vectors, candidates, MOST_PLACES, context.signal);
  const byPassage = new Map(candidates.map(one => [one.passage, one]));
  const fused = fuse([words.ranked.slice(0, MOST_PLACES), near].map(list => list.map(one => one.passage)));
  const ranked = fused.flatMap(({one, score}) => {
    const candidate = byPassage.get(one);
    return candidate ? [{...candidate, score: round(score)}] : [];
  });
  return {
    ranked: ranked.sort(inOrder),
    looked: words.looked,
    notes:
      missing > 0 ? [`${missing} of ${candidates.length} passages have no embedding yet${why}: by words alone`] : [],
  };
}

function byWords(lists: readonly PlaceResult[]): Pick<FileSearchResult, 'ranked' | 'looked'> {
  return {ranked: lists.flatMap(({found}) => found).sort(inOrder), looked: lists.map(({looked}) => looked)};
}

async function searchPlaces(
  context: ToolContext,
  places: readonly ToolPath[],
  query: string,
  withCandidates: boolean,
): Promise<PlaceResult[] | ToolFailure> {
  const lists: PlaceResult[] = [];
  for (const one of await Promise.all(places.map(place => searchPlace(context, place, query, withCandidates)))) {
    if (isFailure(one)) return one;
    lists.push(one);
  }
  return lists;
}

async function embedQuery(
  context: ToolContext,
  embedder: Embedder,
  query: string,
): Promise<{vectors: Vectors; vector: Float32Array | string}> {
  const vectors = await vectorsOf(context.home, embedder.name);
  return {vectors, vector: await vectorOf(query, embedder, vectors, context)};
}

interface PlaceResult {
  root: Root;
  index: FileIndex;
  looked: IndexUpdate;
  found: RankedPassage[];
  /** All passages of the place, if requested. */
  candidates: Candidate[];
}

function searchPlace(
  context: ToolContext,
  place: ToolPath,
  query: string,
  withCandidates: boolean,
): Promise<PlaceResult | ToolFailure> {
  const {root} = place;
  return withIndex(context, root, async index => {
    const looked = await updateIndex(index, context, place);
    if (isFailure(looked)) return looked;
    const isHere = (id: number) => index.byId.get(id)?.file.seen === index.look;
    const hits = index.words.find(query, isHere);
    // Scores of two indexes are not comparable; scores relative to the best hit and shares of query words are.
    const best = hits.reduce((most, {score}) => Math.max(most, score), 0);
    const scored = hits.map(({id, score, share}) => ({id, score: (score / best) * share}));
    const least = leastOf(scored);
    const found = scored.flatMap(({id, score}) => {
      const one = score < least ? undefined : index.byId.get(id);
      return one ? [{root, ...one, score: round(score)}] : [];
    });
    const candidates = withCandidates
      ? [...index.byId.values()].filter(({file}) => file.seen === index.look).map(one => ({root, ...one}))
      : [];
    return {root, index, looked, found, candidates};
  });
}

/** Score of rank MOST_FOUND, minus a rounding margin: passages below it need not be sorted. */
function leastOf(scored: readonly {score: number}[]): number {
  if (scored.length <= MOST_FOUND) return 0;
  const scores = Float64Array.from(scored, ({score}) => -score).sort();
  return -(scores[MOST_FOUND - 1] ?? 0) * (1 - 1e-5);
}

/** Break ties by path, so that the order does not depend on when files were read. */
function inOrder(a: RankedPassage, b: RankedPassage): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.root !== b.root) return a.root < b.root ? -1 : 1;
  const [left, right] = [a.file.parts.join('/'), b.file.parts.join('/')];
  return left < right ? -1 : left > right ? 1 : a.passage.start - b.passage.start;
}

function round(score: number): number {
  return Number(score.toPrecision(6));
}

/** From the paper (Cormack 2009): first ranks count much, but not exclusively. */
const K = 60;

/** Merge ranked lists by rank (reciprocal rank fusion), because their scores are not comparable. */
function fuse<T>(lists: readonly (readonly T[])[]): {one: T; score: number}[] {
  const scores = new Map<T, number>();
  for (const list of lists)
    for (const [i, one] of list.entries()) scores.set(one, (scores.get(one) ?? 0) + 1 / (K + i + 1));
  return [...scores].map(([one, score]) => ({one, score})).sort((a, b) => b.score - a.score);
}
