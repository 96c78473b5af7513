import {statSync} from 'node:fs';
import {git} from './git/git.ts';

/** A file that a command wrote while no daemon runs. */
export interface StagedWrite {
  path: string;
  /** The content before. Undefined: there was no file. */
  before: Buffer | undefined;
  /** Undefined: the file was removed. */
  bytes: Buffer | undefined;
  executable: boolean;
}

/**
 * Stage files as `git add` would, so that the next start accepts them even if .agentdir/ was emptied. Also store the content before
 * each write as a blob, so that it can be committed first. Failures are ignored: the files themselves are written.
 */
export async function stageFile(home: string, files: readonly StagedWrite[]): Promise<void> {
  // Root would create object folders that the home's owner cannot write to.
  if (process.getuid?.() === 0 && statSync(home).uid !== 0) return;
  const prefix = (await git(home, ['rev-parse', '--show-prefix'])).stdout.trimEnd();
  for (const {path, before, bytes, executable} of files) {
    if (before) await keep(home, before);
    if (!bytes) continue;
    const blob = await keep(home, bytes);
    // The person must resolve a merge conflict first.
    const unmerged = await git(home, ['ls-files', '--unmerged', '-z', '--', path]);
    if (blob === undefined || unmerged.code !== 0 || unmerged.stdout !== '') continue;
    const entry = `${executable ? '100755' : '100644'},${blob},${prefix}${path}`;
    await git(home, ['update-index', '--add', '--cacheinfo', entry]);
  }
}

async function keep(home: string, bytes: Buffer): Promise<string | undefined> {
  const kept = await git(home, ['hash-object', '-w', '--no-filters', '--stdin'], {input: bytes});
  return kept.code === 0 ? kept.stdout.trim() : undefined;
}
