import {join} from 'node:path';
import {setImmediate as turn} from 'node:timers/promises';
import {FACTS_VERSION, type Facts} from '../check/facts.ts';
import {HomeIndex} from '../check/home-index.ts';
import {hasErrors} from '../files/diagnostic.ts';
import {readCache, writeCache} from '../store/cache.ts';
import type {Serving} from './serving.ts';
import {setFacts} from './state.ts';

/** A file as it was when it was last read: [path, signature, blob, settled, facts]. */
type Row = [path: string, signature: string, blob: string, settled: boolean, facts: Facts];

/** All that the cache holds. */
export type Remembered = Pick<Serving, 'known' | 'index' | 'sessions' | 'unsaved'>;

const SLICE_MS = 5;
const SETTLED_MS = 100;

const pathOf = (home: string) => join(home, '.agentdir/cache.json');
const versionOf = (version: string) => `${version}/${FACTS_VERSION}`;

/** What an earlier run knew. Whether it still holds is for the scan to find out, file by file. */
export async function restore(home: string, version: string): Promise<Remembered> {
  const found: Remembered = {known: new Map(), index: new HomeIndex(), sessions: new Map(), unsaved: false};
  let slice = performance.now();
  for (const [path, signature, blob, settled, facts] of readCache<Row[]>(pathOf(home), versionOf(version)) ?? []) {
    const good = hasErrors(facts.problems) ? undefined : blob;
    found.known.set(path, {signature, blob, good, settled, ignored: false});
    setFacts(found, path, facts);
    if (performance.now() - slice < SLICE_MS) continue;
    // Git is being asked meanwhile: let its answers in.
    await turn();
    slice = performance.now();
  }
  return {...found, unsaved: false};
}

/** What git has counts more: a daemon that was killed may have gone on for long after it wrote the cache down. */
export function forgetOutdated(found: Remembered, committed: ReadonlyMap<string, string>): void {
  for (const [path, {blob}] of found.known) {
    if ((committed.get(path) ?? blob) === blob) continue;
    found.known.delete(path);
    setFacts(found, path, undefined);
  }
}

/**
 * Only what held still when it was read: a file written twice within a tick of the clock has one signature. It makes
 * way for other work, unless the daemon is stopping. A cache that cannot be written is missed by nobody: next time.
 */
export async function remember(serving: Serving): Promise<void> {
  if (!serving.unsaved) return;
  serving.unsaved = false;
  const rows: string[] = [];
  const settled = BigInt(Date.now() - SETTLED_MS) * 1_000_000n;
  let slice = performance.now();
  for (const [path, {signature, blob, settled: done}] of serving.known) {
    const facts = serving.index.facts(path);
    if (facts && !serving.pending.has(path) && BigInt(signature.split('.')[3] ?? 0) < settled)
      rows.push(JSON.stringify([path, signature, blob, done, facts] satisfies Row));
    if (serving.hurry || performance.now() - slice < SLICE_MS) continue;
    await turn();
    slice = performance.now();
  }
  try {
    writeCache(pathOf(serving.home), versionOf(serving.version), `[${rows.join(',')}]`);
  } catch {
    serving.unsaved = true;
  }
}
