import {APPROVALS_FILE} from '../../formats/approval/approval-item.ts';
import {kindOf} from '../../formats/common/key.ts';
import {removeIfUnchanged} from '../../home/move.ts';
import {listFolder, readHomeFile} from '../../home/read.ts';
import {acceptVersion, lastBlob, setFacts, versionText} from '../../loop/accept-version.ts';
import {keepConflict} from '../../loop/conflict.ts';
import {type FileSnapshot, snapshotOfText} from '../../loop/file-snapshot.ts';
import {statSignature} from '../../loop/file-state.ts';
import type {Guard} from '../../loop/guard.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {LookOutcome} from '../../loop/queue.ts';
import {createText, replaceText} from '../../loop/write.ts';
import type {With} from '../state/parts.ts';

export const PROTECTED_FILES: readonly string[] = ['agentdir.yaml', 'allowlist.yaml', APPROVALS_FILE];
const FOLDERS = ['templates', 'approvals/pending', 'tasks/archive'];

/** Guards the files in which a person decides against commands that run outside the sandbox. */
export function makeGuard(daemon: With<'files' | 'reports' | 'approvals'>): Guard {
  const {approvals} = daemon;

  return {
    whyVoid: path => whyVoid(daemon, path),
    takeBack: (path, seen, why) => takeBack(daemon, path, seen, why),
    cutLinks: seen => cutLinks(daemon, seen),
    unchanged: path => void approvals.suspects.delete(path),
    changedBeforeStart: (path, before) =>
      void (mayNotChange(daemon.files, path) && approvals.changedBefore.set(path, before)),
  };
}

/** Whether the file holds decisions, settings, rules or templates, which only a person may change. */
export function isProtected(path: string): boolean {
  return PROTECTED_FILES.includes(path) || FOLDERS.some(folder => path.startsWith(`${folder}/`));
}

/** Whether only a person may change this file: `isProtected`, or tasks that wait for a person, as it was last accepted. */
function mayNotChange({index}: HomeFiles, path: string): boolean {
  if (isProtected(path)) return true;
  return kindOf(path) === 'tasks' && (index.facts(path)?.tasks ?? []).some(({gated}) => gated);
}

/** After an unsandboxed command: suspect every protected file that changed. Call before the command counts as ended. */
export function suspectChanges({files, approvals}: With<'files' | 'approvals'>, why: string): void {
  const {disk, known} = files;
  const paths = [...PROTECTED_FILES, ...FOLDERS.flatMap(folder => listFolder(disk, folder)), ...known.keys()].filter(
    path => mayNotChange(files, path),
  );
  for (const path of new Set(paths)) {
    const stat = disk.lstat(path);
    const before = known.get(path)?.signature;
    if (!kindOf(path) || (stat ? statSignature(stat) : undefined) === before) continue;
    approvals.suspects.set(path, why);
    lookAgain(files, path);
  }
}

/**
 * At the start: if an unsandboxed command ran when the last daemon was killed, take back the changes to protected files
 * since then. Must run before any of them is acted on.
 */
export async function suspectEarlierChanges(
  daemon: With<'files' | 'reports' | 'approvals'>,
  committed: (session: string) => Promise<ReadonlyMap<string, string | undefined>>,
): Promise<void> {
  const {files, approvals} = daemon;
  const {disk, index} = files;
  const changed = new Map(approvals.changedBefore);
  approvals.changedBefore.clear();
  const sessions = [...index.sessions()].filter(({host}) => host);
  for (const {id} of sessions)
    for (const {path: session} of index.definitionsOf(`session/${id}`))
      for (const [path, former] of await committed(session)) changed.set(path, former);
  for (const [path, former] of sessions.length > 0 ? changed : []) {
    const kind = kindOf(path);
    const read = kind && readHomeFile(disk, path);
    if (!kind || (read && !('text' in read))) continue;
    const seen = read && snapshotOfText(path, kind, read.text, read);
    const why = `a command of ${sessions.map(({id}) => id).join(', ')}, which was interrupted,`;
    await takeBack(daemon, path, seen, why, {blob: former});
  }
}

/** Replace a hard-linked file by a copy: another link may be in a folder where an agent can write. */
async function cutLinks(daemon: With<'files' | 'reports' | 'approvals'>, seen: FileSnapshot): Promise<LookOutcome> {
  daemon.approvals.suspects.delete(seen.path);
  const entry = {words: 'as it was', cause: 'void'};
  const written = await replaceText(daemon, seen, seen.text ?? '', {steps: [{entry}]});
  if ('outcome' in written) return written.outcome;
  acceptVersion(daemon, written.seen);
  lookAgain(daemon.files, seen.path);
  return undefined;
}

/** Why a change to this file does not count; undefined if it does. */
function whyVoid({files, approvals}: With<'files' | 'approvals'>, path: string): string | undefined {
  const why = approvals.unconfined ?? approvals.suspects.get(path);
  return why !== undefined && mayNotChange(files, path) ? why : undefined;
}

/**
 * Take back a change that an unsandboxed command may have made, because it cannot be told from a person's change. The
 * former version is restored, and the change is kept in conflicts/. `seen`: undefined if the file is gone.
 */
async function takeBack(
  daemon: With<'files' | 'reports' | 'approvals'>,
  path: string,
  seen: FileSnapshot | undefined,
  why: string,
  former: {blob: string | undefined} = {blob: lastBlob(daemon.files, path)},
): Promise<LookOutcome> {
  const {files, approvals} = daemon;
  const text = former.blob === undefined ? undefined : await versionText(files, former.blob, path);
  approvals.suspects.delete(path);
  files.looks.pending.delete(path);
  const conflict = `it was changed while ${why} ran outside the sandbox, so it does not count; if it was you, do it again`;
  if (seen && !(await keepConflict(daemon, path, seen.bytes, [conflict], true))) return {after: 1_000};
  if (text === undefined) {
    if (seen) removeIfUnchanged(files.disk, path, seen.bytes);
    files.known.delete(path);
    setFacts(files, path, undefined);
    lookAgain(files, path);
    return undefined;
  }
  const entry = {words: 'as it was before an unsandboxed command', cause: 'void'};
  const written = seen
    ? await replaceText(daemon, seen, text, {steps: [{entry}]})
    : await createText(daemon, path, text, entry);
  if ('outcome' in written) {
    approvals.suspects.set(path, why);
    return written.outcome;
  }
  acceptVersion(daemon, written.seen);
  lookAgain(files, path);
  return undefined;
}
