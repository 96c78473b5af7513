import {join} from 'node:path';
import type {ToolContext} from '../tool/tool.ts';
import type {Root} from '../workspace/place.ts';
import {type FileIndex, newFileIndex} from './file-index.ts';
import {clearTemporary, loadIndex, saveIndex, searchFolder} from './index-disk.ts';

interface CachedIndex {
  path: string;
  index: FileIndex;
  /** The last use; uses run one at a time. */
  last: Promise<unknown>;
  using: number;
  /** Revision on disk. */
  saved: number;
  timer: NodeJS.Timeout | undefined;
}

/** Total in memory, at about 5 KB each. The index in use stays, however large. */
const MOST_PASSAGES = 60_000;
/** Delay between a change and writing it to disk. */
const IDLE_MS = 2000;

/** By path on disk, least recently used first. */
const cache = new Map<string, CachedIndex>();
const loading = new Map<string, Promise<CachedIndex>>();
const cleared = new Set<string>();

/** Run `use` with exclusive access to the index of a root. */
export async function withIndex<T>(
  context: ToolContext,
  root: Root,
  use: (index: FileIndex) => Promise<T>,
): Promise<T> {
  const one = await cachedIndex(context, root);
  one.using++;
  const before = one.last;
  const mine = before.then(() => use(one.index));
  one.last = mine.catch(() => {});
  try {
    return await mine;
  } finally {
    one.using--;
    if (one.index.revision !== one.saved) saveSoon(one);
    dropOthers(one);
  }
}

async function cachedIndex(context: ToolContext, root: Root): Promise<CachedIndex> {
  const folder = searchFolder(context.home);
  const path = join(folder, root === 'workspace' ? `workspace-${context.agent}.jsonl` : `${root}.jsonl`);
  const there = cache.get(path);
  if (there) {
    cache.delete(path);
    cache.set(path, there);
    return there;
  }
  let load = loading.get(path);
  if (!load) {
    load = fromDisk(folder, path, context.signal).finally(() => loading.delete(path));
    loading.set(path, load);
  }
  try {
    return await load;
  } catch (error) {
    if (context.signal.aborted) throw error;
    // The call that started loading was stopped.
    return cachedIndex(context, root);
  }
}

async function fromDisk(folder: string, path: string, signal: AbortSignal): Promise<CachedIndex> {
  if (!cleared.has(folder)) {
    cleared.add(folder);
    await clearTemporary(folder);
  }
  const index = await loadIndex(path, signal);
  const one: CachedIndex = {
    path,
    index: index ?? newFileIndex(),
    last: Promise.resolve(),
    using: 0,
    saved: 0,
    timer: undefined,
  };
  cache.set(path, one);
  return one;
}

function saveSoon(one: CachedIndex): void {
  if (one.timer) return;
  one.timer = setTimeout(() => {
    one.timer = undefined;
    save(one).catch(() => {
      // For example a full disk: the next daemon reads all files again.
    });
  }, IDLE_MS).unref();
}

async function save(one: CachedIndex): Promise<void> {
  const {index, path} = one;
  if (one.using > 0) return saveSoon(one);
  if (index.words.dirtCount > 0) await index.words.vacuum({batchSize: 500, batchWait: 1});
  const {revision} = index;
  const stale = () => index.revision !== revision || one.using > 0;
  if (!stale() && (await saveIndex(path, index, stale))) one.saved = revision;
  else saveSoon(one);
}

function dropOthers(current: CachedIndex): void {
  let passages = 0;
  for (const {index} of cache.values()) passages += index.byId.size;
  for (const [path, one] of cache) {
    if (passages <= MOST_PASSAGES) return;
    if (one === current || one.using > 0) continue;
    cache.delete(path);
    passages -= one.index.byId.size;
  }
}

export async function writeIndexes(home: string): Promise<void> {
  for (const one of cache.values()) {
    if (!one.path.startsWith(`${searchFolder(home)}/`)) continue;
    await one.last;
    if (one.index.revision !== one.saved) await save(one);
  }
}

/** Drop the indexes of a home from memory, as a restart would. */
export function forgetIndexes(home: string): void {
  for (const [path, {timer}] of cache) {
    if (!path.startsWith(`${searchFolder(home)}/`)) continue;
    clearTimeout(timer);
    cache.delete(path);
  }
}

export function* passagesInMemory(home: string): Generator<string> {
  for (const {path, index} of cache.values()) {
    if (!path.startsWith(`${searchFolder(home)}/`)) continue;
    for (const {passage} of index.byId.values()) yield passage.hash;
  }
}
