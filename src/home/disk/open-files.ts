import {readdirSync, readlinkSync, statSync} from 'node:fs';
import {setImmediate as turn} from 'node:timers/promises';

const SLICE_MS = 8;
/** Less than the time from a replacement of a file to the check who has it open. */
const KEPT_MS = 1_000;

/** A file that a process has open. `place`: its link in /proc; `target`: where it leads, with "(deleted)" for a removed file. */
interface OpenFileLink {
  pid: string;
  fd: string;
  place: string;
  target: string;
}

let last: {home: string; at: number; inodes: Promise<Set<bigint>>} | undefined;

/** Whether another process has this file of the home open, as far as /proc shows. One scan of /proc is cached for a second. */
export async function isOpenElsewhere(home: string, inode: bigint): Promise<boolean> {
  if (!last || last.home !== home || performance.now() - last.at > KEPT_MS)
    last = {home, at: performance.now(), inodes: openInodes(home)};
  return (await last.inodes).has(inode);
}

/** Inodes of the home's files that other processes have open. */
async function openInodes(home: string): Promise<Set<bigint>> {
  const inodes = new Set<bigint>();
  let pause = performance.now() + SLICE_MS;
  for (const {place, target} of filesOpenElsewhere()) {
    try {
      if (target.startsWith(`${home}/`)) inodes.add(statSync(place, {bigint: true}).ino);
    } catch {
      // Closed meanwhile.
    }
    if (performance.now() < pause) continue;
    await turn();
    pause = performance.now() + SLICE_MS;
  }
  return inodes;
}

/** Files that other processes have open. Nothing if there is no /proc; processes of other users show none. */
export function* filesOpenElsewhere(): Generator<OpenFileLink> {
  for (const pid of namesIn('/proc')) {
    if (!/^\d+$/.test(pid) || pid === String(process.pid)) continue;
    for (const fd of namesIn(`/proc/${pid}/fd`)) {
      const place = `/proc/${pid}/fd/${fd}`;
      const target = targetOf(place);
      if (target !== undefined) yield {pid, fd, place, target};
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function targetOf(place: string): string | undefined {
  try {
    return readlinkSync(place);
  } catch {
    // Closed meanwhile.
    return undefined;
  }
}
