import {lstatSync, readFileSync, realpathSync} from 'node:fs';
import {basename, dirname, join, resolve} from 'node:path';
import {within} from '../sandbox/profile.ts';

const MOST_BYTES = 1024 * 1024;

/** Folders that agents can write. */
const agents = ['workspaces', '.workspaces'];

/** Resolve `approvals.signers`, relative to the home. Rejects a file that an agent could have written. */
export function signersPath(home: string, setting: string): {path: string} | {problem: string} {
  const path = resolve(home, setting);
  try {
    const real = join(realpathSync(dirname(path)), basename(path));
    const top = realpathSync(home);
    if (
      agents.some(folder =>
        [path, real].some(place => within(place, join(home, folder)) || within(place, join(top, folder))),
      )
    )
      return {problem: `the file of signers, ${setting}, is in a workspace, where agents can write; move it`};
    return {path: real};
  } catch {
    return {problem: `the file of signers, ${setting}, is not there`};
  }
}

/** Never throws. */
export function readSigners(path: string): {text: string} | {problem: string} {
  try {
    const stat = lstatSync(path);
    if (!stat.isFile()) return {problem: `the file of signers, ${path}, is not a regular file`};
    if (stat.size > MOST_BYTES) return {problem: `the file of signers, ${path}, is larger than 1 MB`};
    return {text: readFileSync(path, 'utf8')};
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    return {problem: `the file of signers, ${path}, ${code === 'ENOENT' ? 'is not there' : `cannot be read: ${code}`}`};
  }
}
