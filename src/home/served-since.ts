import type {Disk} from './disk/disk.ts';

/**
 * When the first daemon served this home, in nanoseconds of the file system's clock. Starts over if `.agentdir` is emptied. `NEVER` if
 * the mark cannot be written.
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
