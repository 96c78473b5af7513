import {readHead} from '../../home/git/git-refs.ts';
import {treeWith} from './commit-files.ts';
import {findFiles} from './found-files.ts';
import {readWorkspaceIndex, workspaceHistory} from './history.ts';
import {EMPTY_TREE} from './read-history.ts';
import {stagedFiles} from './staged-files.ts';

/** Uncommitted changes of a workspace, as two trees to compare. Its git-dir must exist. Commits nothing. */
export async function uncommitted(of: {
  home: string;
  agent: string;
}): Promise<{files: number; from: string; to: string; branch: string | undefined}> {
  const history = workspaceHistory(of);
  const head = readHead(history.dirs);
  const known = 'unsupported' in head ? {branch: undefined, commit: undefined} : head;
  const from = known.commit ?? EMPTY_TREE;
  const branch = known.branch?.replace(/^refs\/heads\//, '');
  const {changed: found} = await findFiles({...history, state: await readWorkspaceIndex(history)});
  const all = [...(await stagedFiles(history)), ...found];
  const changed = [...new Map(all.map(file => [file.name, file])).values()];
  if (changed.length === 0) return {files: 0, from, to: from, branch};
  const {tree, staged} = await treeWith(history, known, changed);
  await staged.flush();
  return {files: changed.length, from, to: tree.id, branch};
}
