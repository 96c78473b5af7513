import {join} from 'node:path';
import {setImmediate as turn} from 'node:timers/promises';
import {FACTS_VERSION} from '../check/facts.ts';
import {HomeIndex} from '../check/home-index.ts';
import {type PackedFacts, packFacts, unpackFacts} from '../check/packed-facts.ts';
import {blocks} from '../files/diagnostic.ts';
import {readCache, writeCache} from '../store/cache.ts';
import type {CommittedAt} from '../store/committed.ts';
import type {Journal} from '../store/journal.ts';
import type {HomeFiles} from './home-files.ts';
import type {With} from './parts.ts';
import {setFacts} from './state.ts';
import {SessionCounts} from './turns/session-counts.ts';
import {Waits} from './turns/waits.ts';

/** A file as it was when it was last read. */
type Row = [path: string, signature: string, blob: string, settled: boolean, facts: PackedFacts];

/** What the cache holds. */
interface Cached {
  /** Where HEAD was, and where the home is in the repository. */
  commit: string;
  prefix: string;
  /** Blobs that the commit has where they are not those of the rows; null: it has no such file. */
  otherwise: [path: string, blob: string | null][];
  /** Files that the commit has as executable. */
  executable: string[];
  /** Row after row, in one list. */
  rows: Row[number][];
}

/** What an earlier run knew. */
interface Remembered {
  known: HomeFiles['known'];
  index: HomeIndex;
  sessions: SessionCounts;
  waits: Waits;
  kinds: Pick<HomeFiles['kinds'], 'followers'>;
  phase: Pick<HomeFiles['phase'], 'unsaved'>;
}

export interface Restored {
  remembered: Remembered;
  /** What HEAD held then. */
  committed: CommittedAt | undefined;
}

const ROW = 5;
const SLICE_MS = 5;
const SETTLED_MS = 100;

const pathOf = (home: string) => join(home, '.agentdir/cache.json');
const versionOf = (version: string) => `${version}/${FACTS_VERSION}`;

/** What an earlier run knew. Whether it still holds is for the scan to find out, file by file. */
export async function restore(home: string, version: string): Promise<Restored> {
  // Git is asked first: it answers while this goes on.
  await turn();
  const [sessions, waits] = [new SessionCounts(), new Waits()];
  const remembered: Remembered = {
    known: new Map(),
    index: new HomeIndex(),
    sessions,
    waits,
    kinds: {followers: [sessions, waits]},
    phase: {unsaved: false},
  };
  const cached = readCache<Cached>(pathOf(home), versionOf(version));
  if (![cached?.rows, cached?.otherwise, cached?.executable].every(Array.isArray) || !cached)
    return {remembered, committed: undefined};
  const {commit, prefix, rows, otherwise, executable} = cached;
  const blobs = new Map<string, string>();
  let slice = performance.now();
  for (let at = 0; at < rows.length; at += ROW) {
    const [path, signature, blob, settled, packed] = rows.slice(at, at + ROW) as Row;
    const facts = unpackFacts(path, packed);
    const good = blocks(facts.problems) ? undefined : blob;
    remembered.known.set(path, {signature, blob, good, ignored: false, settled});
    blobs.set(path, blob);
    setFacts(remembered, path, facts);
    if (at % (64 * ROW) > 0 || performance.now() - slice < SLICE_MS) continue;
    await turn();
    slice = performance.now();
  }
  for (const [path, blob] of otherwise) {
    if (blob === null) blobs.delete(path);
    else blobs.set(path, blob);
  }
  remembered.phase.unsaved = false;
  return {remembered, committed: {commit, prefix, files: {blobs, executable: new Set(executable)}}};
}

/** What git has counts more: a daemon that was killed may have gone on for long after it wrote the cache down. */
export function forgetOutdated(restored: Restored, journal: Pick<Journal, 'committed' | 'executable'>): void {
  const {remembered, committed} = restored;
  const forget = (path: string) => {
    if (remembered.known.delete(path)) setFacts(remembered, path, undefined);
  };
  for (const [path, {blob}] of remembered.known) if ((journal.committed.get(path) ?? blob) !== blob) forget(path);
  // What a file's mode was is not remembered, only what git had.
  const before = committed?.files.executable ?? new Set<string>();
  for (const path of before) if (!journal.executable.has(path)) forget(path);
  for (const path of journal.executable) if (!before.has(path)) forget(path);
}

/**
 * Only what held still when it was read: a file written twice within a tick of the clock has one signature. It makes
 * way for other work, unless the daemon is stopping. A cache that cannot be written is missed by nobody: next time.
 */
export async function remember({files, status}: With<'files' | 'status'>): Promise<void> {
  if (!files.phase.unsaved) return;
  files.phase.unsaved = false;
  const rows: string[] = [];
  const blobs = new Map<string, string>();
  const settled = BigInt(Date.now() - SETTLED_MS) * 1_000_000n;
  let slice = performance.now();
  for (const [path, {signature, blob, settled: done}] of files.known) {
    const facts = files.index.facts(path);
    // A mode on its way into git may not get there, and only the file's stat tells of it: let the next start look again.
    const changed =
      files.versions.underWay.has(path) && files.versions.underWay.get(path) === files.journal.committed.get(path);
    if (facts && !changed && !files.looks.pending.has(path) && BigInt(signature.split('.')[3] ?? 0) < settled) {
      rows.push(JSON.stringify([path, signature, blob, done, packFacts(path, facts)] satisfies Row).slice(1, -1));
      blobs.set(path, blob);
    }
    if (files.phase.hurry || performance.now() - slice < SLICE_MS) continue;
    await turn();
    slice = performance.now();
  }
  const {commit = '', prefix} = files.journal.at;
  const {committed, executable} = files.journal;
  const cached: Omit<Cached, 'rows'> = {
    commit,
    prefix,
    otherwise: difference(blobs, committed),
    executable: [...executable],
  };
  try {
    const value = `${JSON.stringify(cached).slice(0, -1)},"rows":[${rows.join(',')}]}`;
    writeCache(pathOf(files.home), versionOf(status.version), value);
  } catch {
    files.phase.unsaved = true;
  }
}

/** All at once, so that it is of one commit. */
function difference(blobs: ReadonlyMap<string, string>, committed: ReadonlyMap<string, string>): Cached['otherwise'] {
  const otherwise: Cached['otherwise'] = [];
  for (const [path, blob] of committed) if (blobs.get(path) !== blob) otherwise.push([path, blob]);
  for (const path of blobs.keys()) if (!committed.has(path)) otherwise.push([path, null]);
  return otherwise;
}
