import {closeSync, openSync} from 'node:fs';
import {createRequire} from 'node:module';

/**
 * Locks of the kernel's on open files (OFD locks). The kernel drops them when the process ends, however it ends, and
 * shows them to every process that can open the file, whatever container it runs in. Node has no call for them; the
 * optional package fs-native-extensions has.
 */
type TryLock = (fd: number, options?: {shared: boolean}) => boolean;

/** `null`: not installed, or not made for this machine. */
let loaded: TryLock | null | undefined;

function load(): TryLock | null {
  if (process.env.AGENTDIR_NO_SWAP) return null;
  try {
    return (createRequire(import.meta.url)('fs-native-extensions') as {tryLock: TryLock}).tryLock;
  } catch {
    return null;
  }
}

/** Lock this open file until it is closed. False: there are no such locks here. */
export function lockOpenFile(fd: number): boolean {
  loaded ??= load();
  try {
    return loaded?.(fd) ?? false;
  } catch {
    return false;
  }
}

/** Whether any process has this file locked; undefined if that cannot be known. Must not throw. */
export function isKernelLocked(path: string): boolean | undefined {
  loaded ??= load();
  if (!loaded) return undefined;
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    return !loaded(fd, {shared: true});
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
