import {readFileSync, type Stats, statSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {git} from './git.ts';
import type {GitConfig} from './git-config.ts';
import type {GitDirs} from './git-refs.ts';

/** Attributes that change what git stores of a file. */
const changing = /\b(?:text|eol|crlf|filter|ident|working-tree-encoding|binary)\b|\[attr\]/;

/** Whether git may store other bytes than a file has, because of line-end conversion or filters. Usually costs a few stats. */
export class Filters {
  readonly #top: string;
  readonly #dirs: GitDirs;
  readonly #known = new Map<string, {stamp: string; changes: boolean}>();

  constructor(top: string, dirs: GitDirs) {
    this.#top = top;
    this.#dirs = dirs;
  }

  /** `path`: relative to the top of the repository. */
  mayApply(path: string, config: GitConfig): boolean {
    if (config.autocrlf) return true;
    const files = [join(this.#dirs.common, 'info/attributes'), config.attributesFile, '/etc/gitattributes'];
    for (let dir = dirname(path); ; dir = dirname(dir)) {
      files.push(join(this.#top, dir, '.gitattributes'));
      if (dir === '.') break;
    }
    return files.some(file => this.#changes(file));
  }

  #changes(file: string): boolean {
    let stat: Stats | undefined;
    try {
      stat = statSync(file, {throwIfNoEntry: false});
    } catch {
      // A file in place of a folder, or no permission: git reads no attributes either.
    }
    if (!stat) return false;
    const stamp = `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
    let known = this.#known.get(file);
    if (known?.stamp !== stamp) {
      let changes = true;
      try {
        changes = changing.test(readFileSync(file, 'utf8'));
      } catch {
        // Unreadable: assume that filters apply.
      }
      known = {stamp, changes};
      this.#known.set(file, known);
    }
    return known.changes;
  }
}

/** Write the blob that git would store for these bytes at this path, with filters applied. */
export async function filteredBlob(top: string, path: string, bytes: Buffer): Promise<{id: string} | {failed: string}> {
  const options = ['-c', 'core.safecrlf=false', 'hash-object', '-w', '--stdin', `--path=${path}`];
  const made = await git(top, options, {input: bytes});
  return made.code === 0 ? {id: made.stdout.trim()} : {failed: made.stderr.trim()};
}
