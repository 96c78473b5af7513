import type {HomeFiles} from './home-files.ts';

/** Versions of which a power cut may leave a part: as many as a busy session has before the kernel writes its folder to the disk by itself. */
const MOST_OLDER = 500;

/** The last versions of a path that the version log has, newest first. `before`: only those with smaller numbers. */
export function lastVersionTexts({versions}: HomeFiles, path: string, before = Number.POSITIVE_INFINITY): Buffer[] {
  const older = [...versions.history(path)].filter(({seq}) => seq < before);
  return older.slice(0, MOST_OLDER).flatMap(each => each.bytes() ?? []);
}

/**
 * Whether this is what a power cut left of a file, and nobody's edit: nothing, an older version, or the beginning of one with zeros or
 * the rest of another behind it.
 */
export function isDamaged(bytes: Buffer | undefined, versions: readonly Buffer[]): boolean {
  if (bytes === undefined || bytes.length === 0) return true;
  return versions.some(version => {
    let same = 0;
    while (same < bytes.length && bytes[same] === version[same]) same++;
    const rest = bytes.subarray(same);
    return rest.every(byte => byte === 0) || versions.some(other => rest.equals(other.subarray(same)));
  });
}

/** Whether the machine was started again since, and these bytes at this path are what a power cut left. */
export function isTorn(files: HomeFiles, path: string, bytes: Buffer): boolean {
  return files.versions.log.rebooted && isDamaged(bytes, lastVersionTexts(files, path));
}
