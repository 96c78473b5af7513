import {join} from 'node:path';
import type {ToolContext} from '../tool/tool.ts';
import type {Root} from '../workspace/place.ts';
import {type FileIndex, newFileIndex} from './file-index.ts';
import {clearTemporary, loadIndex, saveIndex, searchFolder} from './index-disk.ts';

/** An index in memory, and who uses it. */
interface Held {
  path: string;
  index: FileIndex;
  /** One at a time: a look at the files, then a search. */
  last: Promise<unknown>;
  using: number;
  /** The revision that is on disk. */
  saved: number;
  timer: NodeJS.Timeout | undefined;
}

/** Passages in memory in all, about 5 KB each; the index in use stays, however large. */
const MOST_PASSAGES = 60_000;
/** So long after a change what is in memory is written down. */
const IDLE_MS = 2000;

/** By path on disk, the one that was used last at the end. */
const held = new Map<string, Held>();
const loading = new Map<string, Promise<Held>>();
const cleared = new Set<string>();

/** Run `use` with the index of a root, alone. */
export async function withIndex<T>(
  context: ToolContext,
  root: Root,
  use: (index: FileIndex) => Promise<T>,
): Promise<T> {
  const one = await hold(context, root);
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

async function hold(context: ToolContext, root: Root): Promise<Held> {
  const folder = searchFolder(context.home);
  const path = join(folder, root === 'workspace' ? `workspace-${context.agent}.jsonl` : `${root}.jsonl`);
  const there = held.get(path);
  if (there) {
    held.delete(path);
    held.set(path, there);
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
    // Another call had begun to load it, and was stopped.
    return hold(context, root);
  }
}

async function fromDisk(folder: string, path: string, signal: AbortSignal): Promise<Held> {
  if (!cleared.has(folder)) {
    cleared.add(folder);
    await clearTemporary(folder);
  }
  const index = await loadIndex(path, signal);
  const one: Held = {
    path,
    index: index ?? newFileIndex(),
    last: Promise.resolve(),
    using: 0,
    saved: 0,
    timer: undefined,
  };
  held.set(path, one);
  return one;
}

function saveSoon(one: Held): void {
  if (one.timer) return;
  one.timer = setTimeout(() => {
    one.timer = undefined;
    save(one).catch(() => {
      // A full disk: then the next daemon reads all files again.
    });
  }, IDLE_MS).unref();
}

async function save(one: Held): Promise<void> {
  const {index, path} = one;
  if (one.using > 0) return saveSoon(one);
  if (index.words.dirtCount > 0) await index.words.vacuum({batchSize: 500, batchWait: 1});
  const {revision} = index;
  const stale = () => index.revision !== revision || one.using > 0;
  if (!stale() && (await saveIndex(path, index, stale))) one.saved = revision;
  else saveSoon(one);
}

/** Those used longest ago leave. */
function dropOthers(current: Held): void {
  let passages = 0;
  for (const {index} of held.values()) passages += index.byId.size;
  for (const [path, one] of held) {
    if (passages <= MOST_PASSAGES) return;
    if (one === current || one.using > 0) continue;
    held.delete(path);
    passages -= one.index.byId.size;
  }
}

/** All that is in memory of a home, written down now. */
export async function writeIndexes(home: string): Promise<void> {
  for (const one of held.values()) {
    if (!one.path.startsWith(`${searchFolder(home)}/`)) continue;
    await one.last;
    if (one.index.revision !== one.saved) await save(one);
  }
}

/** As if the daemon were started anew. */
export function forgetIndexes(home: string): void {
  for (const [path, {timer}] of held) {
    if (!path.startsWith(`${searchFolder(home)}/`)) continue;
    clearTimeout(timer);
    held.delete(path);
  }
}

/** Hashes of all passages in memory of a home. */
export function* passagesInMemory(home: string): Generator<string> {
  for (const {path, index} of held.values()) {
    if (!path.startsWith(`${searchFolder(home)}/`)) continue;
    for (const {passage} of index.byId.values()) yield passage.hash;
  }
}
