import {kindOf} from '../formats/common/key.ts';
import {undoesLasting} from '../formats/merge/merge-lasting.ts';
import {blobId} from '../home/git/blob-id.ts';
import type {RecentCommit} from '../home/git/git-committed-over.ts';
import {removeIfUnchanged} from '../home/move.ts';
import {readHomeFile} from '../home/read.ts';
import {save} from '../home/save.ts';
import type {UnpublishedVersion} from '../home/versions/version-log.ts';
import {setFacts, versionText} from './accept-version.ts';
import type {HomeFiles} from './home-files.ts';
import type {Loop} from './parts.ts';
import {isDamaged, lastVersionTexts} from './power-cut.ts';

/**
 * At the start: restore the last recorded version of every file that the log recovered. A file that lacks its last version gets it; any
 * other difference is a person's edit, which the first look merges.
 */
export async function recoverVersions(daemon: Loop): Promise<void> {
  const {files} = daemon;
  const {versions, known} = files;
  const {log} = versions;
  await skipPublished(files);
  for (const [path, version] of log.recovered) {
    const {blob, author} = version;
    if (log.rebooted && version.movedFrom !== undefined) removeAgain(files, version.movedFrom, version.time);
    if (blob === null) {
      if (log.rebooted) removeAgain(files, path, version.time);
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
    // No file has an empty signature, so the scan looks at the file.
    const good = author === 'human' ? undefined : blob;
    known.set(path, {signature: '', blob, good, ignored: false, settled: false});
    if (!version.placed || log.rebooted) await place(daemon, version);
  }
}

/** How many versions to read: more than a person commits of one file while no daemon runs. */
const MOST_COMMITS = 100;

/**
 * At the start, for files that the log did not recover: a person may have committed a stale buffer over a version that a daemon
 * committed after the checkpoint. Start from the daemon's version, or from one that the person restored with git since.
 */
export async function recoverFromGit(files: HomeFiles, checkpoint: string | undefined): Promise<void> {
  const {journal, known, versions} = files;
  if (checkpoint === journal.at.commit) return;
  for (const [path, overwritten] of await journal.committedOver(checkpoint)) {
    const kind = kindOf(path);
    const read = kind && readHomeFile(files.disk, path);
    if (versions.log.recovered.has(path) || !kind || !read || !('text' in read)) continue;
    const isUndone = undoesLasting(kind, (await versionText(files, overwritten, path)) ?? '', read.text);
    const blob = (isUndone ? await restoredByGit(files, path, overwritten) : undefined) ?? overwritten;
    const {ignored = false} = known.get(path) ?? {};
    known.set(path, {signature: '', blob, good: undefined, ignored, settled: false});
  }
}

/** The newest version that a person committed after the daemon's last one and whose lines all occur in older versions. */
async function restoredByGit(files: HomeFiles, path: string, overwritten: string): Promise<string | undefined> {
  const versions = await files.journal.versions(path, MOST_COMMITS);
  const lastOfDaemon = versions.findIndex(({blob, cause}) => blob === overwritten || cause !== undefined);
  const texts: string[] = [];
  for (const {blob} of versions) texts.push((await versionText(files, blob, path)) ?? '');
  const at = texts.slice(0, lastOfDaemon === -1 ? undefined : lastOfDaemon).findIndex((text, i) => {
    const older = new Set(texts.slice(i + 1).flatMap(other => other.split('\n')));
    return text.split('\n').every(line => older.has(line));
  });
  return versions[at]?.blob;
}

/**
 * Mark versions as published whose commits exist: their daemon was killed before it could mark them. Versions are published in order, so
 * those before a published one are published, too: git had their content already and got no commit.
 */
async function skipPublished({versions, journal}: HomeFiles): Promise<void> {
  const {log} = versions;
  const waiting = [...log.unpublished];
  const {commit} = log.published;
  if (waiting.length === 0 || commit === '' || commit === journal.at.commit) return;
  let next = 0;
  let last = commit;
  for (const made of await journal.commitsAfter(commit)) {
    const at = made.byPerson ? -1 : lastVersionIn(made, waiting, next);
    if (at === -1) continue;
    next = at + 1;
    last = made.id;
  }
  if (next > 0) log.publish(waiting.slice(0, next), last);
}

/** The index of the last version, from `start` on, that a commit has the content of, under one of its subjects. -1: none. */
function lastVersionIn(made: RecentCommit, versions: readonly UnpublishedVersion[], start: number): number {
  const subjects = new Set([made.subject, ...made.steps]);
  let last = -1;
  for (let i = start; i < versions.length && subjects.size > 0; i++) {
    const {path, subject, blob} = versions[i] as UnpublishedVersion;
    const found = made.files.find(file => file.path === path)?.is;
    if (found === undefined || (blob !== null && blob !== found) || !subjects.delete(subject)) continue;
    last = i;
  }
  return last;
}

/** Write the recorded version into the file. If the file was edited since, note the base, so that the first look merges the edit. */
async function place({files, reports}: Loop, version: UnpublishedVersion): Promise<void> {
  const {disk, versions, journal, looks} = files;
  const {unplaced} = looks;
  const {troubles} = reports;
  const {path, author} = version;
  const bytes = version.bytes();
  const read = readHomeFile(disk, path);
  const current = read?.bytes;
  if (!bytes || (read && !current) || (current && blobId(current) === version.blob)) return;
  // After a power cut a file may have any older content, or none.
  const {rebooted} = versions.log;
  if (author === 'human' && !rebooted) return;
  const older = [...versions.history(path)].filter(({seq}) => seq < version.seq);
  const committed = journal.committed.get(path);
  // A merged version is based on the stale text that the file held.
  const before = older.find(each => versions.log.wasPlaced(each));
  const base = before ? before.bytes() : committed === undefined ? undefined : await journal.read(committed);
  const isBase = current === undefined ? base === undefined : base?.equals(current) === true;
  const isLost = rebooted && isDamaged(current, [bytes, ...lastVersionTexts(files, path, version.seq)]);
  if (isBase || isLost) {
    const result = await save(disk, {path, expected: current, bytes});
    if ('failed' in result) troubles.set(`save ${path}`, `${path} cannot be written: ${result.failed.message}`);
    if ('saved' in result) return;
  }
  if (base) unplaced.set(path, base.toString());
}

/**
 * A power cut may destroy the end of the log after git got its versions. Returns git's blob id of the file, if the last recorded
 * version was published and git has a different one.
 */
function newerInGit({versions: {log}, journal}: HomeFiles, {seq, path, blob}: UnpublishedVersion): string | undefined {
  const committed = journal.committed.get(path);
  return seq <= log.published.seq && committed !== blob ? committed : undefined;
}

/** Restore a damaged file from git. */
async function placeFromGit({files, reports}: Loop, {path, seq}: UnpublishedVersion, blob: string): Promise<void> {
  const {disk, journal} = files;
  const bytes = await journal.read(blob);
  const current = readHomeFile(disk, path)?.bytes;
  if (!bytes || current?.equals(bytes)) return;
  if (!isDamaged(current, [bytes, ...lastVersionTexts(files, path, seq + 1)])) return;
  const result = await save(disk, {path, expected: current, bytes});
  if ('failed' in result) reports.troubles.set(`save ${path}`, `${path} cannot be written: ${result.failed.message}`);
}

/**
 * Remove a file again if a power cut undid its removal: the file then holds one of its past versions, and nothing changed it after
 * `removed`. A file with a later change was brought back by a person.
 */
function removeAgain(files: HomeFiles, path: string, removed: number): void {
  const {disk} = files;
  const read = readHomeFile(disk, path);
  if (!read?.bytes || read.stat.ctimeMs > removed) return;
  if (isDamaged(read.bytes, lastVersionTexts(files, path))) removeIfUnchanged(disk, path, read.bytes);
}
