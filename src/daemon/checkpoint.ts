import {Causes} from '../agents/state/causes.ts';
import type {With} from '../agents/state/parts.ts';
import {SessionCounts} from '../agents/state/session-counts.ts';
import {Waits} from '../agents/state/waits.ts';
import {FACTS_VERSION} from '../check/facts.ts';
import {HomeIndex} from '../check/home-index.ts';
import {type PackedFacts, packFacts, unpackFacts} from '../check/packed-facts.ts';
import {blocks} from '../formats/common/diagnostic.ts';
import {readCache, writeCache} from '../home/cache.ts';
import type {CommittedAt} from '../home/committed.ts';
import type {Disk} from '../home/disk/disk.ts';
import type {HomeJournal} from '../home/home-git.ts';
import {setFacts} from '../loop/accept-version.ts';
import type {HomeFiles} from '../loop/home-files.ts';
import type {StartedCallsCheckpoint} from '../loop/started-calls.ts';

/** A file as it was when it was last read. */
type Row = [path: string, signature: string, blob: string, settled: boolean, facts: PackedFacts];

/** The content of the cache file. */
interface Cached {
  /** The commit of HEAD, and the path of the home in the repository. */
  commit: string;
  prefix: string;
  /** Blob ids in the commit that differ from those of the rows. null: no such file in the commit. */
  otherwise: [path: string, blob: string | null][];
  /** Executable files in the commit. */
  executable: string[];
  /** The number of the last version that the rows include. Missing in caches of version 0.1. */
  seq?: number;
  started?: StartedCallsCheckpoint;
  /** All rows, flattened. */
  rows: Row[number][];
}

/** State restored from the cache. */
interface Remembered {
  known: HomeFiles['known'];
  index: HomeIndex;
  sessions: SessionCounts;
  waits: Waits;
  causes: Causes;
  kinds: Pick<HomeFiles['kinds'], 'followers'>;
  phase: Pick<HomeFiles['phase'], 'unsaved'>;
}

export interface Checkpoint {
  remembered: Remembered;
  /** HEAD's files at that time. */
  committed: CommittedAt | undefined;
  /** The number of the last version in the cache. 0: none. */
  seq: number;
  started: StartedCallsCheckpoint | undefined;
}

const ROW = 5;
const SLICE_MS = 5;
const SETTLED_MS = 100;

const CACHE = '.agentdir/cache.json';
const versionOf = (version: string) => `${version}/${FACTS_VERSION}`;

/** Read the cache of an earlier run. The scan then checks each file against it. */
export async function readCheckpoint(disk: Disk, version: string): Promise<Checkpoint> {
  // Let the caller start git first, which runs in parallel.
  await disk.clock.nextTurn();
  const [sessions, waits, causes] = [new SessionCounts(), new Waits(), new Causes()];
  const remembered: Remembered = {
    known: new Map(),
    index: new HomeIndex(),
    sessions,
    waits,
    causes,
    kinds: {followers: [sessions, waits, causes]},
    phase: {unsaved: false},
  };
  const cached = readCache<Cached>(disk, CACHE, versionOf(version));
  if (![cached?.rows, cached?.otherwise, cached?.executable].every(Array.isArray) || !cached)
    return {remembered, committed: undefined, seq: 0, started: undefined};
  const {commit, prefix, rows, otherwise, executable, seq = 0, started} = cached;
  const blobs = new Map<string, string>();
  let slice = disk.clock.monotonic();
  for (let at = 0; at < rows.length; at += ROW) {
    const [path, signature, blob, settled, packed] = rows.slice(at, at + ROW) as Row;
    const facts = unpackFacts(path, packed);
    const good = blocks(facts.problems) ? undefined : blob;
    remembered.known.set(path, {signature, blob, good, ignored: false, settled});
    blobs.set(path, blob);
    setFacts(remembered, path, facts);
    if (at % (64 * ROW) > 0 || disk.clock.monotonic() - slice < SLICE_MS) continue;
    await disk.clock.nextTurn();
    slice = disk.clock.monotonic();
  }
  for (const [path, blob] of otherwise) {
    if (blob === null) blobs.delete(path);
    else blobs.set(path, blob);
  }
  remembered.phase.unsaved = false;
  return {remembered, committed: {commit, prefix, files: {blobs, executable: new Set(executable)}}, seq, started};
}

/**
 * Forget files whose mode in git has changed, because the cache has only git's modes. For a cache without a version log, also forget
 * files whose content in git differs: the daemon may have worked for long after it wrote the cache.
 */
export function forgetOutdated(restored: Checkpoint, journal: Pick<HomeJournal, 'committed' | 'executable'>): void {
  const {remembered, committed, seq} = restored;
  const forget = (path: string) => {
    if (remembered.known.delete(path)) setFacts(remembered, path, undefined);
  };
  if (seq === 0)
    for (const [path, {blob}] of remembered.known) if ((journal.committed.get(path) ?? blob) !== blob) forget(path);
  const before = committed?.files.executable ?? new Set<string>();
  for (const path of before) if (!journal.executable.has(path)) forget(path);
  for (const path of journal.executable) if (!before.has(path)) forget(path);
}

/**
 * Write the cache, which is also the checkpoint of the version log: the last version of every file. The next start reads a file again that
 * was written just now, because two writes within a clock tick have the same signature. Yields to other work, unless the daemon is
 * stopping. If writing fails, the next start takes longer.
 */
export async function writeCheckpoint(daemon: With<'files' | 'approvals' | 'status'>): Promise<void> {
  if (!daemon.files.phase.unsaved) return;
  daemon.files.phase.unsaved = false;
  const rows: string[] = [];
  const blobs = new Map<string, string>();
  const seq = daemon.files.versions.settled;
  const settled = BigInt(daemon.files.disk.clock.now() - SETTLED_MS) * 1_000_000n;
  let slice = daemon.files.disk.clock.monotonic();
  for (const [path, {signature, blob, settled: done}] of daemon.files.known) {
    const facts = daemon.files.index.facts(path);
    // A mode change that is not published yet may be lost, and only the file's stat shows it: let the next start look again.
    const {files} = daemon;
    const {versions, journal} = files;
    const isMode = versions.isUnpublished(path) && versions.blobAt(path) === journal.committed.get(path);
    const isRecent = isMode || daemon.files.looks.pending.has(path) || BigInt(signature.split('.')[3] ?? 0) >= settled;
    if (facts) {
      const row: Row = [path, isRecent ? '' : signature, blob, done, packFacts(path, facts)];
      rows.push(JSON.stringify(row).slice(1, -1));
      blobs.set(path, blob);
    }
    if (daemon.files.phase.hurry || daemon.files.disk.clock.monotonic() - slice < SLICE_MS) continue;
    await daemon.files.disk.clock.nextTurn();
    slice = daemon.files.disk.clock.monotonic();
  }
  const {commit = '', prefix} = daemon.files.journal.at;
  const {committed, executable} = daemon.files.journal;
  const cached: Omit<Cached, 'rows'> = {
    commit,
    prefix,
    otherwise: difference(blobs, committed),
    executable: [...executable],
    seq,
    started: daemon.approvals.started.soFar(),
  };
  try {
    const value = `${JSON.stringify(cached).slice(0, -1)},"rows":[${rows.join(',')}]}`;
    writeCache(daemon.files.disk, CACHE, versionOf(daemon.status.version), value);
    daemon.files.versions.log.drop(seq);
  } catch {
    daemon.files.phase.unsaved = true;
  }
}

/** Synchronous, so that the result describes one commit. */
function difference(blobs: ReadonlyMap<string, string>, committed: ReadonlyMap<string, string>): Cached['otherwise'] {
  const otherwise: Cached['otherwise'] = [];
  for (const [path, blob] of committed) if (blobs.get(path) !== blob) otherwise.push([path, blob]);
  for (const path of blobs.keys()) if (!committed.has(path)) otherwise.push([path, null]);
  return otherwise;
}
