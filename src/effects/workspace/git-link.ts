import {randomBytes} from 'node:crypto';
import {closeSync, constants, lstatSync, openSync, readSync, renameSync, unlinkSync, writeFileSync} from 'node:fs';
import {linkText} from '../sandbox/profile.ts';
import {errorCode, isFailure} from '../tool/failure.ts';
import type {ToolFailure} from '../tool/tool.ts';
import {closeFolder, confirm, entryOf, type Folder, openFolder} from './folder.ts';
import {makeToolPath} from './place.ts';

const OPEN_FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
const MOST_FOUND = 1000;

/** Name of a `.git` that was moved aside; git does not look for it. */
const foundName = (n: number) => `.git-found-${n}`;

/**
 * Make the workspace's `.git` our link file. Anything else there belongs to an agent (or is a person's own repository)
 * and is moved aside without looking into it; the note says so. Throws system errors.
 */
export function keepLink(home: string, agent: string): {note?: string} | ToolFailure {
  const folder = openFolder({home, agent}, makeToolPath('workspace', []));
  if (isFailure(folder)) return folder;
  try {
    const text = linkText(agent);
    const state = look(folder, text);
    if (state === 'ours') return {};
    const aside = state === 'foreign' ? moveAside(folder, entryOf(folder, '.git')) : undefined;
    write(folder, text);
    return aside === undefined
      ? {}
      : {note: `.git of the workspace was not the one that agentdir keeps; it was moved to ${aside} and is not used`};
  } finally {
    closeFolder(folder);
  }
}

function look(folder: Folder, text: string): 'ours' | 'foreign' | 'none' {
  const path = entryOf(folder, '.git');
  const stat = lstatSync(path, {throwIfNoEntry: false});
  if (!stat) return 'none';
  if (!stat.isFile() || stat.size !== text.length) return 'foreign';
  let fd: number;
  try {
    fd = openSync(path, OPEN_FILE);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 'none';
    return 'foreign';
  }
  try {
    confirm(folder, '.git', fd);
    const bytes = Buffer.alloc(text.length + 1);
    return bytes.toString('latin1', 0, readSync(fd, bytes)) === text ? 'ours' : 'foreign';
  } finally {
    closeSync(fd);
  }
}

/** Move whatever is at this path to the top folder of the workspace; returns the new name. */
export function moveAside(folder: Folder, path: string | Buffer): string {
  for (let n = 1; n <= MOST_FOUND; n++) {
    const name = foundName(n);
    if (lstatSync(entryOf(folder, name), {throwIfNoEntry: false})) continue;
    renameSync(path, entryOf(folder, name));
    return name;
  }
  throw new Error(`there are ${MOST_FOUND} of .git-found-… already`);
}

function write(folder: Folder, text: string): void {
  const temporary = `.agentdir-${randomBytes(8).toString('hex')}.tmp`;
  writeFileSync(entryOf(folder, temporary), text, {flag: 'wx', mode: 0o444});
  try {
    renameSync(entryOf(folder, temporary), entryOf(folder, '.git'));
  } catch (error) {
    unlinkSync(entryOf(folder, temporary));
    throw error;
  }
}
