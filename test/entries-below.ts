import {type Dirent, readdirSync} from 'node:fs';
import {join} from 'node:path';

/** All that is below a folder. `readdirSync`'s own `recursive` follows links from Node 22 on. */
export function entriesBelow(folder: string): Dirent[] {
  return readdirSync(folder, {withFileTypes: true}).flatMap(entry =>
    entry.isDirectory() ? [entry, ...entriesBelow(join(folder, entry.name))] : [entry],
  );
}
