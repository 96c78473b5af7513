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
import {add, inGit, passed, subject, trailersOf} from './record-entry.ts';
import type {Seen} from './seen.ts';
import type {Serving} from './serving.ts';
import {journalled, textOf} from './state.ts';

/** Commit what a person did to a file, as theirs. `former`: the file as it was last taken, which need not be parsed again. */
export async function recordEdit(serving: Serving, seen: Seen, former?: Seen): Promise<void> {
  const {path, kind} = seen;
  const before = journalled(serving, path);
  if (!isJournalled(kind)) return;
  if (before === inGit(serving, seen).blob) return recordMode(serving, seen);
  if (before === undefined && (await isIgnored(serving, path))) return;
  const old = before === undefined ? undefined : await textOf(serving, before);
  addEdit(serving, seen, old, {former});
}

/**
 * Commit what `agentdir undo` wrote. What the file was before that, and the journal does not have yet, is a commit too: an edit by
 * hand or another undo. So each is taken back by itself.
 */
export async function recordUndo(serving: Serving, seen: Seen, former?: Seen): Promise<void> {
  const {path, blob, kind} = seen;
  const passed = [...undosTo(serving.home, path, blob).map(({mark}) => mark.base), blob];
  const known = journalled(serving, path);
  // It may have been looked at before, and not all of them are committed by now.
  for (const base of known === undefined ? [] : passed.slice(passed.lastIndexOf(known) + 1, -1)) {
    const [before, bytes] = [journalled(serving, path), base === null ? undefined : await serving.journal.read(base)];
    if (before === undefined || !bytes || !isJournalled(kind)) continue;
    addEdit(serving, seen, await textOf(serving, before), {passing: bytes});
  }
  await recordEdit(serving, seen, former);
}

/** A person made the file executable, or no longer. Beside what is under way it comes to nothing if that has it already. */
async function recordMode(serving: Serving, seen: Seen): Promise<void> {
  const {path} = seen;
  const {blob, change} = inGit(serving, seen);
  const mode = change.content?.mode ?? '';
  if (!(await serving.journal.isOtherMode(path, mode))) return;
  add(serving, path, blob, {
    changes: [change],
    author: 'human',
    ...edited(serving, seen, `made ${mode === '100755' ? '' : 'not '}executable by hand`, trailersOf(seen, [])),
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
export async function recordMerge(serving: Serving, saved: readonly Saved[], merged: Seen): Promise<void> {
  for (const {seen, base} of saved) {
    if (base === undefined) await recordEdit(serving, seen);
    else if (!serving.known.get(seen.path)?.ignored && journalled(serving, seen.path) !== inGit(serving, seen).blob)
      addEdit(serving, seen, base);
  }
  recordOwn(serving, merged, {words: 'merged with what was written meanwhile', cause: 'merge'});
}

/** `passing`: what the person's file was before it became what it is. */
export function addEdit(
  serving: Serving,
  seen: Seen,
  before: string | undefined,
  {passing, former}: {passing?: Buffer; former?: Seen | undefined} = {},
): void {
  const {path, kind} = seen;
  const {blob, change} = passing ? passed(seen, passing) : inGit(serving, seen);
  const queue = isQueue(path);
  const edit = describeEdit(kind, before, passing?.toString() ?? seen.text ?? '', queue, text =>
    tasksOf(text, [seen, former]),
  );
  const trailers = queue
    ? edit.tasks.map((id): [string, string] => ['Approval', id])
    : [...trailersOf(seen, edit.tasks), ...approvalOf(seen)];
  const words = path === MAIL_CURSORS ? 'read on by agentdir mail' : `${edit.words} by hand`;
  const entry = edited(serving, {path, kind, blob: passing ? blob : seen.blob}, words, trailers);
  add(serving, path, blob, {changes: [change], author: 'human', ...entry});
}

/** What the journal says of a person's edit; of one by `agentdir undo`, what it takes back. */
function edited(
  serving: Serving,
  {path, kind, blob}: {path: string; kind: Kind; blob: string | null},
  words: string,
  trailers: readonly [string, string][] = [],
): Pick<Entry, 'subject' | 'trailers'> {
  const undo = undoMark(serving.home, path, blob);
  return {
    subject: subject(kind, path, undo ? undoWords(undo) : words),
    trailers: [...trailers, ...(undo ? [['Undo', undo.commit] as const] : []), ['Cause', serving.cause]],
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

export function recordRemoval(serving: Serving, path: string): void {
  const kind = kindOf(path);
  if (!kind || !isJournalled(kind) || journalled(serving, path) === undefined) return;
  add(serving, path, null, {
    changes: [{path, content: undefined, stat: undefined}],
    author: 'human',
    ...edited(serving, {path, kind, blob: null}, 'removed by hand'),
  });
}

/** Commit what the daemon itself wrote, or keeps. `passing`: what the file would have been on the way to what it is. */
export function recordOwn(serving: Serving, seen: Seen, entry: OwnEntry, passing?: Buffer): void {
  const {path, kind} = seen;
  const {words, cause, tasks, agent, trailers} = entry;
  const {blob, change} = passing ? passed(seen, passing) : inGit(serving, seen);
  if (!isJournalled(kind) || serving.known.get(path)?.ignored || journalled(serving, path) === blob) return;
  const name = agent ?? 'agentdir';
  const own: Entry = {
    changes: [change],
    author: {name, email: `${name}@${serving.name}`},
    subject: subject(kind, path, words),
    trailers: [...trailersOf(seen, tasks ?? []), ...(trailers ?? []), ['Cause', cause]],
  };
  add(serving, path, blob, own, {made: seen.over});
}

/** Commit that the daemon moved a file: one commit, so that git shows where it went. */
export function recordMove(serving: Serving, from: string, seen: Seen, {words, cause, trailers}: OwnEntry): void {
  const {blob, change} = inGit(serving, seen);
  if (serving.known.get(seen.path)?.ignored) return;
  const gone = journalled(serving, from) === undefined ? [] : [{path: from, content: undefined, stat: undefined}];
  for (const {path} of gone) serving.underWay.set(path, null);
  add(
    serving,
    seen.path,
    blob,
    {
      changes: [change, ...gone],
      author: {name: 'agentdir', email: `agentdir@${serving.name}`},
      subject: subject(seen.kind, seen.path, words),
      trailers: [...(trailers ?? []), ['Cause', cause]],
    },
    {
      after: () => {
        for (const {path} of gone) if (serving.underWay.get(path) === null) serving.underWay.delete(path);
      },
    },
  );
}

/**
 * HEAD no longer has the file as it is, though nobody touched the file: a reset, or a commit from an index that was
 * behind. What was taken out of HEAD is committed again as it was, each version by whom it was.
 */
export async function recordAgain(serving: Serving, seen: Seen): Promise<void> {
  const {path} = seen;
  const {blob, change} = inGit(serving, seen);
  if (serving.known.get(path)?.ignored || journalled(serving, path) === blob) return;
  const undone = await serving.journal.undone(path, blob);
  const entries: {blob: string; entry: Entry}[] = [];
  for (const {blob: id, mode, author, subject, trailers} of undone) {
    const bytes = id === blob ? undefined : await serving.journal.read(id);
    const earlier = bytes && isMode(mode) && {path, content: {bytes, mode}, stat: undefined};
    if (id === blob || earlier)
      entries.push({blob: id, entry: {changes: [earlier || change], author, subject, trailers}});
  }
  for (const {blob: id, entry} of entries) add(serving, path, id, entry);
  recordOwn(serving, seen, {words: 'as the file is', cause: 'HEAD moved'});
}

function isMode(mode: string): mode is NonNullable<Entry['changes'][number]['content']>['mode'] {
  return mode === '100644' || mode === '100755' || mode === '120000';
}

export async function isIgnored(serving: Serving, path: string): Promise<boolean> {
  const known = serving.known.get(path);
  const ignored = await serving.ignored.has(path);
  if (known) known.ignored = ignored;
  return ignored;
}
