import {nextAction} from '../../decide/turn.ts';
import {markOf} from '../../effects/sandbox/environment.ts';
import {askedAgain} from '../../formats/approval/approval-again.ts';
import {APPROVALS_FILE} from '../../formats/approval/approval-item.ts';
import {kindOf} from '../../formats/common/key.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {parseSession} from '../../formats/session/session.ts';
import type {Call} from '../../formats/session/session-schema.ts';
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
import {callWords} from '../../policy/call-words.ts';
import type {With} from '../state/parts.ts';
import {effectsOf} from '../world/effects.ts';

export const PROTECTED_FILES: readonly string[] = ['agentdir.yaml', 'allowlist.yaml', APPROVALS_FILE];
// Schedules run the setup commands of workflows.
const FOLDERS = ['templates', 'workflows', 'approvals/pending', 'tasks/archive'];
/** Defines the agents of a workflow instance. */
const RUN = /^\.workflow\/[^/]+\/run\.yaml$/;

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

/** Whether the file holds decisions, settings, rules, templates or workflows, which only a person may change. */
export function isProtected(path: string): boolean {
  return PROTECTED_FILES.includes(path) || RUN.test(path) || FOLDERS.some(folder => path.startsWith(`${folder}/`));
}

/** Whether only a person may change this file: `isProtected`, or tasks that wait for a person, as it was last accepted. */
function mayNotChange({index}: HomeFiles, path: string): boolean {
  if (isProtected(path)) return true;
  return kindOf(path) === 'tasks' && (index.facts(path)?.tasks ?? []).some(({gated}) => gated);
}

/** Suspect every protected file that changed while an unsandboxed command ran. */
function suspectChanges({files, approvals}: With<'files' | 'approvals'>, why: string): void {
  const {disk, known} = files;
  const paths = [
    ...PROTECTED_FILES,
    ...[...FOLDERS, '.workflow'].flatMap(folder => listFolder(disk, folder)),
    ...known.keys(),
  ].filter(path => mayNotChange(files, path));
  for (const path of new Set(paths)) {
    const stat = disk.lstat(path);
    const before = known.get(path)?.signature;
    if (!kindOf(path) || (stat ? statSignature(stat) : undefined) === before) continue;
    approvals.suspects.set(path, why);
    lookAgain(files, path);
  }
}

/** An unsandboxed command has ended, with every process of it. May be called again. */
export function endUnconfined(daemon: With<'files' | 'reports' | 'approvals'>, call: string): void {
  const words = daemon.approvals.endUnconfined(call);
  if (words === undefined) return;
  // What changed by now may be the command's doing; what changes later is not.
  suspectChanges(daemon, words);
  daemon.reports.changed();
}

/**
 * At the start: if an unsandboxed command ran when the last daemon was killed, end what is left of it, then take back the
 * changes to protected files since it began. Changes that follow count. Must run before any of them is acted on.
 */
export async function suspectEarlierChanges(
  daemon: With<'files' | 'reports' | 'approvals' | 'effects'>,
  committed: (start: string, session: string) => Promise<ReadonlyMap<string, string | undefined>>,
): Promise<void> {
  const {files, approvals, effects} = daemon;
  const {disk, index} = files;
  const changed = new Map(approvals.changedBefore);
  approvals.changedBefore.clear();
  const commands: string[] = [];
  for (const {id, agent} of [...index.sessions()].filter(({host}) => host))
    for (const {path: session} of index.definitionsOf(`session/${id}`))
      for (const call of await openHostCalls(files, session)) {
        commands.push(`${callWords(call.function)} of ${agent}, which was interrupted,`);
        if (call.run !== undefined) await effectsOf(effects.world).endLeftovers(markOf(call.run, id, call.id));
        for (const [path, former] of await committed(call.started ?? '', session)) changed.set(path, former);
      }
  for (const [path, former] of commands.length > 0 ? changed : []) {
    const kind = kindOf(path);
    const read = kind && readHomeFile(disk, path);
    if (!kind || (read && !('text' in read))) continue;
    const seen = read && snapshotOfText(path, kind, read.text, read);
    await takeBack(daemon, path, seen, commands.join(' and '), {blob: former});
  }
  if (commands.length > 0) await cutAllLinks(daemon);
}

/** The command may have linked a file in which people decide to a place where agents write. */
async function cutAllLinks(daemon: With<'files' | 'reports' | 'approvals'>): Promise<void> {
  const {files} = daemon;
  for (const path of [...files.known.keys()].filter(each => mayNotChange(files, each))) {
    const kind = kindOf(path);
    const read = kind && readHomeFile(files.disk, path);
    if (kind && read && 'text' in read && read.stat.nlink > 1n)
      await cutLinks(daemon, snapshotOfText(path, kind, read.text, read));
  }
}

/** Calls of a session that an earlier daemon started outside the sandbox, and that have no result. */
async function openHostCalls(files: HomeFiles, session: string): Promise<Call[]> {
  const blob = files.known.get(session)?.blob;
  const text = blob === undefined ? undefined : await versionText(files, blob, session);
  const next = text === undefined ? undefined : nextAction(parseSession(text).messages);
  return next?.do !== 'call' ? [] : next.open.calls.filter(call => call.where === 'host' && call.started !== undefined);
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
  const before = former.blob === undefined ? undefined : await versionText(files, former.blob, path);
  const again = `decided while ${visibleLine(why)} ran outside the sandbox, so it did not count; decide again`;
  const text = before === undefined || seen?.text === undefined ? before : askedAgain(path, before, seen.text, again);
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
