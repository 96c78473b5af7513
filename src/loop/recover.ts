import {kindOf} from '../formats/common/key.ts';
import {undoesLasting} from '../formats/merge/merge-lasting.ts';
import {blobId} from '../home/git/blob-id.ts';
import {removeIfUnchanged} from '../home/move.ts';
import {readHomeFile} from '../home/read.ts';
import {save} from '../home/save.ts';
import type {UnpublishedVersion} from '../home/versions/version-log.ts';
import {setFacts, versionText} from './accept-version.ts';
import type {HomeFiles} from './home-files.ts';
import type {Loop} from './parts.ts';
import {isDamaged, recentVersions} from './power-cut.ts';

/**
 * At the start: go on from the last recorded version of every file. What git lacks is published, each version by its author; a file
 * that lacks its last version gets it; a file that differs otherwise is somebody's edit, as always.
 */
export async function recoverVersions(daemon: Loop): Promise<void> {
  const {files} = daemon;
  const {versions, known} = files;
  const {log} = versions;
  await skipPublished(files);
  for (const [path, version] of log.recovered) {
    const {blob, author} = version;
    if (log.rebooted && version.movedFrom !== undefined) removeAgain(files, version.movedFrom);
    if (blob === null) {
      if (log.rebooted) removeAgain(files, path);
      known.delete(path);
      setFacts(files, path, undefined);
      continue;
    }
    const newer = log.rebooted ? newerInGit(files, version) : undefined;
    if (newer !== undefined) {
      known.set(path, {signature: '', blob: newer, good: undefined, ignored: false, settled: false});
      await placeFromGit(daemon, version, newer);
      continue;
    }
    // No file has this signature: the one that is there is looked at.
    const good = author === 'human' ? undefined : blob;
    known.set(path, {signature: '', blob, good, ignored: false, settled: false});
    if (!version.placed || log.rebooted) await place(daemon, version);
  }
}

/** More than a person commits of one file while no daemon runs. */
const MOST_COMMITS = 100;

/**
 * At the start: of files that no version log knows of, a person may have committed a stale buffer over what a daemon had committed
 * after the checkpoint. Such a file goes on from what the daemon had, or from what the person brought back by git since.
 */
export async function recoverFromGit(files: HomeFiles, checkpoint: string | undefined): Promise<void> {
  const {journal, known, versions} = files;
  if (checkpoint === journal.at.commit) return;
  for (const [path, over] of await journal.committedOver(checkpoint)) {
    const kind = kindOf(path);
    const read = kind && readHomeFile(files.disk, path);
    if (versions.log.recovered.has(path) || !kind || !read || !('text' in read)) continue;
    const isUndone = undoesLasting(kind, (await versionText(files, over, path)) ?? '', read.text);
    const blob = (isUndone ? await broughtBack(files, path, over) : undefined) ?? over;
    const {ignored = false} = known.get(path) ?? {};
    known.set(path, {signature: '', blob, good: undefined, ignored, settled: false});
  }
}

/** The newest version that a person committed after the daemon's last one, and all of whose lines an older one had: git brought it back. */
async function broughtBack(files: HomeFiles, path: string, over: string): Promise<string | undefined> {
  const versions = await files.journal.versions(path, MOST_COMMITS);
  const own = versions.findIndex(({blob, cause}) => blob === over || cause !== undefined);
  const texts: string[] = [];
  for (const {blob} of versions) texts.push((await versionText(files, blob, path)) ?? '');
  const at = texts.slice(0, own === -1 ? undefined : own).findIndex((text, i) => {
    const older = new Set(texts.slice(i + 1).flatMap(other => other.split('\n')));
    return text.split('\n').every(line => older.has(line));
  });
  return versions[at]?.blob;
}

/** Versions that were published by a daemon which was killed before it could note that: their commits are there. */
async function skipPublished({versions, journal}: HomeFiles): Promise<void> {
  const {log} = versions;
  const waiting = [...log.unpublished];
  const {commit} = log.published;
  if (waiting.length === 0 || commit === '' || commit === journal.at.commit) return;
  let next = 0;
  let last = commit;
  for (const {id, byPerson, subject, files} of await journal.commitsAfter(commit)) {
    const version = waiting[next];
    if (byPerson || !version || version.subject !== subject) continue;
    const blob = files.find(({path}) => path === version.path)?.is;
    if (blob === undefined || (version.blob !== null && blob !== version.blob)) continue;
    next++;
    last = id;
  }
  if (next > 0) log.publish(waiting.slice(0, next), last);
}

/** Give a file the version that it lacks, unless somebody wrote it since: then that is merged, from what the version was made from. */
async function place({files, reports}: Loop, version: UnpublishedVersion): Promise<void> {
  const {disk, versions, journal, looks} = files;
  const {unplaced} = looks;
  const {troubles} = reports;
  const {path, author} = version;
  const bytes = version.bytes();
  const read = readHomeFile(disk, path);
  const there = read?.bytes;
  if (!bytes || (read && !there) || (there && blobId(there) === version.blob)) return;
  // After a power cut a file may have any older content, or none.
  const {rebooted} = versions.log;
  if (author === 'human' && !rebooted) return;
  const older = [...versions.history(path)].filter(({seq}) => seq < version.seq);
  const committed = journal.committed.get(path);
  // A stale text that was in the file is what its merged version was made from.
  const before = older.find(each => versions.log.wasPlaced(each));
  const base = before ? before.bytes() : committed === undefined ? undefined : await journal.read(committed);
  const isBase = there === undefined ? base === undefined : base?.equals(there) === true;
  const isLost = rebooted && isDamaged(there, [bytes, ...recentVersions(files, path, version.seq)]);
  if (isBase || isLost) {
    const result = await save(disk, {path, expected: there, bytes});
    if ('failed' in result) troubles.set(`save ${path}`, `${path} cannot be written: ${result.failed.message}`);
    if ('saved' in result) return;
  }
  if (base) unplaced.set(path, base.toString());
}

/**
 * A power cut may take the end of the log with it, and git have what was recorded there: the blob that git has of a file whose last
 * recorded version was published, if that is another.
 */
function newerInGit({versions: {log}, journal}: HomeFiles, {seq, path, blob}: UnpublishedVersion): string | undefined {
  const committed = journal.committed.get(path);
  return seq <= log.published.seq && committed !== blob ? committed : undefined;
}

/** Give a file that was damaged what git has. */
async function placeFromGit({files, reports}: Loop, {path, seq}: UnpublishedVersion, blob: string): Promise<void> {
  const {disk, journal} = files;
  const bytes = await journal.read(blob);
  const there = readHomeFile(disk, path)?.bytes;
  if (!bytes || there?.equals(bytes)) return;
  if (!isDamaged(there, [bytes, ...recentVersions(files, path, seq + 1)])) return;
  const result = await save(disk, {path, expected: there, bytes});
  if ('failed' in result) reports.troubles.set(`save ${path}`, `${path} cannot be written: ${result.failed.message}`);
}

/** A power cut may undo a removal: then the file is there again, as some version of it was. */
function removeAgain(files: HomeFiles, path: string): void {
  const {disk} = files;
  const bytes = readHomeFile(disk, path)?.bytes;
  if (bytes && isDamaged(bytes, recentVersions(files, path))) removeIfUnchanged(disk, path, bytes);
}
