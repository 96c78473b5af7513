import type {Disk} from './disk/disk.ts';

/**
 * When the first daemon of this home began, by the clock of its file system, in nanoseconds; if `.agentdir` was emptied since, the first
 * after that. Never, if that cannot be written.
 */
export function servedSince(disk: Disk): bigint {
  const mark = '.agentdir/served';
  try {
    disk.makeDirectory('.agentdir');
    disk.open(mark, 'a').close();
    return disk.stat(mark)?.mtimeNs ?? NEVER;
  } catch {
    return NEVER;
  }
}

const NEVER = 2n ** 63n;
