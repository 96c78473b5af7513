import {closeSync, constants, openSync, writeSync} from 'node:fs';
import {errorCode, isFailure} from '../tool/failure.ts';
import type {ToolContext, ToolFailure} from '../tool/tool.ts';
import {closeFolder, confirm, entryOf, openFolder} from './folder.ts';
import {makeToolPath} from './place.ts';

const OPEN_NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const MOST_TRIES = 100;

export interface NewFile {
  /** As tools accept it. */
  path: string;
  /** Throws system errors. */
  write: (text: string) => void;
  close: () => void;
}

/** Adds a number before the extension if the name is taken. Throws system errors. */
export function newFile(context: ToolContext, folderName: string, name: string): NewFile | ToolFailure {
  const folder = openFolder(context, makeToolPath('workspace', [folderName]), undefined, {make: true});
  if (isFailure(folder)) return folder;
  try {
    for (let i = 1; ; i++) {
      const own = i === 1 ? name : name.replace(/(\.[^.]*)?$/, ending => `-${i}${ending}`);
      try {
        const fd = openSync(entryOf(folder, own), OPEN_NEW, 0o666);
        confirm(folder, own, fd);
        return {
          path: makeToolPath('workspace', [folderName, own]).path,
          write: text => {
            const bytes = Buffer.from(text);
            for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
          },
          close: () => closeSync(fd),
        };
      } catch (error) {
        if (errorCode(error) !== 'EEXIST' || i >= MOST_TRIES) throw error;
      }
    }
  } finally {
    closeFolder(folder);
  }
}
