type Swap = (one: string, other: string) => void;

let swap: Swap | undefined;
let loading: Promise<void> | undefined;

/** Node has no call for it; a package that npm installs if it can. Loaded with the first save: who only looks does without. */
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
    // Not installed, or not made for this machine.
  }
}

/** Two names change places, in one step; throws where one is not there. False: that is not to be had here, and nothing was done. */
export function swapFiles(one: string, other: string): boolean {
  if (!swap) return false;
  try {
    swap(one, other);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error;
    // A file system that cannot; or nobody can, and then a rename says why.
    return false;
  }
}
