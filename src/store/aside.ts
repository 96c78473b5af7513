import {mkdirSync, readFileSync, unlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {blobId} from './git/blob-id.ts';

/**
 * A second copy of what the daemon wrote last to a file, for as long as git has none: many wait for the journal, or it is
 * large. Killed then, and the file saved over by a person, the next daemon has it from here. Not durable, and perhaps not whole: who reads it
 * compares its hash.
 */
export function keepAside(home: string, path: string, bytes: Buffer): void {
  const copy = copyOf(home, path);
  try {
    writeFileSync(copy, bytes, {mode: 0o600});
  } catch {
    try {
      mkdirSync(join(home, FOLDER), {recursive: true});
      writeFileSync(copy, bytes, {mode: 0o600});
    } catch {
      // A full disk: nothing that is kept here is needed as long as no daemon is killed.
    }
  }
}

export function readAside(home: string, path: string): Buffer | undefined {
  try {
    return readFileSync(copyOf(home, path));
  } catch {
    return undefined;
  }
}

/** Git has it. */
export function dropAside(home: string, path: string): void {
  try {
    unlinkSync(copyOf(home, path));
  } catch {
    // There was none.
  }
}

const FOLDER = '.agentdir/aside';

function copyOf(home: string, path: string): string {
  return join(home, FOLDER, blobId(Buffer.from(path)));
}
