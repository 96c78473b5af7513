type Swap = (one: string, other: string) => void;

let swap: Swap | undefined;
let loading: Promise<void> | undefined;

/** Load the optional package that swaps files, which Node cannot. Loaded with the first save: read-only commands do not need it. */
export async function loadSwap(): Promise<boolean> {
  loading ??= load();
  await loading;
  return swap !== undefined;
}

async function load(): Promise<void> {
  if (process.env.AGENTDIR_NO_SWAP) return;
  try {
    // @ts-expect-error It comes without types.
    swap = (await import('fs-native-extensions')).default.swapSync as Swap;
  } catch {
    // Not installed, or not built for this machine.
  }
}

/** Swap two files atomically. Throws if one does not exist. False: not supported here; nothing was done. */
export function swapFiles(one: string, other: string): boolean {
  if (!swap) return false;
  try {
    swap(one, other);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error;
    // The file system does not support it. For any other error, the caller's rename reports it.
    return false;
  }
}
