import {statSync} from 'node:fs';
import {git} from './git/git.ts';

/** What a command wrote while no daemon runs. */
export interface StagedWrite {
  path: string;
  /** What the file held before, if there was one. */
  before: Buffer | undefined;
  /** Undefined: it was removed. */
  bytes: Buffer | undefined;
  executable: boolean;
}

/**
 * Stage it as `git add` would, so that it is known as meant also if .agentdir/ is gone by the next start; and keep what it was
 * made from, so that it can be committed first. A failure changes nothing but that: the file is written.
 */
export async function stageFile(home: string, files: readonly StagedWrite[]): Promise<void> {
  // Root would leave folders of objects that the home's own user cannot write into.
  if (process.getuid?.() === 0 && statSync(home).uid !== 0) return;
  const prefix = (await git(home, ['rev-parse', '--show-prefix'])).stdout.trimEnd();
  for (const {path, before, bytes, executable} of files) {
    if (before) await keep(home, before);
    if (!bytes) continue;
    const blob = await keep(home, bytes);
    // A conflict that git left there is the person's to resolve.
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
