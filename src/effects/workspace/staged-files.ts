import {type BigIntStats, lstatSync} from 'node:fs';
import {join} from 'node:path';
import {unfinishedOperation} from '../../home/git/git-busy.ts';
import {readHead} from '../../home/git/git-refs.ts';
import {modes} from './file-content.ts';
import type {FoundFile} from './findings.ts';
import type {History, StagedState} from './history.ts';
import {EMPTY_TREE, filesStaged} from './read-history.ts';

/**
 * Staged but uncommitted files: all, or these paths and what is below. None during a merge, which will commit them.
 * Asks git only if the index or HEAD changed.
 */
export async function stagedFiles(history: History, paths?: readonly string[]): Promise<readonly FoundFile[]> {
  if (unfinishedOperation(history.dirs)) return [];
  const head = readHead(history.dirs);
  if ('unsupported' in head) return [];
  const stat = statOfIndex(history);
  if (!history.staged || history.staged.commit !== head.commit || !isSame(history.staged.stat, stat)) {
    const files = stat ? await filesStaged(history.gitDir, head.commit ?? EMPTY_TREE) : [];
    history.staged = {stat, commit: head.commit, files: files.flatMap(asFound)};
  }
  const {files} = history.staged;
  return paths ? files.filter(({name}) => paths.some(path => `${name}/`.startsWith(`${path}/`))) : files;
}

/** Update the cache after a commit of `changed` on top of `before`. The new index is in place and still locked. */
export function adoptStaged(
  history: History,
  before: Omit<StagedState, 'files'>,
  commit: string,
  changed: readonly FoundFile[],
): void {
  const known = history.staged;
  history.staged = undefined;
  if (!known || known.commit !== before.commit || !isSame(known.stat, before.stat)) return;
  const names = new Set(changed.map(({name}) => name));
  const files = known.files.filter(({name}) => !names.has(name));
  history.staged = {stat: statOfIndex(history), commit, files};
}

/** The content is already in the repository. Submodules are skipped. */
function asFound({name, after}: {name: string; after: {id: string; mode: string} | undefined}): FoundFile[] {
  const mode = after && Number.parseInt(after.mode, 8);
  if (mode === modes.repository) return [];
  return [{name, content: after && {id: after.id, mode: mode ?? 0, bytes: undefined, stat: undefined}}];
}

function statOfIndex({gitDir}: History): BigIntStats | undefined {
  return lstatSync(join(gitDir, 'index'), {throwIfNoEntry: false, bigint: true});
}

function isSame(a: BigIntStats | undefined, b: BigIntStats | undefined): boolean {
  return a?.ino === b?.ino && a?.size === b?.size && a?.mtimeNs === b?.mtimeNs && a?.ctimeNs === b?.ctimeNs;
}
