import {lstatSync} from 'node:fs';
import {join} from 'node:path';
import {type Kind, stemOf} from '../files/key.ts';
import {visibleLine} from '../files/visible.ts';
import {blobId} from '../store/git/blob-id.ts';
import {isEdit} from '../store/git/git-history.ts';
import type {Entry} from '../store/journal.ts';
import {linkTarget} from '../store/read.ts';
import {forgetUndo} from '../store/undo-marks.ts';
import type {HomeFiles, Unpublished} from './home-files.ts';
import {isExecutable} from './known.ts';
import type {With} from './parts.ts';
import type {Seen} from './seen.ts';

interface Adding {
  after?: (() => void) | undefined;
  /** What git had of it when it was made, and when that was: before it is recorded, a person may commit something else. */
  made?: Seen['over'] | undefined;
}

/** Hand it to the journal; until it is in git, it is known here. */
export function add(
  {files, reports}: With<'files' | 'reports'>,
  path: string,
  blob: string | null,
  {subject, trailers, ...rest}: Entry,
  {after, made = {blob: files.journal.committed.get(path), at: Date.now()}}: Adding = {},
): void {
  const {versions, journal} = files;
  const {underWay, unpublished, crossed, aside} = versions;
  const {redact} = reports;
  const entry = {...rest, subject: redact.text(subject), trailers: redact.value(trailers)};
  underWay.set(path, blob);
  const cause = entry.trailers.find(([key]) => key === 'Cause')?.[1] ?? '';
  const over = made.blob;
  const byPerson = isEdit(cause, entry.author === 'human');
  if (blob) unpublished.set(path, [{blob, cause, byPerson, over}, ...(unpublished.get(path) ?? [])]);
  const done = () => {
    after?.();
    if (underWay.get(path) === blob) underWay.delete(path);
    const left = (unpublished.get(path) ?? []).filter(other => other.blob !== blob);
    if (left.length > 0) unpublished.set(path, left);
    else unpublished.delete(path);
  };
  const published = journal.add(entry);
  const bytes = blob && entry.author !== 'human' && !journal.isKept(blob) && entry.changes[0]?.content?.bytes;
  const drop = bytes ? aside.keep(path, blob, bytes) : undefined;
  published.then(
    ({commit, subject, paths, already}) => {
      done();
      drop?.();
      if (entry.trailers.some(([key]) => key === 'Undo')) forgetUndo(files.home, path, blob);
      if (!already) {
        if (blob && journal.isForeign(path, made.at)) crossed.set(path, {blob, over});
        else crossed.delete(path);
        reports.report({event: 'committed', commit, subject, paths});
      } else if (blob && journal.committed.get(path) !== blob)
        keepOvertaken(files, path, {blob, cause, byPerson, over});
    },
    // The journal was closed first: the next start finds the file and commits it.
    done,
  );
}

/** So many of a file. */
const OVERTAKEN = 20;

/** It is in no commit, so its text is kept by itself. */
function keepOvertaken({versions, texts, journal}: HomeFiles, path: string, version: Unpublished): void {
  const {overtaken} = versions;
  overtaken.set(path, [version, ...(overtaken.get(path) ?? [])].slice(0, OVERTAKEN));
  const text = texts.get(version.blob);
  try {
    if (text !== undefined) journal.keep(Buffer.from(text));
  } catch {
    // A full disk: it is known as long as its text is.
  }
}

/** A version that the file no longer has. */
export function passed({path, stat}: Seen, bytes: Buffer): {blob: string; change: Entry['changes'][number]} {
  const mode = isExecutable(stat) ? '100755' : '100644';
  return {blob: blobId(bytes), change: {path, content: {bytes, mode}, stat: undefined}};
}

/** What git has of it: the content, or, of a file that is kept elsewhere, the link and nothing of what it leads to. */
export function inGit(
  {home}: HomeFiles,
  {path, bytes, blob, stat, link: linked}: Seen,
): {blob: string; change: Entry['changes'][number]} {
  const link = linked ? linkTarget(home, path) : undefined;
  if (link === undefined)
    return {blob, change: {path, content: {bytes, mode: isExecutable(stat) ? '100755' : '100644'}, stat}};
  const target = Buffer.from(link);
  const own = lstatSync(join(home, path), {bigint: true});
  return {blob: blobId(target), change: {path, content: {bytes: target, mode: '120000'}, stat: own}};
}

export function subject(kind: Kind, path: string, words: string): string {
  return `${kind}(${visibleLine(stemOf(path))}): ${words}`;
}

export function trailersOf({facts: {session}}: Seen, tasks: readonly string[]): [string, string][] {
  const own: [string, string][] = session
    ? [
        ['Agent', session.agent],
        ['Session', session.id],
      ]
    : [];
  return [...own, ...tasks.map((id): [string, string] => ['Task', id])];
}
