import {createHash} from 'node:crypto';
import {lstatSync, readFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';
import {errorCode, isFailure} from '../tool/failure.ts';
import {pace} from '../tool/pace.ts';
import type {ToolContext, WholeState} from '../tool/tool.ts';
import {type ByteFolder, byteFolder, enterFolder, inFolder, leaveFolder, nameList} from './byte-folder.ts';
import {openFolder} from './folder.ts';
import {makeToolPath} from './place.ts';

/** Larger workspaces are refused: each look would take longer than ten seconds. */
const MOST_ENTRIES = 1_000_000;
/** Each level keeps a file descriptor open. */
const DEEPEST = 2_000;
/** Within this time, two changes of a file may get the same ctime. */
const TICK_MS = 20;
const MOST_LOOKS = 5;

/**
 * A digest of all names, files, links and folders of a workspace, whatever they are called and however deep. Files count
 * by inode, size, mode, mtime and ctime; no program can set ctime back. `problem`: why there is no digest that can be
 * trusted.
 */
export async function wholeState(
  context: Pick<ToolContext, 'home' | 'agent'>,
  signal: AbortSignal,
): Promise<WholeState> {
  for (let look = 1; ; look++) {
    const begun = Date.now();
    const state = await walk(context, signal);
    if ('problem' in state) return state;
    // A file that changed a moment ago could change again without a trace.
    if (state.newest < begun - TICK_MS || look === MOST_LOOKS) return {digest: state.digest};
    await pause(TICK_MS + 5, undefined, {signal});
  }
}

/** Whether the workspace has a repository other than the one the daemon keeps for it. */
export function hasOwnRepository({home, agent}: Pick<ToolContext, 'home' | 'agent'>): boolean {
  const workspace = join(home, 'workspaces', agent);
  const path = join(workspace, '.git');
  const stat = lstatSync(path, {throwIfNoEntry: false});
  if (!stat) return false;
  if (!stat.isFile() || stat.size > 4096) return true;
  const [, target = ''] = /^gitdir: (.+)\n?$/.exec(readFileSync(path, 'utf8')) ?? [];
  return resolve(workspace, target) !== join(home, '.workspaces', `${agent}.git`);
}

interface Level extends ByteFolder {
  names: string[];
}

async function walk(
  context: Pick<ToolContext, 'home' | 'agent'>,
  signal: AbortSignal,
): Promise<{digest: string; newest: number} | {problem: string}> {
  const root = openFolder(context, makeToolPath('workspace', []));
  if (isFailure(root)) return {problem: root.error};
  const hash = createHash('sha256');
  const breathe = pace(signal);
  const levels: Level[] = [{...byteFolder(root), names: []}];
  let entries = 0;
  let newest = 0;
  try {
    list(levels[0]);
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      const name = level.names.pop();
      if (name === undefined) {
        hash.update('/\n');
        leaveFolder(level);
        levels.pop();
        continue;
      }
      // The link to the history that the daemon keeps comes with the first call.
      if (level === levels[0] && name === '.git' && !hasOwnRepository(context)) continue;
      if (++entries > MOST_ENTRIES) return {problem: `it has more than ${MOST_ENTRIES.toLocaleString('en')} files`};
      const stat = lstatSync(inFolder(level, name), {throwIfNoEntry: false, bigint: true});
      // It vanished; nothing can be read of it.
      if (!stat) continue;
      const {ino, size, mtimeNs, ctimeNs, mode} = stat;
      newest = Math.max(newest, Number(ctimeNs / 1_000_000n));
      // A name has no line break at its end: escape it, so that no name can look like two entries.
      hash.update(JSON.stringify(name));
      if (stat.isDirectory()) {
        if (levels.length >= DEEPEST) return {problem: `its folders are more than ${DEEPEST} levels deep`};
        hash.update(` ${ino} ${mode}\n`);
        const below = enter(level, name);
        if (below) levels.push(below);
      } else hash.update(` ${ino} ${size} ${mtimeNs} ${ctimeNs} ${mode}\n`);
      await breathe();
    }
  } catch (error) {
    if (signal.aborted) throw error;
    return {problem: `a part of it cannot be read: ${(error as Error).message}`};
  } finally {
    for (const level of levels) leaveFolder(level);
  }
  return {digest: `sha256:${hash.digest('hex')}`, newest};
}

function list(level: Level | undefined): void {
  if (level) level.names = nameList(level).sort().reverse();
}

/** Undefined: it is gone. */
function enter(above: Level, name: string): Level | undefined {
  let level: Level;
  try {
    level = {...enterFolder(above, name), names: []};
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    list(level);
    return level;
  } catch (error) {
    leaveFolder(level);
    throw error;
  }
}
