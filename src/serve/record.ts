import {lstatSync} from 'node:fs';
import {join} from 'node:path';
import {describeEdit} from '../files/describe-edit.ts';
import {isJournalled, type Kind, kindOf, stemOf} from '../files/key.ts';
import type {Completed} from '../reconcile/complete.ts';
import type {Entry} from '../store/journal.ts';
import {linkTarget} from '../store/read.ts';
import {blobId} from '../store/replaced.ts';
import type {Seen} from './seen.ts';
import type {Serving} from './serving.ts';
import {journalled, textOf} from './state.ts';

/** Commit what a person did to a file, as theirs. */
export async function recordEdit(serving: Serving, seen: Seen): Promise<void> {
  const {path, kind} = seen;
  const before = journalled(serving, path);
  if (!isJournalled(kind) || before === inGit(serving, seen).blob) return;
  if (before === undefined && (await isIgnored(serving, path))) return;
  const old = before === undefined ? undefined : await textOf(serving, before);
  addEdit(serving, seen, old);
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
  recordOwn(serving, merged, {words: 'merged with what was written meanwhile', tasks: []}, 'merge');
}

function addEdit(serving: Serving, seen: Seen, before: string | undefined): void {
  const {path, kind} = seen;
  const {blob, change} = inGit(serving, seen);
  const edit = describeEdit(kind, before, seen.text ?? '');
  add(serving, path, blob, {
    changes: [change],
    author: 'human',
    subject: subject(kind, path, `${before === undefined ? 'created' : edit.words} by hand`),
    trailers: [...trailersOf(seen, edit.tasks), ['Cause', serving.cause]],
  });
}

export function recordRemoval(serving: Serving, path: string): void {
  const kind = kindOf(path);
  if (!kind || !isJournalled(kind) || journalled(serving, path) === undefined) return;
  add(serving, path, null, {
    changes: [{path, content: undefined, stat: undefined}],
    author: 'human',
    subject: subject(kind, path, 'removed by hand'),
    trailers: [['Cause', serving.cause]],
  });
}

/** Commit what the daemon itself wrote, or keeps. */
export function recordOwn(serving: Serving, seen: Seen, {words, tasks}: Omit<Completed, 'text'>, cause: string): void {
  const {path, kind} = seen;
  const {blob, change} = inGit(serving, seen);
  if (serving.known.get(path)?.ignored || journalled(serving, path) === blob) return;
  add(serving, path, blob, {
    changes: [change],
    author: {name: 'agentdir', email: `agentdir@${serving.name}`},
    subject: subject(kind, path, words),
    trailers: [...trailersOf(seen, tasks), ['Cause', cause]],
  });
}

async function isIgnored(serving: Serving, path: string): Promise<boolean> {
  const known = serving.known.get(path);
  const ignored = await serving.ignored.has(path);
  if (known) known.ignored = ignored;
  return ignored;
}

function add(serving: Serving, path: string, blob: string | null, entry: Entry): void {
  const {underWay, unpublished} = serving;
  underWay.set(path, blob);
  const cause = entry.trailers.find(([key]) => key === 'Cause')?.[1] ?? '';
  if (blob) unpublished.set(path, [{blob, cause}, ...(unpublished.get(path) ?? [])]);
  const done = () => {
    if (underWay.get(path) === blob) underWay.delete(path);
    const left = (unpublished.get(path) ?? []).filter(other => other.blob !== blob);
    if (left.length > 0) unpublished.set(path, left);
    else unpublished.delete(path);
  };
  serving.journal.add(entry).then(
    ({commit, subject, paths, already}) => {
      done();
      if (!already) serving.report({event: 'committed', commit, subject, paths});
    },
    // The journal was closed first: the next start finds the file and commits it.
    done,
  );
}

/** What git has of it: the content, or, of a file that is kept elsewhere, the link and nothing of what it leads to. */
function inGit({home}: Serving, {path, bytes, blob, stat}: Seen): {blob: string; change: Entry['changes'][number]} {
  const link = linkTarget(home, path);
  if (link === undefined)
    return {blob, change: {path, content: {bytes, mode: stat.mode & 0o100n ? '100755' : '100644'}, stat}};
  const target = Buffer.from(link);
  const own = lstatSync(join(home, path), {bigint: true});
  return {blob: blobId(target), change: {path, content: {bytes: target, mode: '120000'}, stat: own}};
}

function subject(kind: Kind, path: string, words: string): string {
  return `${kind}(${stemOf(path)}): ${words}`;
}

function trailersOf({facts: {session}}: Seen, tasks: readonly string[]): [string, string][] {
  const own: [string, string][] = session
    ? [
        ['Agent', session.agent],
        ['Session', session.id],
      ]
    : [];
  return [...own, ...tasks.map((id): [string, string] => ['Task', id])];
}
