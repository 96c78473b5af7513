import {readdirSync, readlinkSync, statSync} from 'node:fs';
import {setImmediate as turn} from 'node:timers/promises';

const SLICE_MS = 8;
const KEPT_MS = 1_000;

let last: {home: string; at: number; inodes: Promise<Set<bigint>>} | undefined;

/** Whether another process has this file of the home open, as far as /proc shows. One scan of /proc is cached for a second. */
export async function isOpenElsewhere(home: string, inode: bigint): Promise<boolean> {
  if (!last || last.home !== home || performance.now() - last.at > KEPT_MS)
    last = {home, at: performance.now(), inodes: openInodes(home)};
  return (await last.inodes).has(inode);
}

/** Inodes of the home's files that other processes have open. A replaced file shows up as its old name with "(deleted)". */
async function openInodes(home: string): Promise<Set<bigint>> {
  const inodes = new Set<bigint>();
  let pause = performance.now() + SLICE_MS;
  for (const pid of listing('/proc')) {
    if (!/^\d+$/.test(pid) || pid === String(process.pid)) continue;
    for (const fd of listing(`/proc/${pid}/fd`)) {
      try {
        const path = `/proc/${pid}/fd/${fd}`;
        if (readlinkSync(path).startsWith(`${home}/`)) inodes.add(statSync(path, {bigint: true}).ino);
      } catch {
        // Closed meanwhile.
      }
    }
    if (performance.now() < pause) continue;
    await turn();
    pause = performance.now() + SLICE_MS;
  }
  return inodes;
}

/** Empty if there is no /proc, or if the process belongs to another user. */
function listing(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
