import {closeSync, constants, type Dirent, fchmodSync, fstatSync, lstatSync, openSync} from 'node:fs';
import {isFailure} from '../tool/failure.ts';
import {pace} from '../tool/pace.ts';
import type {ToolContext} from '../tool/tool.ts';
import {type ByteFolder, byteFolder, enterFolder, entriesIn, inFolder, leaveFolder, textOfName} from './byte-folder.ts';
import {openFolder} from './folder.ts';
import {makeToolPath} from './place.ts';
import {isTemporary} from './replace-file.ts';

/** Where the daemon saves long outputs; not part of the agent's work. */
export const OUTPUT_FOLDER = '.output';

/** Where the daemon saves untrusted outputs. Hidden from commands that do not name it. */
export const UNTRUSTED_FOLDER = '.untrusted';

export interface Snapshot {
  /** Signature of each file, link and folder; folders end in `/`. */
  files: ReadonlyMap<string, string>;
  /** Files whose set-user-id bits were removed. */
  dropped: readonly string[];
}

export interface ChangedFile {
  path: string;
  change: 'created' | 'modified' | 'deleted';
}

/** Larger workspaces are not compared: that would take longer than most commands. */
const MOST_ENTRIES = 50_000;
const DEEPEST = 200;

const SET_ID = 0o6000;
const OPEN_FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

interface Level extends ByteFolder {
  prefix: string;
  entries: Dirent[];
}

/**
 * Undefined if there is too much, or no workspace. Links are not followed; files that vanish meanwhile are skipped.
 * `dropping`: remove set-user-id and set-group-id bits, because whoever runs such a file acts as the daemon's user.
 */
export async function snapshot(
  context: ToolContext,
  signal: AbortSignal,
  dropping = false,
): Promise<Snapshot | undefined> {
  const root = openFolder(context, makeToolPath('workspace', []));
  if (isFailure(root)) return undefined;
  const files = new Map<string, string>();
  const dropped: string[] = [];
  const breathe = pace(signal);
  const levels: Level[] = [listed(byteFolder(root), '')];
  try {
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      const entry = level.entries.pop();
      if (!entry) {
        leaveFolder(level);
        levels.pop();
        continue;
      }
      if (files.size >= MOST_ENTRIES || levels.length > DEEPEST) return undefined;
      const name = textOfName(entry.name);
      // Names that are not UTF-8 are shown as latin1.
      const shown = level.prefix + (name.includes('\ufffd') ? entry.name : name);
      const [top] = shown.split('/', 1);
      const own = top === OUTPUT_FOLDER || top === UNTRUSTED_FOLDER || isTemporary(name);
      if (entry.isDirectory()) {
        if (!own) files.set(`${shown}/`, '');
        const below = enter(level, entry.name, `${shown}/`);
        if (below) levels.push(below);
      } else {
        const sign = signOf(level, entry.name);
        if (sign && !own) files.set(shown, sign.text);
        if (sign && dropping && sign.setId && dropSetId(level, entry.name)) dropped.push(shown);
      }
      await breathe();
    }
  } finally {
    for (const level of levels) leaveFolder(level);
  }
  return {files, dropped};
}

const listed = (folder: ByteFolder, prefix: string): Level => ({...folder, prefix, entries: entriesIn(folder) ?? []});

function enter(level: Level, name: string, prefix: string): Level | undefined {
  try {
    return listed(enterFolder(level, name), prefix);
  } catch {
    return undefined;
  }
}

function signOf(level: Level, name: string): {text: string; setId: boolean} | undefined {
  const stat = lstatSync(inFolder(level, name), {throwIfNoEntry: false});
  if (!stat) return undefined;
  const {ino, size, mtimeMs, ctimeMs, mode} = stat;
  return {text: `${ino} ${size} ${mtimeMs} ${ctimeMs} ${mode}`, setId: stat.isFile() && (mode & SET_ID) !== 0};
}

function dropSetId(level: Level, name: string): boolean {
  try {
    const fd = openSync(inFolder(level, name), OPEN_FILE);
    try {
      const stat = fstatSync(fd);
      // A file with further hard links may belong elsewhere.
      if (!stat.isFile() || stat.nlink > 1) return false;
      fchmodSync(fd, stat.mode & 0o777);
      return true;
    } finally {
      closeSync(fd);
    }
  } catch {
    return false;
  }
}

/** Sorted by path. */
export function changesBetween(before: Snapshot['files'], after: Snapshot['files']): ChangedFile[] {
  const changes: ChangedFile[] = [];
  for (const [path, sign] of after) {
    const old = before.get(path);
    if (old === undefined) changes.push({path, change: 'created'});
    else if (old !== sign) changes.push({path, change: 'modified'});
  }
  for (const path of before.keys()) if (!after.has(path)) changes.push({path, change: 'deleted'});
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}
