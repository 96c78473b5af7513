type Swap = (one: string, other: string) => void;

let swap: Swap | undefined;
let asked = false;

/** Said where the machine or the file system knows no such call. */
const UNKNOWN = new Set(['EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EPERM']);

/** Node has no call for it; a package that npm installs if it can. Loaded with the first save: who only looks does without. */
export async function loadSwap(): Promise<boolean> {
  if (!asked) {
    asked = true;
    if (!process.env.AGENTDIR_NO_SWAP)
      try {
        // @ts-expect-error It comes without types.
        swap = (await import('fs-native-extensions')).default.swapSync as Swap;
      } catch {
        // Not installed, or not made for this machine.
      }
  }
  return swap !== undefined;
}

/** Two names change places, in one step. False: that is not to be had here, and nothing was done. */
export function swapFiles(one: string, other: string): boolean {
  try {
    swap?.(one, other);
  } catch (error) {
    if (!UNKNOWN.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    swap = undefined;
  }
  return swap !== undefined;
}
