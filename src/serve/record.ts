import {isQueue} from '../check/parse-file.ts';
import {isJournalled, type Kind, kindOf, stemOf} from '../files/key.ts';
import {MAIL_CURSORS} from '../files/mail-cursors.ts';
import {describeEdit} from '../files/merge/describe-edit.ts';
import type {TaskFile} from '../files/task/task.ts';
import {parseTasks} from '../files/task/task-parse.ts';
import {visibleLine} from '../files/visible.ts';
import type {Entry} from '../store/journal.ts';
import {type UndoMark, undoMark, undosTo} from '../store/undo-marks.ts';
import type {OwnEntry} from './change.ts';
import type {HomeFiles} from './home-files.ts';
import type {With} from './parts.ts';
import {add, inGit, passed, subject, trailersOf} from './record-entry.ts';
import type {Seen} from './seen.ts';
import {journalled, textOf} from './state.ts';

/** Commit what a person did to a file, as theirs. `former`: the file as it was last taken, which need not be parsed again. */
export async function recordEdit(daemon: With<'files' | 'reports'>, seen: Seen, former?: Seen): Promise<void> {
  const {files} = daemon;
  const {path, kind} = seen;
  const before = journalled(files, path);
  if (!isJournalled(kind)) return;
  if (before === inGit(files, seen).blob) return recordMode(daemon, seen);
  if (before === undefined && (await isIgnored(files, path))) return;
  const old = before === undefined ? undefined : await textOf(files, before);
  addEdit(daemon, seen, old, {former});
}

/**
 * Commit what `agentdir undo` wrote. What the file was before that, and the journal does not have yet, is a commit too: an edit by
 * hand or another undo. So each is taken back by itself.
 */
export async function recordUndo(daemon: With<'files' | 'reports'>, seen: Seen, former?: Seen): Promise<void> {
  const {files} = daemon;
  const {path, blob, kind} = seen;
  const passed = [...undosTo(files.home, path, blob).map(({mark}) => mark.base), blob];
  const known = journalled(files, path);
  // It may have been looked at before, and not all of them are committed by now.
  for (const base of known === undefined ? [] : passed.slice(passed.lastIndexOf(known) + 1, -1)) {
    const [before, bytes] = [journalled(files, path), base === null ? undefined : await files.journal.read(base)];
    if (before === undefined || !bytes || !isJournalled(kind)) continue;
    addEdit(daemon, seen, await textOf(files, before), {passing: bytes});
  }
  await recordEdit(daemon, seen, former);
}

/** A person made the file executable, or no longer. Beside what is under way it comes to nothing if that has it already. */
async function recordMode(daemon: With<'files' | 'reports'>, seen: Seen): Promise<void> {
  const {files} = daemon;
  const {path} = seen;
  const {blob, change} = inGit(files, seen);
  const mode = change.content?.mode ?? '';
  if (!(await files.journal.isOtherMode(path, mode))) return;
  add(daemon, path, blob, {
    changes: [change],
    author: 'human',
    ...edited(files, seen, `made ${mode === '100755' ? '' : 'not '}executable by hand`, trailersOf(seen, [])),
  });
}

/** What a person saved, and the text they had made it from; undefined: the last one. */
export interface Saved {
  seen: Seen;
  base: string | undefined;
}

/**
 * Commit what a person saved from older versions, and what became of it. Their own text is a commit too: it is what
 * their editor has, and so what their next save is made from.
 */
export async function recordMerge(
  daemon: With<'files' | 'reports'>,
  saved: readonly Saved[],
  merged: Seen,
): Promise<void> {
  const {files} = daemon;
  for (const {seen, base} of saved) {
    if (base === undefined) await recordEdit(daemon, seen);
    else if (!files.known.get(seen.path)?.ignored && journalled(files, seen.path) !== inGit(files, seen).blob)
      addEdit(daemon, seen, base);
  }
  recordOwn(daemon, merged, {words: 'merged with what was written meanwhile', cause: 'merge'});
}

/** `passing`: what the person's file was before it became what it is. */
export function addEdit(
  daemon: With<'files' | 'reports'>,
  seen: Seen,
  before: string | undefined,
  {passing, former}: {passing?: Buffer; former?: Seen | undefined} = {},
): void {
  const {files} = daemon;
  const {path, kind} = seen;
  const {blob, change} = passing ? passed(seen, passing) : inGit(files, seen);
  const queue = isQueue(path);
  const edit = describeEdit(kind, before, passing?.toString() ?? seen.text ?? '', queue, text =>
    tasksOf(text, [seen, former]),
  );
  const trailers = queue
    ? edit.tasks.map((id): [string, string] => ['Approval', id])
    : [...trailersOf(seen, edit.tasks), ...approvalOf(seen)];
  const words = path === MAIL_CURSORS ? 'read on by agentdir mail' : `${edit.words} by hand`;
  const entry = edited(files, {path, kind, blob: passing ? blob : seen.blob}, words, trailers);
  add(daemon, path, blob, {changes: [change], author: 'human', ...entry});
}

/** What the journal says of a person's edit; of one by `agentdir undo`, what it takes back. */
function edited(
  files: HomeFiles,
  {path, kind, blob}: {path: string; kind: Kind; blob: string | null},
  words: string,
  trailers: readonly [string, string][] = [],
): Pick<Entry, 'subject' | 'trailers'> {
  const undo = undoMark(files.home, path, blob);
  return {
    subject: subject(kind, path, undo ? undoWords(undo) : words),
    trailers: [...trailers, ...(undo ? [['Undo', undo.commit] as const] : []), ['Cause', files.phase.cause]],
  };
}

function undoWords({commit, words}: UndoMark): string {
  return `took back ${commit.slice(0, 7)} (${visibleLine(words)}) by hand`;
}

/** The tasks of a text that may be the one of a file that is parsed. */
function tasksOf(text: string, files: readonly (Seen | undefined)[]): TaskFile {
  const parsed = files.find(file => file?.text === text)?.parsed;
  return parsed?.kind === 'tasks' || parsed?.kind === 'queue' ? parsed.file : parseTasks(text);
}

/** Which request a page is about. */
function approvalOf({kind, path}: Seen): [string, string][] {
  return kind === 'approval' ? [['Approval', stemOf(path)]] : [];
}

export function recordRemoval(daemon: With<'files' | 'reports'>, path: string): void {
  const {files} = daemon;
  const kind = kindOf(path);
  if (!kind || !isJournalled(kind) || journalled(files, path) === undefined) return;
  add(daemon, path, null, {
    changes: [{path, content: undefined, stat: undefined}],
    author: 'human',
    ...edited(files, {path, kind, blob: null}, 'removed by hand'),
  });
}

/** Commit what the daemon itself wrote, or keeps. `passing`: what the file would have been on the way to what it is. */
export function recordOwn(daemon: With<'files' | 'reports'>, seen: Seen, entry: OwnEntry, passing?: Buffer): void {
  const {files} = daemon;
  const {path, kind} = seen;
  const {words, cause, tasks, agent, trailers} = entry;
  const {blob, change} = passing ? passed(seen, passing) : inGit(files, seen);
  if (!isJournalled(kind) || files.known.get(path)?.ignored || journalled(files, path) === blob) return;
  const name = agent ?? 'agentdir';
  const own: Entry = {
    changes: [change],
    author: {name, email: `${name}@${files.name}`},
    subject: subject(kind, path, words),
    trailers: [...trailersOf(seen, tasks ?? []), ...(trailers ?? []), ['Cause', cause]],
  };
  add(daemon, path, blob, own, {made: seen.over});
}

/** Commit that the daemon moved a file: one commit, so that git shows where it went. */
export function recordMove(
  daemon: With<'files' | 'reports'>,
  from: string,
  seen: Seen,
  {words, cause, trailers}: OwnEntry,
): void {
  const {files} = daemon;
  const {blob, change} = inGit(files, seen);
  if (files.known.get(seen.path)?.ignored) return;
  const gone = journalled(files, from) === undefined ? [] : [{path: from, content: undefined, stat: undefined}];
  for (const {path} of gone) files.versions.underWay.set(path, null);
  add(
    daemon,
    seen.path,
    blob,
    {
      changes: [change, ...gone],
      author: {name: 'agentdir', email: `agentdir@${files.name}`},
      subject: subject(seen.kind, seen.path, words),
      trailers: [...(trailers ?? []), ['Cause', cause]],
    },
    {
      after: () => {
        for (const {path} of gone) if (files.versions.underWay.get(path) === null) files.versions.underWay.delete(path);
      },
    },
  );
}

/**
 * HEAD no longer has the file as it is, though nobody touched the file: a reset, or a commit from an index that was
 * behind. What was taken out of HEAD is committed again as it was, each version by whom it was.
 */
export async function recordAgain(daemon: With<'files' | 'reports'>, seen: Seen): Promise<void> {
  const {files} = daemon;
  const {path} = seen;
  const {blob, change} = inGit(files, seen);
  if (files.known.get(path)?.ignored || journalled(files, path) === blob) return;
  const undone = await files.journal.undone(path, blob);
  const entries: {blob: string; entry: Entry}[] = [];
  for (const {blob: id, mode, author, subject, trailers} of undone) {
    const bytes = id === blob ? undefined : await files.journal.read(id);
    const earlier = bytes && isMode(mode) && {path, content: {bytes, mode}, stat: undefined};
    if (id === blob || earlier)
      entries.push({blob: id, entry: {changes: [earlier || change], author, subject, trailers}});
  }
  for (const {blob: id, entry} of entries) add(daemon, path, id, entry);
  recordOwn(daemon, seen, {words: 'as the file is', cause: 'HEAD moved'});
}

function isMode(mode: string): mode is NonNullable<Entry['changes'][number]['content']>['mode'] {
  return mode === '100644' || mode === '100755' || mode === '120000';
}

export async function isIgnored(files: HomeFiles, path: string): Promise<boolean> {
  const known = files.known.get(path);
  const ignored = await files.versions.ignored.has(path);
  if (known) known.ignored = ignored;
  return ignored;
}
