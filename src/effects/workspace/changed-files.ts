import {closeSync, constants, type Dirent, fchmodSync, fstatSync, lstatSync, openSync, readdirSync} from 'node:fs';
import {isFailure} from '../tools/failure.ts';
import {pace} from '../tools/pace.ts';
import type {ToolContext} from '../tools/tool.ts';
import {byDescriptor, openFolder} from './folder.ts';
import {place} from './place.ts';
import {isTemporary} from './replace-file.ts';

/** Where the daemon keeps long outputs: its own, not the agent's work. */
export const OUTPUT_FOLDER = '.output';

/** What a workspace holds. */
export interface Snapshot {
  /** Each file, link and folder with what tells whether it is still the same; folders end in `/`. */
  files: ReadonlyMap<string, string>;
  /** Files whose set-user-id bits were taken off. */
  dropped: readonly string[];
}

export interface ChangedFile {
  path: string;
  change: 'created' | 'modified' | 'deleted';
}

/** Beyond this a workspace is not compared: that would take longer than most commands. */
const MOST_ENTRIES = 50_000;
const DEEPEST = 200;

const SET_ID = 0o6000;
const OPEN_FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const OPEN_FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** A folder that is open; what is in it is reached through its descriptor, whatever is renamed or linked meanwhile. */
interface Level {
  fd: number;
  path: Buffer;
  prefix: string;
  entries: Dirent<Buffer>[];
}

/**
 * Undefined if there is too much, or no workspace. Links are not followed; what vanishes meanwhile is left out.
 * `dropping`: take the set-user-id and set-group-id bits off files, since whoever may run such a file acts as the
 * daemon's user.
 */
export async function snapshot(
  context: ToolContext,
  signal: AbortSignal,
  dropping = false,
): Promise<Snapshot | undefined> {
  const root = openFolder(context, place('workspace', []));
  if (isFailure(root)) return undefined;
  const files = new Map<string, string>();
  const dropped: string[] = [];
  const breathe = pace(signal);
  const levels: Level[] = [{fd: root.fd, path: Buffer.from(root.path), prefix: '', entries: []}];
  try {
    for (const level of levels) list(level);
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      const entry = level.entries.pop();
      if (!entry) {
        closeSync(level.fd);
        levels.pop();
        continue;
      }
      if (files.size >= MOST_ENTRIES || levels.length > DEEPEST) return undefined;
      const name = entry.name.toString();
      // Bytes that are no text are shown as such.
      const shown = level.prefix + (name.includes('\ufffd') ? entry.name.toString('latin1') : name);
      const own = shown === OUTPUT_FOLDER || shown.startsWith(`${OUTPUT_FOLDER}/`) || isTemporary(name);
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
    for (const {fd} of levels) closeSync(fd);
  }
  return {files, dropped};
}

function list(level: Level): void {
  try {
    level.entries = readdirSync(level.path, {withFileTypes: true, encoding: 'buffer'});
  } catch {
    // Not ours to read, or gone.
  }
}

const under = (level: Level, name: Buffer): Buffer => Buffer.concat([level.path, Buffer.from('/'), name]);

function enter(level: Level, name: Buffer, prefix: string): Level | undefined {
  try {
    const path = under(level, name);
    const fd = openSync(path, OPEN_FOLDER);
    const below = {fd, path: byDescriptor ? Buffer.from(`/proc/self/fd/${fd}`) : path, prefix, entries: []};
    list(below);
    return below;
  } catch {
    return undefined;
  }
}

function signOf(level: Level, name: Buffer): {text: string; setId: boolean} | undefined {
  const stat = lstatSync(under(level, name), {throwIfNoEntry: false});
  if (!stat) return undefined;
  const {ino, size, mtimeMs, ctimeMs, mode} = stat;
  return {text: `${ino} ${size} ${mtimeMs} ${ctimeMs} ${mode}`, setId: stat.isFile() && (mode & SET_ID) !== 0};
}

function dropSetId(level: Level, name: Buffer): boolean {
  try {
    const fd = openSync(under(level, name), OPEN_FILE);
    try {
      const stat = fstatSync(fd);
      // One with another name may be a file of somewhere else.
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

/** In order of path. */
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
