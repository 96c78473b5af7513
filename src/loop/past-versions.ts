import {mayBeOlder} from '../formats/merge/merge-base.ts';
import {undoesLasting} from '../formats/merge/merge-lasting.ts';
import {versionText} from './accept-version.ts';
import type {FileSnapshot} from './file-snapshot.ts';
import type {HomeFiles} from './home-files.ts';

/** How many of git's versions to read first. More are read only if none of these is the base. */
const VERSIONS = 20;
export const MAX_VERSIONS = 1_000;
/** How many versions to read beyond the first one of which the text lacks nothing: an older one may still be the base. */
const BEYOND = 5;
/** Total characters to read. */
const MOST_TEXT = 64 * 1024 * 1024;

/** An earlier version of a file. */
interface PastVersion {
  blob: string;
  /** A person saved it. */
  byPerson: boolean;
  /** A person committed it with git. It may contain other authors' changes, too. */
  isOwnCommit: boolean;
  /** It was saved from an older version and merged, so no later version is based on it alone. */
  isStale: boolean;
  text: () => Promise<string | undefined>;
}

/** All versions of a file, newest first: those of the version log, then those of git. `ever`: from all of history. */
export async function* pastVersions(
  files: HomeFiles,
  path: string,
  {ever = false}: {ever?: boolean} = {},
): AsyncGenerator<PastVersion> {
  yield* recordedVersions(files, path);
  yield* committedVersions(files, path, ever);
}

/** Versions in the version log. */
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

/** Versions in git. `ever`: from all of history. */
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

/** Texts of versions, the last accepted first, and whether a person wrote each. */
export interface PastTexts {
  texts: string[];
  byPerson: boolean[];
}

/**
 * The texts that a save may be made from: the last accepted version `last`, whose text is `text`, then earlier ones. Stops at the
 * person's last save if this save cannot be older: with an older base, a task that they added and then removed would come back.
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
    const past = await version.text();
    if (past === undefined || texts.includes(past)) continue;
    texts.push(past);
    byPerson.push(version.byPerson);
    length += past.length;
    i++;
    // The save lacks nothing of this version: its base is about here, or later.
    if (i < found && !undoesLasting(kind, past, now)) found = i;
    if (!mayBeFrom && (version.byPerson || version.isOwnCommit)) break;
    if (length > MOST_TEXT || i >= Math.max(VERSIONS, found + BEYOND)) break;
  }
  return {texts, byPerson};
}

/**
 * The versions that a person's editor may have opened: `last`, then earlier ones. Later ones are left out because they have errors or
 * are stale. So are a person's later git commits: the daemon never saw them, and they are based on one of these versions.
 */
async function* basesFrom(files: HomeFiles, path: string, last: string): AsyncGenerator<PastVersion> {
  const recorded = [...recordedVersions(files, path)];
  const known = new Set(recorded.map(({blob}) => blob));
  const replaced = new Set([...files.versions.history(path)].map(({replaces}) => replaces));
  const at = recorded.findIndex(({blob}) => blob === last);
  yield* recorded.slice(Math.max(at, 0));
  let isKnown = false;
  for await (const version of committedVersions(files, path, false)) {
    isKnown ||= !version.isOwnCommit || known.has(version.blob) || replaced.has(version.blob) || version.blob === last;
    if (isKnown && !known.has(version.blob)) yield version;
  }
}
