import {closeSync, openSync} from 'node:fs';
import {createRequire} from 'node:module';

/**
 * Kernel locks on open files (OFD locks). The kernel drops them when the process ends for any reason, and every process that can open the
 * file sees them, in any container. Node has no API for them; the optional package fs-native-extensions has.
 */
type TryLock = (fd: number, options?: {shared: boolean}) => boolean;

/** `null`: not installed, or not built for this machine. */
let loaded: TryLock | null | undefined;

function load(): TryLock | null {
  if (process.env.AGENTDIR_NO_SWAP) return null;
  try {
    return (createRequire(import.meta.url)('fs-native-extensions') as {tryLock: TryLock}).tryLock;
  } catch {
    return null;
  }
}

/** Lock this open file until it is closed. False: not supported here. */
export function lockOpenFile(fd: number): boolean {
  loaded ??= load();
  try {
    return loaded?.(fd) ?? false;
  } catch {
    return false;
  }
}

/** Whether any process has locked this file. Undefined: unknown. Must not throw. */
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
