import {fstatSync, readFileSync, readlinkSync} from 'node:fs';
import {filesOpenElsewhere} from '../../home/disk/open-files.ts';

const LOOK_MS = 250;
/** Bits of an open file that say whether it is open for reading, writing or both. */
const ACCESS = 3;
const WRITING = 1;

/**
 * Calls `gone` when nobody reads our output any more (`agentdir log -f | head -1`): Node only notices at the next
 * write, which may never come. Looks up the reader in /proc. If it cannot be found there, the next write tells. Must
 * not throw.
 */
export function whenReaderGoes(gone: () => void): void {
  const pipe = pipeOf(1);
  let readers = pipe === undefined ? [] : readersOf(pipe);
  if (pipe === undefined || readers.length === 0) return;
  const timer = setInterval(() => {
    readers = readers.filter(place => linkAt(place) === pipe);
    if (readers.length > 0) return;
    // It may have been handed to another process.
    readers = readersOf(pipe);
    if (readers.length > 0) return;
    clearInterval(timer);
    gone();
  }, LOOK_MS);
  timer.unref();
}

function pipeOf(fd: number): string | undefined {
  try {
    return fstatSync(fd).isFIFO() ? linkAt(`/proc/self/fd/${fd}`) : undefined;
  } catch {
    return undefined;
  }
}

/** Where other processes have it open for reading: /proc/PID/fd/N. */
function readersOf(pipe: string): string[] {
  return [...filesOpenElsewhere()]
    .filter(({pid, fd, target}) => target === pipe && isForReading(pid, fd))
    .map(({place}) => place);
}

function isForReading(pid: string, fd: string): boolean {
  try {
    const [, flags = '1'] = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8')) ?? [];
    return (Number.parseInt(flags, 8) & ACCESS) !== WRITING;
  } catch {
    return false;
  }
}

function linkAt(place: string): string | undefined {
  try {
    return readlinkSync(place);
  } catch {
    return undefined;
  }
}
