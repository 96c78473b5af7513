import type {Disk} from './disk.ts';
import {blobId} from './git/blob-id.ts';
import {type Replaced, shortId} from './replaced.ts';

/** A file as it was when the daemon replaced it, and what took its place: versions that history may not have. */
export interface Passed {
  path: string;
  at: number;
  /** Git's name for what was replaced, and the beginning of that for what took its place. */
  base: string;
  next: string;
  /** What was replaced. */
  bytes: () => Buffer | undefined;
  forget: () => void;
}

const FOLDER = '.agentdir/passed';
/** For so long somebody may have it open in an editor. */
export const KEPT_MS = 3_600_000;
/** Of a file. */
const MOST = 20;

/** Nobody writes into it any more, but somebody's buffer may be of it: keep it, for daemons to come. */
export function pass(disk: Disk, {link, at}: Pick<Replaced, 'link' | 'at'>): Passed | undefined {
  const name = `${Math.trunc(at)}.${link.slice(link.lastIndexOf('/') + 1)}`;
  try {
    disk.makeDirectory(FOLDER);
    disk.rename(link, `${FOLDER}/${name}`);
    return passedAt(disk, name);
  } catch {
    // Too long a name, or somebody emptied .agentdir. What cannot be kept must not stay where it was.
    disk.unlinkSoon(link);
    return undefined;
  }
}

function passedAt(disk: Disk, name: string): Passed {
  const file = `${FOLDER}/${name}`;
  const [at = '', base = '', , next = '', encoded = ''] = name.split('.');
  return {
    path: Buffer.from(encoded, 'base64url').toString(),
    at: Number(at),
    base,
    next,
    bytes: () => {
      const bytes = disk.read(file);
      return blobId(bytes) === base ? bytes : undefined;
    },
    forget: () => disk.unlinkSoon(file),
  };
}

/** What earlier runs passed, newest first. What is too old, or too much of one file, is let go. */
export function leftPassed(disk: Disk, now: number): Passed[] {
  const names = disk.exists(FOLDER) ? disk.names(FOLDER) : [];
  const all = names.map(name => passedAt(disk, name)).sort((a, b) => b.at - a.at);
  const counts = new Map<string, number>();
  return all.filter(passed => {
    const count = (counts.get(passed.path) ?? 0) + 1;
    counts.set(passed.path, count);
    const keep = count <= MOST && now - passed.at < KEPT_MS;
    if (!keep) passed.forget();
    return keep;
  });
}

/** Git's names, or their beginnings, of the versions that these were, newest first, and whether a daemon wrote each. */
export function versionsIn(newestFirst: readonly Pick<Passed, 'base' | 'next'>[]): {blob: string; ours: boolean}[] {
  const ours = new Set(newestFirst.map(({next}) => next));
  const seen = new Set<string>();
  return newestFirst
    .flatMap(({base, next}) => [next, base])
    .flatMap(blob => {
      const short = shortId(blob);
      if (seen.has(short)) return [];
      seen.add(short);
      const full = newestFirst.find(({base}) => shortId(base) === short)?.base;
      return [{blob: full ?? blob, ours: ours.has(short)}];
    });
}
