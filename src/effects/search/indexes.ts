import {join} from 'node:path';
import type {ToolContext} from '../tool/tool.ts';
import type {Root} from '../workspace/place.ts';
import {type FileIndex, newFileIndex} from './file-index.ts';
import {clearTemporary, loadIndex, saveIndex, searchFolder} from './index-disk.ts';

/** An index in memory. */
interface Held {
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
const held = new Map<string, Held>();
const loading = new Map<string, Promise<Held>>();
const cleared = new Set<string>();

/** Run `use` with exclusive access to the index of a root. */
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
    // The call that started loading was stopped.
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
      // For example a full disk: the next daemon reads all files again.
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

/** Drop the least recently used indexes. */
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

/** Write the indexes of a home to disk now. */
export async function writeIndexes(home: string): Promise<void> {
  for (const one of held.values()) {
    if (!one.path.startsWith(`${searchFolder(home)}/`)) continue;
    await one.last;
    if (one.index.revision !== one.saved) await save(one);
  }
}

/** Drop the indexes of a home from memory, as a restart would. */
export function forgetIndexes(home: string): void {
  for (const [path, {timer}] of held) {
    if (!path.startsWith(`${searchFolder(home)}/`)) continue;
    clearTimeout(timer);
    held.delete(path);
  }
}

/** Hashes of all passages of a home in memory. */
export function* passagesInMemory(home: string): Generator<string> {
  for (const {path, index} of held.values()) {
    if (!path.startsWith(`${searchFolder(home)}/`)) continue;
    for (const {passage} of index.byId.values()) yield passage.hash;
  }
}
