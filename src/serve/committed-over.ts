import {undoes} from '../files/merge/merge-lasting.ts';
import type {Version} from '../store/git/git-history.ts';
import type {HomeFiles} from './home-files.ts';
import type {Seen} from './seen.ts';
import {textOf} from './state.ts';

/** More than a person commits of one file while no daemon runs. */
const MOST = 100;

/**
 * At the start: what HEAD has of a file may be what a person committed while no daemon ran, of a buffer from before the last one
 * wrote. That makes it no less stale, so what was known last is what the last daemon had, or what the person brought back by
 * git since. Git's name for that; undefined if nobody committed.
 */
export async function takeCommittedOver(files: HomeFiles, {path, kind, text, link}: Seen): Promise<string | undefined> {
  const {known, journal, versions} = files;
  const {earlier} = versions;
  const {committedOver, leftBefore} = earlier;
  const over = committedOver.get(path);
  committedOver.delete(path);
  if (over === undefined || text === undefined || link || known.has(path)) return undefined;
  const last = await textOf(files, over);
  const isUndone = last !== undefined && undoes(kind, last, text);
  if (!isUndone && !leftBefore.has(path)) return undefined;
  const history = await journal.versions(path, MOST);
  const before = history.findIndex(({blob}) => blob === over);
  // The person committed what a daemon had written and could not commit: that is newer than all that is known.
  const older = before === -1 ? [] : history.slice(before + 1);
  if (await hasOtherTimes(files, text, [over, ...older.map(({blob}) => blob)])) return undefined;
  const own = history.findIndex(({blob, cause}) => blob === over || cause !== undefined);
  const meant = await broughtBack(files, history, own === -1 ? history.length : own);
  const blob = meant ?? over;
  // No file has this signature: the one that is there is another.
  if (isUndone) known.set(path, {signature: '', blob, good: blob, ignored: false, settled: false});
  return blob;
}

/** The newest of the first `count` versions, newest first, all of whose lines an older one had. */
async function broughtBack(files: HomeFiles, versions: readonly Version[], count: number): Promise<string | undefined> {
  const texts: string[] = [];
  for (const {blob} of versions) texts.push((await textOf(files, blob)) ?? '');
  const at = texts.slice(0, count).findIndex((text, i) => {
    const older = new Set(texts.slice(i + 1).flatMap(other => other.split('\n')));
    return text.split('\n').every(line => older.has(line));
  });
  return versions[at]?.blob;
}

/** Times as daemons write them, and hardly anybody by hand. */
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

/** Whether it has a time that none of these versions has. */
async function hasOtherTimes(files: HomeFiles, text: string, blobs: readonly string[]): Promise<boolean> {
  const times = new Set(text.match(TIME));
  for (const blob of blobs) {
    if (times.size === 0) return false;
    for (const time of (await textOf(files, blob))?.match(TIME) ?? []) times.delete(time);
  }
  return times.size > 0;
}
