import {kindOf} from '../formats/common/key.ts';
import type {Disk} from '../home/disk/disk.ts';
import {blobId} from '../home/git/blob-id.ts';
import {readHomeFile} from '../home/read.ts';
import {shortId} from '../home/replaced-files.ts';
import {noteOn} from '../home/versions/command-notes.ts';
import {snapshotOfText} from './file-snapshot.ts';
import type {Loop} from './parts.ts';
import {daemonVersion, recordStale} from './record.ts';
import type {StartedCallsCheckpoint} from './started-calls.ts';

/** Folders of `.agentdir/` that version 0.1 used instead of the version log. */
const FOLDERS = ['aside', 'passed', 'sent', 'undo'];
const USED = '.agentdir/used';

/** A file that version 0.1 replaced. `base`: blob id before; `next`: short blob id after; `link`: the replaced file. */
interface Replacement {
  path: string;
  base: string;
  next: string;
  link: string;
  order: [bigint, number];
}

/** Calls that version 0.1 started. */
export function callsStartedByV01(disk: Disk): StartedCallsCheckpoint | undefined {
  try {
    const [first = '', ...names] = disk.read(USED).toString().split('\n').filter(Boolean);
    return first.startsWith('since ')
      ? {since: first.slice('since '.length), names}
      : {since: '', names: [first, ...names]};
  } catch {
    return undefined;
  }
}

/**
 * Upgrade a home that version 0.1 served last. If its daemon was killed, record the versions that it wrote and did not commit, before
 * the first look at a person's later save. Then remove the files that only version 0.1 reads.
 */
export async function upgrade(daemon: Loop): Promise<void> {
  const {files} = daemon;
  const {disk} = files;
  const last = new Map<string, Replacement>();
  const written = new Set<string>();
  for (const replacement of replacementsOf(disk)) {
    last.set(replacement.path, replacement);
    written.add(replacement.next);
  }
  for (const replacement of last.values()) await recordLast(daemon, replacement, written);
  for (const folder of FOLDERS)
    for (const name of namesIn(disk, `.agentdir/${folder}`)) disk.remove(`.agentdir/${folder}/${name}`);
  disk.remove(USED);
}

/** Record the last version that the killed daemon wrote to a file, and before it the person's save that it replaced. */
async function recordLast(
  daemon: Loop,
  {path, base, next, link}: Replacement,
  written: ReadonlySet<string>,
): Promise<void> {
  const {files} = daemon;
  const {disk, journal, versions, known} = files;
  const kind = kindOf(path);
  const read = kind && readHomeFile(disk, path);
  if (!kind || !read || !('text' in read) || read.link || noteOn(disk, path, blobId(read.bytes))) return;
  const past = (await journal.versions(path, 1_000)).map(({blob}) => shortId(blob));
  if (past.includes(next)) return;
  const isThere = shortId(blobId(read.bytes)) === next;
  const bytes = isThere ? read.bytes : (setAside(disk, next) ?? (await journal.read(next)));
  if (!bytes || shortId(blobId(bytes)) !== next) return;
  const before = disk.read(link);
  if (blobId(before) === base && !written.has(shortId(base)) && !past.includes(shortId(base)))
    await recordStale(daemon, [
      {seen: snapshotOfText(path, kind, before.toString(), {...read, bytes: before}), base: undefined},
    ]);
  const seen = snapshotOfText(path, kind, bytes.toString(), {bytes, stat: read.stat});
  const version = daemonVersion(daemon, seen, {words: 'as the daemon left it', cause: 'recovered'});
  if (!version.local) versions.record(version);
  known.set(path, {signature: '', blob: seen.blob, good: seen.blob, ignored: false, settled: false});
}

function replacementsOf(disk: Disk): Replacement[] {
  const folder = '.agentdir/replaced';
  const found = namesIn(disk, folder).map((name): Replacement => {
    const [base = '', id = '', next = '', encoded = ''] = name.split('.');
    const link = `${folder}/${name}`;
    const mtimeNs = disk.stat(link)?.mtimeNs ?? 0n;
    const nth = Number(id.slice(id.lastIndexOf('-') + 1));
    return {path: Buffer.from(encoded, 'base64url').toString(), base, next, link, order: [mtimeNs, nth]};
  });
  return found.sort((a, b) => Number(a.order[0] - b.order[0]) || a.order[1] - b.order[1]);
}

const HEAD = /^([0-9a-f]{40}) (\d+) "(?:[^"\\]|\\.)*"$/;

/** Find an uncommitted version in version 0.1's copies. Format, repeated: `BLOB SIZE "PATH"`, a newline, the content. */
function setAside(disk: Disk, next: string): Buffer | undefined {
  const folder = '.agentdir/aside';
  for (const name of namesIn(disk, folder)) {
    const all = disk.read(`${folder}/${name}`);
    for (let at = 0; at < all.length; ) {
      const end = all.indexOf(10, at);
      const [, blob = '', size = ''] = HEAD.exec(all.toString('utf8', at, end)) ?? [];
      const bytes = all.subarray(end + 1, end + 1 + Number(size));
      if (end === -1 || blob === '' || blobId(bytes) !== blob) break;
      if (shortId(blob) === next) return Buffer.from(bytes);
      at = end + 1 + bytes.length;
    }
  }
  return undefined;
}

function namesIn(disk: Disk, folder: string): string[] {
  try {
    return disk.names(folder);
  } catch {
    return [];
  }
}
