import MiniSearch, {type Options, type SearchOptions, type SearchResult} from 'minisearch';
import {hasUnspaced, wordsOf} from './words.ts';

export interface WordEntry {
  id: number;
  text: string;
  /** Path of its file. */
  name: string;
  trail: string;
}

export interface WordHit {
  id: number;
  /** Relevance among the passages of this index. */
  score: number;
  /** Share of the significant words that the passage contains, from 0 to 1. */
  share: number;
}

const MOST_WORDS = 32;
/** A word in more than this share of all passages says little and costs much. */
const COMMON = 0.25;
/** Once rarer words find this many passages, more common words are skipped. */
const ENOUGH = 1500;
/** A word in more than this share of passages is not taken for a typo. */
const MANY = 0.01;
/** Lower bound for COMMON and MANY, in passages. */
const LEAST = 20;
const isLetters = (word: string) => /^\p{L}+$/u.test(word) && !hasUnspaced(word);

const FIELDS = ['text', 'name', 'trail'];
const BOOST = {text: 1, name: 2, trail: 2.5};
/** MiniSearch's BM25+ parameters. */
const [K, B, D] = [1.2, 0.7, 0.5] as const;

const options: Options<WordEntry> = {
  fields: FIELDS,
  tokenize: wordsOf,
  processTerm: word => word,
  autoVacuum: false,
  searchOptions: {
    tokenize: query => query.split(' '),
    boost: BOOST,
  },
};

/** Everything but the words, as plain values. */
export interface IndexHead {
  count: number;
  nextId: number;
  ids: [own: number, id: number][];
  lengths: [own: number, lengths: number[]][];
  averages: number[];
}

/** A word with its counts per field, as `[own id, count, own id, count …]`. */
export type IndexedWord = [word: string, ...fields: [field: number, counts: number[]][]];

/** A subclass can save and load MiniSearch's index word by word; as a whole that would block the event loop. */
export class WordIndex extends MiniSearch<WordEntry> {
  #kept = {state: '', fields: new Map<number, Float64Array>()};

  constructor() {
    super(options);
  }

  /** The index must be without discarded passages. */
  *indexedWords(): Generator<IndexedWord> {
    for (const [word, fields] of this._index)
      yield [word, ...[...fields].map(([field, counts]): [number, number[]] => [field, [...counts].flat()])];
  }

  head(): IndexHead {
    return {
      count: this._documentCount,
      nextId: this._nextId,
      ids: [...this._documentIds],
      lengths: [...this._fieldLength],
      averages: this._avgFieldLength,
    };
  }

  /** Call this first, on a new index; then `restoreWord` for each word. */
  restoreHead({count, nextId, ids, lengths, averages}: IndexHead): void {
    this._documentCount = count;
    this._nextId = nextId;
    this._documentIds = new Map(ids);
    this._idToShortId = new Map(ids.map(([own, id]) => [id, own]));
    this._fieldLength = new Map(lengths);
    this._avgFieldLength = averages;
  }

  restoreWord([word, ...fields]: IndexedWord): void {
    const data = new Map<number, Map<number, number>>();
    for (const [field, flat] of fields) {
      const counts = new Map<number, number>();
      for (let i = 0; i + 1 < flat.length; i += 2) counts.set(flat[i] ?? 0, flat[i + 1] ?? 0);
      data.set(field, counts);
    }
    this._index.set(word, data);
  }

  /** All passages that contain one of the words, unordered. */
  find(query: string, wanted: (id: number) => boolean): WordHit[] {
    const words = [...new Set(wordsOf(query))].slice(0, MOST_WORDS);
    if (words.length === 0) return [];
    const counts = new Map(words.map(word => [word, this.#passagesWith(word)]));
    const telling = this.#telling(counts);
    if (telling.every(word => this.#isCommon(counts.get(word) ?? 0))) return this.#everywhere(telling, wanted);
    const many = this.documentCount * MANY;
    const isMany = (word: string) => (counts.get(word) ?? 0) > Math.max(many, LEAST);
    const options: SearchOptions = {
      prefix: word => (word.length > 2 || hasUnspaced(word)) && !this.#isCommon(counts.get(word) ?? 0),
      // A common spelling is not a typo.
      fuzzy: word => (word.length > 4 && isLetters(word) && !isMany(word) ? 0.2 : false),
    };
    const search = () => super.search(telling.join(' '), options);
    if (this.dirtCount > 0) this.#clean(search());
    return search()
      .filter(({id}) => wanted(id))
      .map(({id, score, queryTerms}) => ({id, score, share: queryTerms.length / telling.length}));
  }

  /**
   * A word's weight depends on how many passages contain it, and MiniSearch counts discarded passages until searches
   * have come across them. Remove them first, so that results do not depend on former content.
   */
  #clean(found: readonly SearchResult[]): void {
    for (const word of new Set(found.flatMap(({terms}) => terms)))
      for (const counts of this._index.get(word)?.values() ?? [])
        for (const own of counts.keys()) if (!this._documentIds.has(own)) counts.delete(own);
  }

  /** Score like MiniSearch, but without an object for each of the many passages found. */
  #everywhere(words: readonly string[], wanted: (id: number) => boolean): WordHit[] {
    const scores = new Float64Array(this._nextId);
    const has = new Uint8Array(this._nextId);
    const lastWord = new Uint8Array(this._nextId);
    for (const [nth, word] of words.entries())
      for (const [field, counts] of this._index.get(word) ?? []) {
        if (this.dirtCount > 0) for (const own of counts.keys()) if (!this._documentIds.has(own)) counts.delete(own);
        const rarity = Math.log(1 + (this._documentCount - counts.size + 0.5) / (counts.size + 0.5));
        const boost = BOOST[FIELDS[field] as keyof typeof BOOST] * rarity;
        const lengths = this.#lengths(field);
        counts.forEach((count, own) => {
          const weight = count / (count + (lengths[own] ?? 0));
          scores[own] = (scores[own] ?? 0) + boost * (D + weight * (K + 1));
          // Count a word once, however many fields contain it.
          if (lastWord[own] !== nth + 1) {
            lastWord[own] = nth + 1;
            has[own] = (has[own] ?? 0) + 1;
          }
        });
      }
    const hits: WordHit[] = [];
    for (let own = 0; own < scores.length; own++) {
      const score = scores[own] ?? 0;
      const id = score > 0 ? this._documentIds.get(own) : undefined;
      if (id === undefined || !wanted(id)) continue;
      const count = has[own] ?? 0;
      hits.push({id, score: score * count, share: count / words.length});
    }
    return hits;
  }

  /** Length normalisation of each passage, by own id. Cached until the index changes. */
  #lengths(field: number): Float64Array {
    const state = `${this._documentCount} ${this._nextId} ${this.dirtCount}`;
    if (this.#kept.state !== state) this.#kept = {state, fields: new Map()};
    let lengths = this.#kept.fields.get(field);
    if (!lengths) {
      lengths = new Float64Array(this._nextId);
      const average = this._avgFieldLength[field] ?? 1;
      for (const [own, all] of this._fieldLength) lengths[own] = K * (1 - B + (B * (all[field] ?? 0)) / average);
      this.#kept.fields.set(field, lengths);
    }
    return lengths;
  }

  /** Drop words that are everywhere, unless there are no others. */
  #telling(counts: ReadonlyMap<string, number>): string[] {
    const rarest = [...counts].sort(([, a], [, b]) => a - b);
    const rare = rarest.filter(([, count]) => !this.#isCommon(count));
    const missing = rare.filter(([, count]) => count === 0).length;
    if (missing === rare.length) return rarest.slice(0, missing + 2).map(([word]) => word);
    let passages = 0;
    // The rarest words of a sentence say what it is about.
    const telling = rare.filter(([, count], i) => {
      const wanted = passages <= ENOUGH || i < missing + 2;
      passages += count;
      return wanted;
    });
    return telling.map(([word]) => word);
  }

  #isCommon(count: number): boolean {
    return count > Math.max(this.documentCount * COMMON, LEAST);
  }

  #passagesWith(word: string): number {
    const counts = this._index.get(word)?.get(this._fieldIds.text ?? 0);
    if (!counts || this.dirtCount === 0) return counts?.size ?? 0;
    let count = 0;
    for (const own of counts.keys()) if (this._documentIds.has(own)) count++;
    return count;
  }
}
