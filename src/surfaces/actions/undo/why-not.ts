import {APPROVALS_FILE} from '../../../formats/approval/approval-item.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {isJournalled, isSegment, kindOf, stemOf} from '../../../formats/common/key.ts';
import {visibleLine} from '../../../formats/common/visible.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import type {WholeChange} from '../../../home/one-change.ts';
import {readStatus} from '../../../home/status.ts';

/** Changes that are not taken back whatever is in them, by their cause. */
const CAUSES: Readonly<Record<string, readonly [why: string, hint?: string]>> = {
  segment: ['it only moved older messages of a session to the archive; the session is the same with and without it'],
  merge: [
    'it merged a save from an older version with what was written meanwhile; without it that would be lost',
    'take back what the person saved, or what was written meanwhile: agentdir log has both right before it',
  ],
  void: ['it put back what an unsandboxed command may have changed in files that decide'],
  'HEAD moved': ['it committed again what a git command had taken out of HEAD; the file was not changed'],
  ask: ['it is the page of a request that waits, and would be made again', 'decide about it: agentdir approvals'],
  decision: ['it only moved the page of a decided request', 'if it has not run yet, take the decision itself back'],
  taint: ['that a session has read what came from outside is kept, for good'],
};

export function causeOf({trailers}: Pick<WholeChange, 'trailers'>): string | undefined {
  return trailers.find(([key]) => key === 'Cause')?.[1];
}

/** Throws if the change is none that can be taken back as a whole. */
export function refuseChange(home: string, change: WholeChange): void {
  const {commit, parents, files, elsewhere, subject} = change;
  const id = commit.slice(0, 7);
  const refuse = (why: string, hint?: string) => {
    throw new UserError(
      `${id} (${visibleLine(subject)}) is not taken back: ${why}; nothing was written`,
      exit.failed,
      hint,
    );
  };
  if (parents.length === 0) refuse('it is the first commit of all', 'edit the files themselves');
  if (parents.length > 1) refuse('it is a merge', `by git: git revert -m 1 ${id}`);
  const others = [...elsewhere, ...files.map(({path}) => path).filter(path => !isOurs(path))];
  if (others.length > 0 || files.length === 0) {
    const which = others.length > 0 ? ` (${others.slice(0, 3).join(', ')})` : '';
    refuse(`it is a commit of your own, with files that are not of the home${which}`, `by git: git revert ${id}`);
  }
  const [why, hint] = CAUSES[causeOf(change) ?? ''] ?? [];
  if (why !== undefined) refuse(why, hint);
  // Of a task more is written for that cause, and looked at field by field.
  if (causeOf(change) === 'fill-in' && files.every(({path}) => kindOf(path) === 'session'))
    refuse('what the daemon filled in would be filled in again', 'edit the file');
  for (const {path, before, after} of files) {
    const said = ofFile(path);
    if (said !== undefined) refuse(said);
    if ([before, after].some(file => file && !/^100/.test(file.mode)))
      refuse(`${path} is a link`, `by git: git revert ${id}`);
    if (path === 'agentdir.yaml' && !before) refuse('without agentdir.yaml there is no home');
    if (kindOf(path) === 'conflict' && !before)
      refuse(`${path} is what could not be merged, kept for you`, 'remove it when you are done with it');
  }
  const running = readStatus(nodeDisk(home))?.unconfined;
  if (running !== undefined)
    refuse(
      `a command runs outside the sandbox (${visibleLine(running)}), and what is written meanwhile does not count`,
    );
}

function isOurs(path: string): boolean {
  const kind = kindOf(path);
  return kind !== undefined && isJournalled(kind);
}

function ofFile(path: string): string | undefined {
  if (kindOf(path) === 'state')
    return `${path} says what was done already (read, due, spent), so that nothing is done twice`;
  if (isSegment(path)) return `${path} holds older messages of a session; they only moved there`;
  if (path.startsWith('tasks/archive/') && path !== APPROVALS_FILE)
    return `${stemOf(path)} holds what is decided and over; it only moved there`;
  return undefined;
}
