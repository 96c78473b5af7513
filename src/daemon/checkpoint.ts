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

/** What the cache holds. */
interface Cached {
  /** Where HEAD was, and where the home is in the repository. */
  commit: string;
  prefix: string;
  /** Blobs that the commit has where they are not those of the rows; null: it has no such file. */
  otherwise: [path: string, blob: string | null][];
  /** Files that the commit has as executable. */
  executable: string[];
  /** Of the version log: versions up to this one are in the rows. Caches of version 0.1 have none. */
  seq?: number;
  started?: StartedCallsCheckpoint;
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

export interface Checkpoint {
  remembered: Remembered;
  /** What HEAD held then. */
  committed: CommittedAt | undefined;
  /** The number of the last version that the cache knows of; 0: it knows of none. */
  seq: number;
  started: StartedCallsCheckpoint | undefined;
}

const ROW = 5;
const SLICE_MS = 5;
const SETTLED_MS = 100;

const CACHE = '.agentdir/cache.json';
const versionOf = (version: string) => `${version}/${FACTS_VERSION}`;

/** What an earlier run knew. Whether it still holds is for the scan to find out, file by file. */
export async function readCheckpoint(disk: Disk, version: string): Promise<Checkpoint> {
  // Git is asked first: it answers while this goes on.
  await disk.clock.nextTurn();
  const [sessions, waits] = [new SessionCounts(), new Waits()];
  const remembered: Remembered = {
    known: new Map(),
    index: new HomeIndex(),
    sessions,
    waits,
    kinds: {followers: [sessions, waits]},
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
 * Forget files whose mode git has otherwise by now: the cache knows only what git had. Of a cache without a version log also files
 * whose content git has otherwise: the daemon may have gone on for long after it wrote the cache.
 */
export function forgetOutdated(restored: Checkpoint, journal: Pick<HomeJournal, 'committed' | 'executable'>): void {
  const {remembered, committed, seq} = restored;
  const forget = (path: string) => {
    if (remembered.known.delete(path)) setFacts(remembered, path, undefined);
  };
  if (seq === 0)
    for (const [path, {blob}] of remembered.known) if ((journal.committed.get(path) ?? blob) !== blob) forget(path);
  // What a file's mode was is not remembered, only what git had.
  const before = committed?.files.executable ?? new Set<string>();
  for (const path of before) if (!journal.executable.has(path)) forget(path);
  for (const path of journal.executable) if (!before.has(path)) forget(path);
}

/**
 * Write the cache, which is also the checkpoint of the version log: the last version of every file. A file that was written just now
 * is read again at the next start, because two writes within a tick of the clock have one signature. Makes way for other work,
 * unless the daemon is stopping. If it cannot be written, the next start takes longer.
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
    // A mode on its way into git may not get there, and only the file's stat tells of it: let the next start look again.
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

/** All at once, so that it is of one commit. */
function difference(blobs: ReadonlyMap<string, string>, committed: ReadonlyMap<string, string>): Cached['otherwise'] {
  const otherwise: Cached['otherwise'] = [];
  for (const [path, blob] of committed) if (blobs.get(path) !== blob) otherwise.push([path, blob]);
  for (const path of blobs.keys()) if (!committed.has(path)) otherwise.push([path, null]);
  return otherwise;
}
