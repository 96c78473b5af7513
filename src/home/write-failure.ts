import {existsSync} from 'node:fs';
import {dirname} from 'node:path';
import {exit, UserError} from '../formats/common/errors.ts';

/** Why the system refuses to write a file, and what a person can do. Undefined for other errors. */
export function refusedWrite(error: unknown): {why: string; remedy: string | undefined} | undefined {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return {why: 'the disk is full', remedy: 'Free some space'};
    case 'EACCES':
    case 'EPERM':
      return {why: 'no permission', remedy: 'Check the owner and mode of its folder: ls -ld'};
    case 'EROFS':
      return {why: 'the file system is read-only', remedy: undefined};
    default:
      return undefined;
  }
}

/** The error of a command that could not write `path`. */
export function notWritten(path: string, error: Error): UserError {
  const refused = refusedWrite(error);
  const message = `${path} cannot be written: ${refused?.why ?? error.message}`;
  return Object.assign(new UserError(message, exit.failed, hintFor(error, refused?.remedy)), {cause: error});
}

const verbs: Readonly<Record<string, string>> = {
  open: 'opened',
  scandir: 'read',
  stat: 'read',
  lstat: 'read',
  read: 'read',
  spawn: 'run',
};

/** The same for an error of the file system that a command did not expect. Undefined if it names no file, or is no refusal. */
export function notAllowed(error: unknown): UserError | undefined {
  const refused = refusedWrite(error);
  const {path, syscall = ''} = error as NodeJS.ErrnoException;
  if (refused === undefined || path === undefined) return undefined;
  const message = `${path} cannot be ${verbs[syscall.split(' ')[0] ?? ''] ?? 'written'}: ${refused.why}`;
  return new UserError(message, exit.failed, hintFor(error, refused.remedy));
}

/** The remedy, with the folder to look at where it ends in `ls -ld`. */
function hintFor(error: unknown, remedy: string | undefined): string | undefined {
  if (remedy === undefined) return undefined;
  const {path} = error as NodeJS.ErrnoException;
  const folder = remedy.endsWith('ls -ld') && path !== undefined ? ` ${existingFolder(path)}` : '';
  return `${remedy[0]?.toLowerCase()}${remedy.slice(1)}${folder}`;
}

function existingFolder(path: string): string {
  const folder = dirname(path);
  return folder === path || existsSync(folder) ? folder : existingFolder(folder);
}
