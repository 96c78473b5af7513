import {existsSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {exit, UserError} from '../errors.ts';
import {isJournalled, kindOf, stemOf} from '../files/key.ts';
import {commitOnly, git} from './git.ts';

/** A file of the home that differs from the last commit. */
export interface Change {
  path: string;
  how: 'created' | 'edited' | 'removed';
}

export interface Committed extends Change {
  commit: string;
  subject: string;
}

/** The home's history: one commit for each change, of exactly the path that changed, on whatever branch the person is on. */
export class Journal {
  readonly #dir: string;
  readonly #gitDir: string;
  readonly #prefix: string;

  private constructor(dir: string, gitDir: string, prefix: string) {
    this.#dir = dir;
    this.#gitDir = gitDir;
    this.#prefix = prefix;
  }

  static async open(dir: string): Promise<Journal> {
    const found = await git(dir, ['rev-parse', '--git-dir', '--show-prefix']);
    if (found.code !== 0)
      throw new UserError(`${dir} is not in a git repository`, exit.failed, 'make one: agentdir init .');
    const [gitDir = '.git', prefix = ''] = found.stdout.split('\n');
    return new Journal(dir, resolve(dir, gitDir), prefix);
  }

  /** What of the home is not committed yet. Nothing else in the repository is looked at. */
  async changes(): Promise<Change[]> {
    const status = await git(this.#dir, [
      '--no-optional-locks',
      'status',
      '--porcelain=v1',
      '-z',
      '--untracked-files=all',
      '--no-renames',
      '--',
      '.',
    ]);
    if (status.code !== 0) throw new UserError(`git status failed: ${status.stderr.trim()}`);
    const changes: Change[] = [];
    for (const entry of status.stdout.split('\0').filter(Boolean)) {
      const path = entry.slice(3 + this.#prefix.length);
      const kind = kindOf(path);
      if (!kind || !isJournalled(kind) || entry.startsWith('!!')) continue;
      const gone = !existsSync(join(this.#dir, path));
      changes.push({path, how: gone ? 'removed' : entry.startsWith('??') ? 'created' : 'edited'});
    }
    return changes;
  }

  /** Why nothing can be committed now: the person is in the middle of something. */
  busy(): string | undefined {
    const found = [
      'MERGE_HEAD',
      'rebase-merge',
      'rebase-apply',
      'CHERRY_PICK_HEAD',
      'REVERT_HEAD',
      'BISECT_LOG',
      'index.lock',
    ].find(name => existsSync(join(this.#gitDir, name)));
    return found && `your own git command is under way (${found}); edits are committed when it is done`;
  }

  /** Commit one change as the person's; or why git would not. */
  async commit(change: Change, cause: string): Promise<Committed | {failed: string}> {
    const kind = kindOf(change.path) ?? 'file';
    const subject = `${kind}(${stemOf(change.path)}): ${change.how} by hand`;
    if (change.how === 'created') {
      const added = await git(this.#dir, ['add', '--', change.path]);
      if (added.code !== 0) return {failed: added.stderr.trim()};
    }
    const done = await commitOnly(this.#dir, [change.path], `${subject}\n\nCause: ${cause}`);
    return 'failed' in done ? done : {...change, commit: done.commit, subject};
  }
}
