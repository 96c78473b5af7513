import {mayBeOlder} from '../formats/merge/merge-base.ts';
import {undoesLasting} from '../formats/merge/merge-lasting.ts';
import {versionText} from './accept-version.ts';
import type {FileSnapshot} from './file-snapshot.ts';
import type {HomeFiles} from './home-files.ts';

/** How many of git's versions are read at first; more only if the text is from before all of these. */
const VERSIONS = 20;
export const MAX_VERSIONS = 1_000;
/** So many more after the first version of which the text lacks nothing: not all that a version has is missed. */
const BEYOND = 5;
/** Characters of all of them. */
const MOST_TEXT = 64 * 1024 * 1024;

/** An earlier version of a file. */
interface PastVersion {
  blob: string;
  /** An edit that a person saved. */
  byPerson: boolean;
  /** A commit that the person made with git: it may hold what others wrote, too. */
  isOwnCommit: boolean;
  /** It was saved from an older version, and merged: the file never went on from it. */
  isStale: boolean;
  text: () => Promise<string | undefined>;
}

/** All versions of a file that are known, newest first: those of the version log, then those of git. One may come twice. */
export async function* pastVersions(
  files: HomeFiles,
  path: string,
  {ever = false}: {ever?: boolean} = {},
): AsyncGenerator<PastVersion> {
  yield* recordedVersions(files, path);
  yield* committedVersions(files, path, ever);
}

/** Versions that the log has. */
function* recordedVersions(files: HomeFiles, path: string): Generator<PastVersion> {
  for (const {blob, author, bytes, stale = false} of files.versions.history(path)) {
    if (blob === null) continue;
    yield {
      blob,
      byPerson: author === 'human',
      isOwnCommit: false,
      isStale: stale,
      text: async () => bytes()?.toString(),
    };
  }
}

/** Versions that git has. `ever`: however old they are. */
async function* committedVersions(files: HomeFiles, path: string, ever: boolean): AsyncGenerator<PastVersion> {
  let done = 0;
  for (const most of ever ? [MAX_VERSIONS] : [VERSIONS, MAX_VERSIONS]) {
    const {journal} = files;
    const versions = ever ? await journal.allVersions(path, most) : await journal.versions(path, most);
    for (const {blob, byPerson, cause} of versions.slice(done))
      yield {
        blob,
        byPerson,
        isOwnCommit: cause === undefined,
        isStale: false,
        text: () => versionText(files, blob, path),
      };
    if (versions.length < most - 1) return;
    done = versions.length;
  }
}

/** Texts of versions, the last accepted first, and whether a person made each from the one before it. */
export interface PastTexts {
  texts: string[];
  byPerson: boolean[];
}

/**
 * The texts that a save may be made from: the last accepted version `last`, whose text is `text`, then earlier ones. Down to what
 * the person saved last if this save was made from that or a later one: an older base would make of a task they added and then
 * removed one that their editor never knew.
 */
export async function pastTexts(files: HomeFiles, seen: FileSnapshot, last: string, text: string): Promise<PastTexts> {
  const {path, kind} = seen;
  const now = seen.text ?? '';
  const mayBeFrom = mayBeOlder(kind, text, now);
  const texts = [text];
  const byPerson = [false];
  let length = 0;
  let [found, i] = [Number.POSITIVE_INFINITY, 0];
  for await (const version of basesFrom(files, path, last)) {
    const {blob} = version;
    if (blob === last) {
      byPerson[0] = version.byPerson;
      if (!mayBeFrom && (version.byPerson || version.isOwnCommit)) break;
      continue;
    }
    if (blob === seen.blob && version.isOwnCommit) continue;
    const own = await version.text();
    if (own === undefined || texts.includes(own)) continue;
    texts.push(own);
    byPerson.push(version.byPerson);
    length += own.length;
    i++;
    // The text has all that this version has: it is from about here, or later.
    if (i < found && !undoesLasting(kind, own, now)) found = i;
    if (!mayBeFrom && (version.byPerson || version.isOwnCommit)) break;
    if (length > MOST_TEXT || i >= Math.max(VERSIONS, found + BEYOND)) break;
  }
  return {texts, byPerson};
}

/**
 * The versions that a person's editor may have been opened on: `last`, then those before it. Not those after it, which have errors or are
 * stale. Nor what a person committed with git since: the daemon never saw it, and it was itself made from one of these.
 */
async function* basesFrom(files: HomeFiles, path: string, last: string): AsyncGenerator<PastVersion> {
  const recorded = [...recordedVersions(files, path)];
  const known = new Set(recorded.map(({blob}) => blob));
  const at = recorded.findIndex(({blob}) => blob === last);
  yield* recorded.slice(Math.max(at, 0));
  let isKnown = false;
  for await (const version of committedVersions(files, path, false)) {
    isKnown ||= !version.isOwnCommit || known.has(version.blob) || version.blob === last;
    if (isKnown && !known.has(version.blob)) yield version;
  }
}
