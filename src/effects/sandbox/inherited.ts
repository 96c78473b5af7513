import {readdirSync, readFileSync} from 'node:fs';

const closeOnExec = 0o2000000;

let known: number[] | undefined;

/**
 * Whoever started the daemon may have left files open in it, which every child would inherit, into the sandbox as well:
 * an open folder there is a way out. What Node opens is closed at an exec, and so are the first 16; for the others
 * this is what to put in their place: `nothing`, as entries of `stdio` from number `from` on.
 */
export function coverInherited(from: number, nothing: number): readonly ('ignore' | number)[] {
  known ??= inherited();
  if (known.length === 0) return [];
  const stdio = new Array<'ignore' | number>(Math.max(...known) + 1).fill('ignore');
  for (const fd of known) stdio[fd] = nothing;
  return stdio.slice(from);
}

/** Empty where there is no /proc to tell. */
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
    return true; // the one that the folder itself was read by
  }
}
