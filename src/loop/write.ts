import {kindOf} from '../formats/common/key.ts';
import type {FileStat} from '../home/disk/disk.ts';
import {moveFile} from '../home/move.ts';
import {type SaveResult, save} from '../home/save.ts';
import type {NewVersion} from '../home/versions/version-log.ts';
import {type FileContent, type FileSnapshot, snapshotOfText} from './file-snapshot.ts';
import {watchReplacedFile} from './late-writes.ts';
import type {Loop} from './parts.ts';
import type {DaemonEntry} from './planned-write.ts';
import type {LookOutcome} from './queue.ts';
import {daemonVersion, isIgnored} from './record.ts';
import {troubleText} from './troubles.ts';

/** One version with its journal entry. */
export interface WriteStep {
  entry: DaemonEntry;
  /** The text of a step before the last. The last step has the written text. */
  text?: string;
}

/** The stat of a file that does not exist yet: only its mode is known. */
const NEW_FILE = {mode: 0o100644n} as FileStat;

/** The written file, or when to look at the path again. */
export type WriteOutcome = {seen: FileSnapshot} | {outcome: LookOutcome};

/** Create a text file. If the path already exists, look again instead. */
export async function createText(
  daemon: Loop,
  path: string,
  text: string,
  entry: DaemonEntry,
  seenAs?: (found: FileContent) => FileSnapshot,
): Promise<WriteOutcome> {
  const kind = kindOf(path);
  if (!kind) return {outcome: undefined};
  return createBytes(
    daemon,
    path,
    Buffer.from(text),
    entry,
    seenAs ?? (found => snapshotOfText(path, kind, text, found)),
  );
}

/** Create a file whose bytes may not be text. `seenAs` makes the snapshot of the written file. */
export async function createBytes(
  daemon: Loop,
  path: string,
  bytes: Buffer,
  entry: DaemonEntry,
  seenAs: (found: FileContent) => FileSnapshot,
): Promise<WriteOutcome> {
  const {files} = daemon;
  const ignored = await isIgnored(files, path);
  const seen = seenAs({bytes, stat: NEW_FILE});
  const version = daemonVersion(daemon, seen, entry);
  const versions = [ignored ? {...version, local: true as const} : version];
  return write(daemon, {seen, versions, save: () => save(files.disk, {path, expected: undefined, bytes})});
}

interface Replacing {
  /** Oldest first. Empty: rewrite the same text into a new inode. */
  steps: readonly WriteStep[];
  /** Makes the snapshot of the written file. */
  seenAs?: (found: FileContent) => FileSnapshot;
}

/** Replace the content of a file, unless it has changed since `old`. */
export async function replaceText(
  daemon: Loop,
  old: FileSnapshot,
  text: string,
  {steps, seenAs = found => snapshotOfText(old.path, old.kind, text, found)}: Replacing,
): Promise<WriteOutcome> {
  const {path} = old;
  const bytes = Buffer.from(text);
  const seen = seenAs({bytes, stat: old.stat});
  const versions = steps.map(step =>
    daemonVersion(daemon, seen, step.entry, step.text === undefined ? undefined : Buffer.from(step.text)),
  );
  return write(daemon, {seen, versions, save: () => save(daemon.files.disk, {path, expected: old.bytes, bytes})});
}

/** Create `to` with `text` and remove the file `old`, unless it has changed. */
export async function moveText(
  daemon: Loop,
  old: FileSnapshot,
  to: string,
  {text, entry}: {text: string; entry: DaemonEntry},
): Promise<WriteOutcome> {
  const {files} = daemon;
  const kind = kindOf(to);
  if (!kind) return {outcome: undefined};
  const bytes = Buffer.from(text);
  const seen = snapshotOfText(to, kind, text, {bytes, stat: old.stat});
  const {ignored} = files.known.get(old.path) ?? {};
  const isKnown = files.versions.blobAt(old.path) !== undefined;
  const version: NewVersion = {
    ...daemonVersion(daemon, seen, entry),
    ...(isKnown && {movedFrom: old.path}),
    ...(ignored && {local: true as const}),
  };
  const saving = () => moveFile(files.disk, {from: old.path, expected: old.bytes, to, bytes});
  return write(daemon, {seen, versions: [version], save: saving});
}

interface Writing {
  /** The file after the write, with its old stat. */
  seen: FileSnapshot;
  versions: readonly NewVersion[];
  save: () => Promise<SaveResult>;
}

/** Make the versions durable in the version log, then change the file. */
async function write({files, reports}: Loop, {seen, versions, save}: Writing): Promise<WriteOutcome> {
  const {troubles} = reports;
  const {looks} = files;
  const {beingCreated} = looks;
  const {path} = seen;
  const trouble = `save ${path}`;
  const failed = (error: Error): WriteOutcome => {
    troubles.set(trouble, troubleText(path, error));
    if (error.name === 'NotDurable') throw error;
    return {outcome: {failed: error}};
  };
  beingCreated.add(path);
  try {
    const prepared = await files.versions.prepare(versions);
    const result = await save().catch((error: Error) => ({failed: error}));
    if (!('saved' in result)) prepared.cancel();
    if ('failed' in result) return failed(result.failed);
    troubles.set(trouble, undefined);
    if ('changed' in result) return {outcome: {after: 1}};
    prepared.placed(result.saved);
    if (result.replaced) watchReplacedFile(files, result.replaced);
    files.looks.savedAt.set(path, files.disk.clock.monotonic());
    return {seen: {...seen, stat: result.saved}};
  } catch (error) {
    return failed(error as Error);
  } finally {
    beingCreated.delete(path);
  }
}
