import {type BigIntStats, copyFileSync, lstatSync, renameSync, utimesSync} from 'node:fs';
import {join} from 'node:path';
import {crashPoint} from '../crash.ts';
import {type GitResult, git, gitFailure} from './git.ts';
import {noObject} from './git-blobs.ts';
import {isSameFile} from './git-clean.ts';
import {release} from './git-locks.ts';
import type {Repository} from './git-repository.ts';

/** A file of a commit. */
export interface Leaf {
  id: string;
  mode: string;
}

export interface IndexChange {
  /** In the repository. */
  path: string;
  /** Undefined: removed. */
  leaf: Leaf | undefined;
  /** Whether the file holds `leaf` now: then git reads it, and later takes its entry for clean by the look of the file. */
  isClean: () => boolean;
}

/** More than these bytes do not fit on a command line everywhere. */
const MOST_ARGUMENTS = 1_000_000;

/** The person's index. Git changes a copy of it, which then takes its place. */
export class IndexCopy {
  readonly #repository: Repository;
  readonly #path: string;
  readonly #copy: string;
  /** The index as it was when `look` found out about it. */
  #stat: BigIntStats | undefined;
  #isOurs = false;
  #unmerged = false;
  /** Paths that the person told git not to look at: skip-worktree and assume-unchanged. */
  readonly #skipped = new Set<string>();
  readonly #assumed = new Set<string>();
  #looked = false;

  /** `copy`: where the copy is made. */
  constructor(repository: Repository, copy: string) {
    this.#repository = repository;
    this.#path = join(repository.dirs.own, 'index');
    this.#copy = copy;
  }

  /** Whether git waits for the person to resolve a conflict. Git is asked only if somebody else wrote the index. */
  async isUnmerged(): Promise<boolean> {
    if (this.#looked && this.isCurrent()) return this.#unmerged;
    this.#stat = this.#statNow();
    this.#isOurs = false;
    this.#unmerged = false;
    this.#skipped.clear();
    this.#assumed.clear();
    const listed = this.#stat ? await git(this.#repository.top, ['ls-files', '-v', '-z']) : undefined;
    if (listed && listed.code !== 0) throw gitFailure('ls-files', listed.stderr);
    for (const line of listed?.stdout.split('\0') ?? []) {
      const tag = line[0];
      if (tag === undefined || tag === 'H') continue;
      const path = line.slice(2);
      if (tag === 'M') this.#unmerged = true;
      if (tag === 'S' || tag === 's') this.#skipped.add(path);
      if (tag !== tag.toUpperCase()) this.#assumed.add(path);
    }
    this.#looked = true;
    return this.#unmerged;
  }

  /** Whether the index is still the one that `isUnmerged` looked at. */
  isCurrent(): boolean {
    const now = this.#statNow();
    if (!now || !this.#stat) return now === this.#stat;
    return isSameFile(now, this.#stat) && now.ctimeNs === this.#stat.ctimeNs;
  }

  /** Whether somebody else wrote the index since then. */
  isForeignSince(time: number): boolean {
    return !this.#isOurs && this.#stat !== undefined && Number(this.#stat.mtimeMs) >= time;
  }

  /** Make a copy with these changes. Throws what git says. */
  async prepare(changes: readonly IndexChange[]): Promise<void> {
    release(this.#copy);
    if (this.#stat) {
      copyFileSync(this.#path, this.#copy);
      // Git takes a file that is as new as the index for possibly changed: the copy must not be newer.
      const seconds = Math.floor(Number(this.#stat.mtimeMs)) / 1000;
      utimesSync(this.#copy, seconds, seconds);
    }
    const flagged = ({path}: IndexChange) => this.#skipped.has(path) || this.#assumed.has(path);
    let size = 0;
    const clean = changes.filter(change => {
      if (flagged(change) || !change.isClean()) return false;
      size += Buffer.byteLength(change.path) + 16;
      return size < MOST_ARGUMENTS;
    });
    const rest = new Set(changes);
    for (const change of clean) rest.delete(change);
    const staged = await this.#update([...rest], clean);
    // A file that changed under git's hands may be staged as what it is now; a name may lead through a link.
    const moved = staged.code === 0 ? clean.filter(change => !change.isClean()) : changes;
    if (moved.length > 0) must(await this.#update(moved, []));
    await this.#flag('--skip-worktree', this.#skipped, changes);
    await this.#flag('--assume-unchanged', this.#assumed, changes);
    crashPoint('journal-index-temp');
  }

  /** The copy becomes the index; whoever calls holds its lock. */
  putInPlace(): void {
    renameSync(this.#copy, this.#path);
    crashPoint('journal-index-rename');
    this.#stat = this.#statNow();
    this.#isOurs = true;
  }

  #statNow(): BigIntStats | undefined {
    return lstatSync(this.#path, {throwIfNoEntry: false, bigint: true});
  }

  /** `files`: git reads them itself, and remembers how they look. */
  #update(changes: readonly IndexChange[], files: readonly IndexChange[]): Promise<GitResult> {
    const none = `0 ${noObject(this.#repository.format)}`;
    const lines = changes.map(({path, leaf}) => `${leaf ? `${leaf.mode} ${leaf.id}` : none}\t${path}\0`);
    const paths = files.map(({path}) => `./${path}`);
    return this.#git(['--add', '--replace', '-z', ...paths, '--index-info'], lines.join(''));
  }

  async #flag(option: string, flagged: ReadonlySet<string>, changes: readonly IndexChange[]): Promise<void> {
    const paths = changes.flatMap(({path, leaf}) => (leaf && flagged.has(path) ? [path] : []));
    if (paths.length > 0) must(await this.#git(['-z', option, '--stdin'], paths.map(path => `${path}\0`).join('')));
  }

  #git(args: readonly string[], input: string): Promise<GitResult> {
    const extra = {GIT_INDEX_FILE: this.#copy};
    return git(this.#repository.top, ['-c', 'core.safecrlf=false', 'update-index', ...args], {input, extra});
  }
}

function must({code, stderr}: GitResult): void {
  if (code !== 0) throw gitFailure('update-index', stderr);
}
