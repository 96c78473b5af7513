import {visibleLine} from '../../formats/common/visible.ts';
import {type Person, personHere} from '../../home/git/git-config.ts';
import {textOfName} from './byte-folder.ts';
import type {WorkspaceFindings} from './findings.ts';
import type {HistoryEntry} from './history.ts';
import type {WorkspaceCommit} from './read-history.ts';
import type {CallCommit, Workspace} from './workspace.ts';

const MAX_SUBJECT = 120;

/** Commit of changes by calls; the agent is the author. */
export function entryOfCalls(workspace: Workspace, calls: readonly CallCommit[], cause: string): HistoryEntry {
  const [first, ...more] = calls;
  const words = first?.words ?? '';
  const trailers = calls.flatMap(({session, call, approval}): [string, string][] => [
    ['Session', session],
    ['Call', call],
    ...(approval === undefined ? [] : [['Approval', approval] as [string, string]]),
  ]);
  return {
    author: ofHome(workspace, workspace.agent),
    committer: ofHome(workspace, 'agentdir'),
    subject: cut(more.length > 0 ? `${words} (and ${more.length} more)` : words),
    trailers: [...trailers, ['Cause', cause]],
  };
}

/** Commit of other changes; the author is the person who works here. */
export async function entryOfPerson(
  workspace: Workspace,
  {changed}: Pick<WorkspaceFindings, 'changed'>,
  cause: string,
): Promise<HistoryEntry> {
  const [first] = changed;
  const name = textOfName(first?.name ?? '');
  const verb = changed.every(({content}) => content === undefined) ? 'removed' : 'changed';
  return {
    author: await personHere(workspace.home),
    committer: ofHome(workspace, 'agentdir'),
    subject: cut(`${changed.length === 1 ? name : `${changed.length} files`} ${verb} by hand`),
    trailers: [['Cause', cause]],
  };
}

export async function entryOfUndo(
  workspace: Workspace,
  {subject, commit}: Pick<WorkspaceCommit, 'subject' | 'commit'>,
): Promise<HistoryEntry> {
  return {
    author: await personHere(workspace.home),
    committer: ofHome(workspace, 'agentdir'),
    subject: cut(`undo: ${subject}`),
    trailers: [
      ['Undoes', commit],
      ['Cause', 'undo'],
    ],
  };
}

function ofHome({home, name = home.slice(home.lastIndexOf('/') + 1)}: Workspace, who: string): Person {
  return {name: who, email: `${who}@${name}`};
}

function cut(text: string): string {
  const line = visibleLine(text);
  return line.length > MAX_SUBJECT ? `${line.slice(0, MAX_SUBJECT - 1)}…` : line;
}
