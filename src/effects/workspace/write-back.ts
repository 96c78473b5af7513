import {randomBytes} from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import {visibleLine} from '../../formats/common/visible.ts';
import type {Leaf} from '../../home/git/git-trees.ts';
import {errorCode, isFailure} from '../tool/failure.ts';
import {type ByteFolder, byteFolder, enterFolder, entriesIn, inFolder, leaveFolder, textOfName} from './byte-folder.ts';
import {readContent} from './file-content.ts';
import {openFolder} from './folder.ts';
import {gitDirOf} from './git-dir.ts';
import {keptPermissions} from './permissions.ts';
import {makeToolPath} from './place.ts';

/** Desired state of a file; undefined: deleted. */
export type RestoredFile = {bytes: Buffer; mode: string} | undefined;

type Of = {home: string; agent: string};

/** Why no file can be put there once `leaving` is gone; undefined if it can. */
export function obstacle(of: Of, name: string, leaving: ReadonlySet<string>): string | undefined {
  const parts = name.split('/');
  if (parts.some((_, depth) => depth > 0 && leaving.has(parts.slice(0, depth).join('/')))) return undefined;
  return onTheWay(of, name, false, (folder, last) => {
    const stat = folder && lstatSync(inFolder(folder, last), {throwIfNoEntry: false});
    return folder && stat?.isDirectory() && !holdsOnly(folder, last, name, leaving) ? 'is a folder now' : undefined;
  });
}

/** Whether a folder contains only folders and files in `leaving`. */
function holdsOnly(above: ByteFolder, last: string, name: string, leaving: ReadonlySet<string>): boolean {
  const folder = enterFolder(above, last);
  try {
    const entries = entriesIn(folder);
    return (
      entries?.every(entry => {
        const full = `${name}/${entry.name}`;
        return entry.isDirectory() ? holdsOnly(folder, entry.name, full, leaving) : leaving.has(full);
      }) ?? false
    );
  } finally {
    leaveFolder(folder);
  }
}

/** The file on disk; undefined if missing, and an empty id if git would not accept it. */
export async function leafOnDisk(of: Of & {gitDir: string}, name: string): Promise<Leaf | undefined> {
  const parts = name.split('/');
  const last = parts.pop() ?? '';
  const top = openFolder(of, makeToolPath('workspace', []));
  if (isFailure(top)) return undefined;
  let folder = byteFolder(top);
  try {
    for (const part of parts) {
      const next = enterFolder(folder, part);
      leaveFolder(folder);
      folder = next;
    }
    const stat = lstatSync(inFolder(folder, last), {throwIfNoEntry: false, bigint: true});
    if (!stat || stat.isDirectory()) return undefined;
    const content = await readContent(folder, last, stat, of.gitDir);
    return 'leftOut' in content ? {id: '', mode: ''} : {id: content.id, mode: content.mode.toString(8)};
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  } finally {
    leaveFolder(folder);
  }
}

/** A prepared change of one file; nothing has changed yet. */
export interface PreparedFile {
  put: () => void;
  drop: () => void;
}

/** Write the new version beside its place, without following links. Like `put`, throws system errors. */
export function prepareFile(of: Of, name: string, what: RestoredFile): PreparedFile {
  const folder = nearest(of, name);
  const temporary = `.agentdir-${randomBytes(8).toString('hex')}.tmp`;
  const beside = folder === '' ? temporary : `${folder}/${temporary}`;
  const there = <T>(work: (folder: ByteFolder) => T) => within(of, beside, false, work);
  const drop = () => there(at => what && unlinkSync(inFolder(at, temporary)));
  there(at => {
    accessSync(inFolder(at, '.'), constants.W_OK | constants.X_OK);
    if (!what) return;
    try {
      if (what.mode === '120000') symlinkSync(what.bytes, inFolder(at, temporary));
      else makeFile(inFolder(at, temporary), what, permissionsOf(of, name));
    } catch (error) {
      if (lstatSync(inFolder(at, temporary), {throwIfNoEntry: false})) unlinkSync(inFolder(at, temporary));
      throw error;
    }
  });
  const put = () => {
    if (!what) {
      within(of, name, false, (to, last) => unlinkSync(inFolder(to, last)));
      removeEmpty(of, name);
      return;
    }
    there(from =>
      within(of, name, true, (to, last) => {
        const path = inFolder(to, last);
        if (lstatSync(path, {throwIfNoEntry: false})?.isDirectory()) removeFolders(to, last);
        renameSync(inFolder(from, temporary), path);
      }),
    );
  };
  return {put, drop};
}

/** The folder of a path, or its nearest existing ancestor. */
function nearest(of: Of, name: string): string {
  const parts = name.split('/').slice(0, -1);
  const isFolder = () =>
    onTheWay(of, parts.join('/'), false, (folder, last) =>
      folder && lstatSync(inFolder(folder, last), {throwIfNoEntry: false})?.isDirectory() ? 'yes' : undefined,
    ) === 'yes';
  while (parts.length > 0 && !isFolder()) parts.pop();
  return parts.join('/');
}

/** Like `onTheWay`, but throws if the folder does not exist. */
function within<T>(of: Of, name: string, make: boolean, work: (folder: ByteFolder, last: string) => T): void {
  const problem = onTheWay(of, name, make, (folder, last) => {
    if (!folder) return 'is in no folder now';
    work(folder, last);
    return undefined;
  });
  if (problem !== undefined) throw new Error(`${visibleLine(textOfName(name))} ${problem}`);
}

/** Permissions of the existing file, or those last seen; git does not keep them. */
function permissionsOf(of: Of, name: string): number | undefined {
  let found = keptPermissions(gitDirOf(of.home, of.agent), name);
  onTheWay(of, name, false, (folder, last) => {
    const stat = folder && lstatSync(inFolder(folder, last), {throwIfNoEntry: false});
    if (stat?.isFile()) found = stat.mode & 0o666;
    return undefined;
  });
  return found;
}

function makeFile(
  path: string | Buffer,
  {bytes, mode}: {bytes: Buffer; mode: string},
  permissions: number | undefined,
): void {
  const fd = openSync(path, 'wx', permissions ?? 0o666);
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    const may = permissions ?? fstatSync(fd).mode & 0o777;
    // Each execute bit follows the read bit of the same class.
    fchmodSync(fd, mode === '100755' ? may | ((may & 0o444) >> 2) : may);
  } finally {
    closeSync(fd);
  }
}

/** Open the folder of a path for `work`; undefined if it is missing and `make` is false. */
function onTheWay(
  of: Of,
  name: string,
  make: boolean,
  work: (folder: ByteFolder | undefined, last: string) => string | undefined,
): string | undefined {
  const parts = name.split('/');
  const last = parts.pop() ?? '';
  const top = openFolder(of, makeToolPath('workspace', []));
  if (isFailure(top)) return top.error;
  let folder = byteFolder(top);
  try {
    for (const part of parts) {
      if (make) makeFolder(folder, part);
      const next = enterFolder(folder, part);
      leaveFolder(folder);
      folder = next;
    }
    return work(folder, last);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' && !make) return work(undefined, last);
    if (code === 'ENOTDIR' || code === 'ELOOP') return 'is below something that is no longer a folder';
    throw error;
  } finally {
    leaveFolder(folder);
  }
}

function makeFolder(folder: ByteFolder, name: string): void {
  try {
    mkdirSync(inFolder(folder, name));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** Remove a folder that contains only folders. */
function removeFolders(above: ByteFolder, name: string): void {
  const folder = enterFolder(above, name);
  try {
    for (const entry of entriesIn(folder) ?? []) removeFolders(folder, entry.name);
  } finally {
    leaveFolder(folder);
  }
  rmdirSync(inFolder(above, name));
}

/** Remove folders that became empty: git does not track these. */
function removeEmpty(of: Of, name: string): void {
  const parts = name.split('/').slice(0, -1);
  for (; parts.length > 0; parts.pop()) {
    try {
      onTheWay(of, parts.join('/'), false, (folder, last) => {
        if (folder) rmdirSync(inFolder(folder, last));
        return undefined;
      });
    } catch {
      return;
    }
  }
}
