import {readdirSync, readFileSync} from 'node:fs';

const closeOnExec = 0o2000000;

let known: number[] | undefined;

/**
 * Cover file descriptors that the daemon inherited from its parent: children, even sandboxed ones, would inherit them
 * too, and an open folder is a way out of the sandbox. Node closes its own descriptors and the first 16 on exec. For
 * the others, returns `stdio` entries from index `from` on that replace each with `nothing`.
 */
export function coverInherited(from: number, nothing: number): readonly ('ignore' | number)[] {
  known ??= inherited();
  if (known.length === 0) return [];
  const stdio = new Array<'ignore' | number>(Math.max(...known) + 1).fill('ignore');
  for (const fd of known) stdio[fd] = nothing;
  return stdio.slice(from);
}

/** Empty without /proc. */
function inherited(): number[] {
  try {
    return readdirSync('/proc/self/fdinfo')
      .map(Number)
      .filter(fd => fd > 2 && !isClosedOnExec(fd));
  } catch {
    return [];
  }
}

function isClosedOnExec(fd: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1] ?? '0';
    return (Number.parseInt(flags, 8) & closeOnExec) !== 0;
  } catch {
    return true; // the descriptor that reads the folder itself
  }
}
