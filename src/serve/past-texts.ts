import {mayBeOlder} from '../files/merge/merge-base.ts';
import {undoes} from '../files/merge/merge-lasting.ts';
import type {Version} from '../store/git/git-history.ts';
import {shortId} from '../store/replaced.ts';
import type {HomeFiles} from './home-files.ts';
import type {Seen} from './seen.ts';
import {textOf} from './state.ts';

/** How many earlier versions a stale buffer may be from; more are looked at only if it is from before all of these. */
export const VERSIONS = 20;
export const MOST_VERSIONS = 1_000;
/** And so many before the first of them that has nothing which is missed: not all that a version has is. */
const BEYOND = 5;
/** Characters of all of them. */
const MOST_TEXT = 64 * 1024 * 1024;

/** Versions, newest first, without a person's own commit of the text that is looked at. */
export function withoutOwn(versions: readonly Version[], blob: string): readonly Version[] {
  const [first] = versions;
  return first?.blob === blob && first.cause === undefined ? versions.slice(1) : versions;
}

/** Versions, the last known first, and whether a person made each of the one before it. */
export interface Texts {
  texts: string[];
  byPerson: boolean[];
}

type Past = Pick<Version, 'blob' | 'cause' | 'byPerson'>;

/**
 * The text of the last known version, then of earlier ones. Down to what the person saved last if this save was made
 * from that or a later one: an older one would make of a task they added and then removed one that their editor never
 * knew. Never a later one than the last known, such as one with errors: what that has and the last known has not would
 * count as taken away.
 */
export async function pastTexts(files: HomeFiles, seen: Seen, last: string, text: string): Promise<Texts> {
  const {path, kind} = seen;
  const {journal, versions} = files;
  const {earlier, crossed} = versions;
  const {madeFrom} = earlier;
  const waiting = files.versions.unpublished.get(path) ?? [];
  const passed = crossed.get(path);
  const recent = waiting.find(({blob}) => blob === last) ?? (passed?.blob === last ? passed : undefined);
  const now = seen.text ?? '';
  const mayBeFrom = mayBeOlder(kind, text, now);
  let texts: string[] = [];
  let byPerson: boolean[] = [];
  // What an earlier daemon left has its place among what git has, however long ago: in front it would seem to be the newest.
  const isLeft = (files.versions.earlier.left.get(path) ?? []).length > 0;
  for (const most of isLeft ? [MOST_VERSIONS] : [VERSIONS, MOST_VERSIONS]) {
    const past = withoutOwn(await journal.versions(path, most), seen.blob);
    // What a person committed since the last known was made is later than that; what we did is not.
    const since = recent ? past.findIndex(({blob}) => blob === recent.over) : 0;
    const older: Past[] = past.filter(
      ({cause}, i) => cause !== undefined || (since === -1 ? recent?.over : i >= since),
    );
    for (const version of files.versions.overtaken.get(path) ?? []) {
      const at = older.findIndex(({blob}) => blob === version.over);
      older.splice(at === -1 ? older.length : at, 0, version);
    }
    putLeft(files, path, older);
    const all = [...waiting, ...older];
    const from = all.findIndex(({blob}) => blob === last);
    texts = [text];
    byPerson = [from !== -1 && all[from]?.byPerson === true];
    let length = 0;
    let [found, looked] = [Number.POSITIVE_INFINITY, 0];
    const unknown = {blob: last, cause: '', byPerson: false};
    for (const [i, version] of (from === -1 ? [unknown, ...all] : all.slice(from)).entries()) {
      const {blob, cause} = version;
      const made = madeFrom.get(shortId(blob));
      for (const id of made === undefined ? [blob] : [blob, made]) {
        const own = id === last ? undefined : await textOf(files, id);
        if (own === undefined || texts.includes(own)) continue;
        texts.push(own);
        const {byPerson: isTheirs} =
          id === blob ? version : (all.find(other => other.blob === id) ?? leftAs(files, path, id));
        byPerson.push(isTheirs);
        length += own.length;
        // It has all that this version has: it is from about here, or later.
        if (i < found && !undoes(kind, own, now)) found = i;
      }
      looked = i;
      if (!mayBeFrom && (cause === undefined || version.byPerson)) return {texts, byPerson};
      if (length > MOST_TEXT || i >= Math.max(VERSIONS, found + BEYOND)) return {texts, byPerson};
    }
    if (looked >= found + BEYOND || past.length < most - 1) break;
  }
  return {texts, byPerson};
}

/** Among versions, newest first, those that an earlier daemon left and no commit has: each before or after what it was. */
function putLeft(files: HomeFiles, path: string, versions: Past[]): void {
  let at = 0;
  for (const {blob} of files.versions.earlier.left.get(path) ?? []) {
    const found = versions.findIndex(version => shortId(version.blob) === shortId(blob));
    if (found === -1) versions.splice(at++, 0, leftAs(files, path, blob));
    else at = Math.max(at, found + 1);
  }
}

/** A version that no commit has: a daemon's if it is one of those that daemons wrote, else the person's. */
function leftAs({versions}: HomeFiles, path: string, blob: string): Past {
  const {earlier} = versions;
  const {left} = earlier;
  const ours = left.get(path)?.some(version => version.ours && shortId(version.blob) === shortId(blob)) ?? false;
  return {blob, cause: ours ? 'recovered' : 'edit', byPerson: !ours};
}
