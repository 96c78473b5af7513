import {isQueue} from '../check/parse-file.ts';
import {isJournalled, type Kind, kindOf, stemOf} from '../formats/common/key.ts';
import {visibleLine} from '../formats/common/visible.ts';
import {MAIL_CURSORS} from '../formats/mail-cursors.ts';
import {type CutSession, cutSession, describeEdit} from '../formats/merge/describe-edit.ts';
import type {TaskFile} from '../formats/task/task.ts';
import {parseTasks} from '../formats/task/task-parse.ts';
import {blobId} from '../home/git/blob-id.ts';
import {linkTarget} from '../home/read.ts';
import {replacedContent} from '../home/replaced-files.ts';
import {type CommandNote, forgetNote, noteOn, undosTo} from '../home/versions/command-notes.ts';
import type {FileMode} from '../home/versions/record.ts';
import type {LoggedVersion, NewVersion} from '../home/versions/version-log.ts';
import {lastBlob, versionText} from './accept-version.ts';
import type {FileSnapshot} from './file-snapshot.ts';
import {isExecutable} from './file-state.ts';
import type {HomeFiles} from './home-files.ts';
import type {Loop, Reports} from './parts.ts';
import type {DaemonEntry} from './planned-write.ts';

/**
 * Record a person's edit before the daemon acts on it. `former`: the last accepted snapshot, which saves parsing it again.
 */
export async function recordEdit(daemon: Loop, seen: FileSnapshot, former?: FileSnapshot): Promise<void> {
  const {files} = daemon;
  const {path, kind} = seen;
  const before = files.versions.blobAt(path);
  if (!isJournalled(kind)) return;
  if (before === contentInGit(files, seen).blob) return recordMode(daemon, seen);
  const isLocal = before === undefined && (await isIgnored(files, path));
  const old = before === undefined ? undefined : await versionText(files, before, path);
  const edit = editOf(daemon, seen, old, {former});
  files.versions.record(isLocal ? {...edit, local: true} : edit, statInGit(files, seen));
  if (!seen.link) forgetNote(files.disk, path, seen.blob);
}

/**
 * Record what `agentdir undo` wrote. Unrecorded versions before it, by hand or by another undo, are recorded first, so that each undo
 * gets its own version.
 */
export async function recordUndo(daemon: Loop, seen: FileSnapshot, former?: FileSnapshot): Promise<void> {
  const {files} = daemon;
  const {disk} = files;
  const {path, blob, kind} = seen;
  const bases = [...undosTo(disk, path, blob).map(({note}) => note.base), blob];
  const known = files.versions.blobAt(path);
  // An earlier look may have recorded some of these versions.
  for (const base of known === undefined ? [] : bases.slice(bases.lastIndexOf(known) + 1, -1)) {
    const before = files.versions.blobAt(path);
    const bytes = base === null ? undefined : (replacedContent(disk, path, base) ?? (await files.journal.read(base)));
    if (before === undefined || !bytes || !isJournalled(kind)) continue;
    files.versions.record(editOf(daemon, seen, await versionText(files, before, path), {passing: bytes}));
  }
  await recordEdit(daemon, seen, former);
}

/** Record that a person changed the executable bit. */
async function recordMode(daemon: Loop, seen: FileSnapshot): Promise<void> {
  const {files} = daemon;
  const {path, kind} = seen;
  const {bytes, mode, blob} = contentInGit(files, seen);
  if (!(await files.journal.isOtherMode(path, mode))) return;
  const words = `made ${mode === '100755' ? '' : 'not '}executable by hand`;
  const edit = describedEdit(daemon, {path, kind, blob}, words, trailersOf(seen, []));
  files.versions.record({path, author: 'human', bytes, blob, mode, ...edit}, statInGit(files, seen));
}

/** A person's save and the text it was made from. `base` undefined: the last version. */
export interface StaleSave {
  seen: FileSnapshot;
  base: string | undefined;
}

/**
 * Record texts that a person saved from older versions. Their editor still has each text open, so their next save is made from it. A
 * stale text never becomes the last version, because it lacks later changes.
 */
export async function recordStale(daemon: Loop, saved: readonly StaleSave[]): Promise<void> {
  const {files} = daemon;
  for (const {seen, base} of saved) {
    const {path} = seen;
    if (!isJournalled(seen.kind) || files.known.get(path)?.ignored) continue;
    const before = files.versions.blobAt(path);
    if (before === contentInGit(files, seen).blob) continue;
    const old = base ?? (before === undefined ? undefined : await versionText(files, before, path));
    files.versions.record({...editOf(daemon, seen, old), stale: true});
    forgetNote(files.disk, path, seen.blob);
  }
}

/** Describe a person's edit. `passing`: an intermediate content to record instead of the file's current one. */
function editOf(
  daemon: Loop,
  seen: FileSnapshot,
  before: string | undefined,
  {passing, former}: {passing?: Buffer; former?: FileSnapshot | undefined} = {},
): NewVersion {
  const {path, kind} = seen;
  const content = passing
    ? {bytes: passing, blob: blobId(passing), mode: modeOf(seen)}
    : contentInGit(daemon.files, seen);
  const queue = isQueue(path);
  const edit = describeEdit(kind, before, passing?.toString() ?? seen.text ?? '', queue, {
    tasksIn: text => tasksOf(text, [seen, former]),
    cutIn: text => cutOf(text, [seen, former]),
  });
  const trailers = queue
    ? edit.tasks.map((id): [string, string] => ['Approval', id])
    : [...trailersOf(seen, edit.tasks), ...approvalOf(seen)];
  const words = path === MAIL_CURSORS ? 'read on by agentdir mail' : `${edit.words} by hand`;
  const blob = passing ? content.blob : seen.blob;
  const described = describedEdit(daemon, {path, kind, blob}, words, trailers);
  return {path, author: 'human', ...content, ...described, ...replacedInGit(daemon.files, path)};
}

/** The content that the next version of a path replaces, unless the log has it. Merges need it as a base while git lacks that version. */
function replacedInGit(files: HomeFiles, path: string): Pick<NewVersion, 'replaces'> {
  const replaces = files.versions.isUnpublished(path) ? undefined : lastBlob(files, path);
  return replaces === undefined ? {} : {replaces};
}

/** Subject and trailers of a person's edit. For an edit by `agentdir undo`, the subject names the undone commit. */
function describedEdit(
  {files, reports}: Loop,
  {path, kind, blob}: {path: string; kind: Kind; blob: string | null},
  words: string,
  trailers: readonly [string, string][] = [],
): Pick<NewVersion, 'subject' | 'trailers' | 'undo'> {
  const undo = noteOn(files.disk, path, blob)?.undo;
  const all = [...trailers, ...(undo ? [['Undo', undo.commit] as const] : []), ['Cause', files.phase.cause] as const];
  return {...redacted(reports, subject(kind, path, undo ? undoWords(undo) : words), all), ...(undo && {undo})};
}

function redacted(
  {redact}: Reports,
  subject: string,
  trailers: NewVersion['trailers'],
): Pick<NewVersion, 'subject' | 'trailers'> {
  return {subject: redact.text(subject), trailers: redact.value(trailers)};
}

function undoWords({commit, words}: NonNullable<CommandNote['undo']>): string {
  return `took back ${commit.slice(0, 7)} (${visibleLine(words)}) by hand`;
}

/** The tasks of a text. Reuses a snapshot with the same text instead of parsing again. */
function tasksOf(text: string, files: readonly (FileSnapshot | undefined)[]): TaskFile {
  const parsed = files.find(file => file?.text === text)?.parsed;
  return parsed?.kind === 'tasks' || parsed?.kind === 'queue' ? parsed.file : parseTasks(text);
}

/** A session's text cut at its messages. Reuses a snapshot with the same text instead of parsing again. */
function cutOf(text: string, files: readonly (FileSnapshot | undefined)[]): CutSession | undefined {
  const parsed = files.find(file => file?.text === text)?.parsed;
  const {head, foot, items} = parsed?.kind === 'session' ? parsed.file : {};
  return head !== undefined && foot !== undefined && items ? {head, foot, items} : cutSession(text);
}

/** The trailer that names the request of an approval page. */
function approvalOf({kind, path}: FileSnapshot): [string, string][] {
  return kind === 'approval' ? [['Approval', stemOf(path)]] : [];
}

/** Record that a person removed a file, also if git lacks the file: else recovery after a power cut would restore it. */
export function recordRemoval(daemon: Loop, path: string): void {
  const {files} = daemon;
  const kind = kindOf(path);
  if (!kind || !isJournalled(kind) || isRemoved(files, path)) return;
  const edit = describedEdit(daemon, {path, kind, blob: null}, 'removed by hand');
  files.versions.record({...removalOf(files, path), author: 'human', ...edit});
  forgetNote(files.disk, path, null);
}

/** Record that the daemon removed a file. */
export function recordDaemonRemoval({files, reports}: Loop, path: string, {words, cause}: DaemonEntry): void {
  const kind = kindOf(path);
  if (!kind || !isJournalled(kind) || isRemoved(files, path)) return;
  const author = {name: 'agentdir', email: `agentdir@${files.name}`};
  const described = redacted(reports, subject(kind, path, words), [['Cause', cause]]);
  files.versions.record({...removalOf(files, path), author, ...described});
}

/** Whether the removal is recorded: the path stays in `committed` until git has the removal. */
function isRemoved({versions, known}: HomeFiles, path: string): boolean {
  return versions.blobAt(path) === undefined && !known.has(path);
}

function removalOf({versions}: HomeFiles, path: string): Pick<NewVersion, 'path' | 'bytes' | 'mode' | 'local'> {
  const isInGit = versions.blobAt(path) !== undefined;
  return {path, bytes: undefined, mode: '100644', ...(!isInGit && {local: true as const})};
}

/** A version that the daemon writes. `bytes`: the content of an intermediate version that never reaches the file. */
export function daemonVersion(
  {files, reports}: Loop,
  seen: FileSnapshot,
  {words, cause, tasks = [], agent, trailers = [], started, joins}: DaemonEntry,
  bytes?: Buffer,
): NewVersion {
  const {path, kind} = seen;
  const name = agent ?? 'agentdir';
  const content = bytes ? {bytes, blob: blobId(bytes)} : {bytes: seen.bytes, blob: seen.blob};
  const isPublished = isJournalled(kind) && !files.known.get(path)?.ignored;
  return {
    path,
    ...content,
    mode: modeOf(seen),
    author: {name, email: `${name}@${files.name}`},
    ...redacted(reports, subject(kind, path, words), [...trailersOf(seen, tasks), ...trailers, ['Cause', cause]]),
    ...(started && started.length > 0 && {started}),
    ...(joins && {joins}),
    ...replacedInGit(files, path),
    ...((!isPublished || files.versions.blobAt(path) === content.blob) && {local: true as const}),
  };
}

/** How many versions of a file that HEAD has lost are committed again at most. */
const MOST_LOST = 50;

/**
 * Commit versions again that HEAD has lost although the file is unchanged, after a reset or a commit from an outdated index. Each
 * version keeps its author. Returns false at the start if nothing tells the authors: the difference is then a person's edit.
 */
export async function recommitVersions(daemon: Loop, seen: FileSnapshot): Promise<boolean> {
  const {files} = daemon;
  const {path} = seen;
  const content = contentInGit(files, seen);
  const {versions, journal} = files;
  if (files.known.get(path)?.ignored || versions.blobAt(path) === content.blob) return true;
  const undone = await journal.undone(path, content.blob);
  const lost = undone.length > 0 ? undone : loggedSince(files, path, content.blob);
  if (lost.length === 0 && files.phase.cause === 'recovered') return false;
  for (const {blob, mode, author, subject, trailers} of lost) {
    const bytes = blob === content.blob ? content.bytes : await versionBytes(files, path, blob);
    if (bytes && isMode(mode)) versions.record({path, bytes, blob, mode, author, subject, trailers});
  }
  const again = {...daemonVersion(daemon, seen, {words: 'as the file is', cause: 'HEAD moved'}), ...content};
  if (!again.local) versions.record(again, statInGit(files, seen));
  return true;
}

async function versionBytes({versions, journal}: HomeFiles, path: string, blob: string): Promise<Buffer | undefined> {
  return versions.read(path, blob) ?? (await journal.read(blob));
}

/** The versions of the log after git's version up to this content, oldest first. Only the last one if the log lacks git's version. */
function loggedSince({versions}: HomeFiles, path: string, blob: string): (LoggedVersion & {blob: string})[] {
  const inGit = versions.blobAt(path);
  const newer: (LoggedVersion & {blob: string})[] = [];
  for (const version of versions.history(path)) {
    if (version.local || (newer.length === 0 && version.blob !== blob)) continue;
    if (version.blob === null || version.blob === inGit) return newer.reverse();
    newer.push({...version, blob: version.blob});
    if (newer.length === MOST_LOST) break;
  }
  return inGit === undefined ? newer.reverse() : newer.slice(0, 1);
}

function isMode(mode: string): mode is FileMode {
  return mode === '100644' || mode === '100755' || mode === '120000';
}

export async function isIgnored(files: HomeFiles, path: string): Promise<boolean> {
  const known = files.known.get(path);
  const ignored = await files.looks.ignored.has(path);
  if (known) known.ignored = ignored;
  return ignored;
}

function modeOf({stat}: Pick<FileSnapshot, 'stat'>): FileMode {
  return isExecutable(stat) ? '100755' : '100644';
}

/** The content that git stores: the file's bytes, or the target of a symbolic link. */
function contentInGit({disk}: HomeFiles, seen: FileSnapshot): {bytes: Buffer; blob: string; mode: FileMode} {
  const target = seen.link ? linkTarget(disk, seen.path) : undefined;
  if (target === undefined) return {bytes: seen.bytes, blob: seen.blob, mode: modeOf(seen)};
  const bytes = Buffer.from(target);
  return {bytes, blob: blobId(bytes), mode: '120000'};
}

/** The stat for git's index, so that `git status` finds the file unchanged: a link's own, not its target's. */
function statInGit({disk}: HomeFiles, {path, stat, link}: FileSnapshot): FileSnapshot['stat'] {
  return link ? (disk.lstat(path) ?? stat) : stat;
}

function subject(kind: Kind, path: string, words: string): string {
  return `${kind}(${visibleLine(stemOf(path))}): ${words}`;
}

function trailersOf({facts: {session}}: FileSnapshot, tasks: readonly string[]): [string, string][] {
  const own: [string, string][] = session
    ? [
        ['Agent', session.agent],
        ['Session', session.id],
      ]
    : [];
  return [...own, ...tasks.map((id): [string, string] => ['Task', id])];
}
