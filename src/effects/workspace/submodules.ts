import {lstatSync} from 'node:fs';
import {visibleLine} from '../../formats/common/visible.ts';
import {entryCount} from '../../home/git/git-index.ts';
import {errorCode, isFailure} from '../tool/failure.ts';
import {byteFolder, enterFolder, inFolder, leaveFolder, textOfName} from './byte-folder.ts';
import {cleanGit} from './clean-git.ts';
import {modes} from './file-content.ts';
import {closeFolder, type Folder, openFolder} from './folder.ts';
import {moveAside} from './git-link.ts';
import {type History, readWorkspaceIndex} from './history.ts';
import {type IndexState, isSkipped, modeIn, nameIn} from './index-state.ts';
import {makeToolPath} from './place.ts';

/**
 * A person's `git status` enters the folder of each submodule and runs what a `.git` there says, which an agent may
 * have written. So set skip-worktree for submodules and move such a `.git` aside. Returns a note for each move.
 */
export async function closeSubmodules(history: History): Promise<string[]> {
  const {names, open} = submodulesIn(await readWorkspaceIndex(history));
  if (names.length === 0) return [];
  const list = Buffer.from(open.map(name => `${name}\0`).join(''), 'latin1');
  // This fails while a person's git holds the index; the next call tries again.
  if (open.length > 0)
    await cleanGit(history.gitDir, ['update-index', '-z', '--skip-worktree', '--stdin'], {input: list});
  const top = openFolder(history, makeToolPath('workspace', []));
  if (isFailure(top)) return [];
  try {
    return names.flatMap(name => {
      const aside = emptyOut(top, name);
      const shown = visibleLine(textOfName(name));
      return aside === undefined
        ? []
        : [`${shown}/.git stood where a submodule is; it was moved to ${aside} and is not used`];
    });
  } finally {
    closeFolder(top);
  }
}

interface Submodules {
  names: readonly string[];
  /** Submodules without skip-worktree. */
  open: readonly string[];
}

const known = new WeakMap<IndexState, Submodules>();

function submodulesIn(state: IndexState): Submodules {
  const before = known.get(state);
  if (before) return before;
  const places: number[] = [];
  for (let i = 0, count = entryCount(state.index); i < count; i++)
    if (modeIn(state, i) === modes.repository) places.push(i);
  const found = {
    names: places.map(i => nameIn(state, i)),
    open: places.flatMap(i => (isSkipped(state, i) ? [] : [nameIn(state, i)])),
  };
  known.set(state, found);
  return found;
}

/** Move the `.git` of a submodule aside, if there is one; returns its new name. */
function emptyOut(top: Folder, name: string): string | undefined {
  let folder = byteFolder(top);
  try {
    for (const part of name.split('/')) {
      const next = enterFolder(folder, part);
      if (folder.fd !== top.fd) leaveFolder(folder);
      folder = next;
    }
    const path = inFolder(folder, '.git');
    return lstatSync(path, {throwIfNoEntry: false}) ? moveAside(top, path) : undefined;
  } catch (error) {
    // Not a folder: git does not go there either.
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  } finally {
    if (folder.fd !== top.fd) leaveFolder(folder);
  }
}
