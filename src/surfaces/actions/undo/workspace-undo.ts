import {gitDirOf} from '../../../effects/workspace/git-dir.ts';
import {readChanges} from '../../../effects/workspace/read-history.ts';

/** How to undo what a call changed in its workspace; undefined: it changed nothing there. */
export async function workspaceUndo(home: string, agent: string, call: string): Promise<string | undefined> {
  // Agents that never used files have no workspace.
  const changes = await readChanges(gitDirOf(home, agent.replace(/^@/, ''))).catch(() => []);
  if (!changes.some(({calls}) => calls.some(one => one.call === call))) return undefined;
  return `to undo its file changes: agentdir workspace undo ${agent.replace(/^@/, '')} ${call}`;
}
