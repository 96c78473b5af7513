import {APPROVALS_FILE} from '../../../formats/approval/approval-item.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {isJournalled, isSegment, kindOf, stemOf} from '../../../formats/common/key.ts';
import {visibleLine} from '../../../formats/common/visible.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import type {WholeChange} from '../../../home/one-change.ts';
import {readStatus} from '../../../home/status.ts';

/** Causes of changes that are never undone. */
const CAUSES: Readonly<Record<string, readonly [why: string, hint?: string]>> = {
  segment: ['it only moved older messages of a session to the archive'],
  merge: [
    'it merged two changes, and one of them would be lost',
    'undo one of the two changes right before it: see agentdir log',
  ],
  void: ['it reverted what an unsandboxed command may have changed'],
  'HEAD moved': ['it only committed again what a git command had removed from HEAD'],
  ask: ['it is the page of a pending request and would be created again', 'decide the request: agentdir approvals'],
  decision: ['it only moved the page of a decided request', 'if it has not run yet, undo the decision itself'],
  compaction: [
    'it put a checkpoint in the place of older messages, which are all there',
    'to send the messages themselves again: agentdir compact SESSION --undo',
  ],
  taint: ['a session that has read text from outside stays tainted'],
};

export function causeOf({trailers}: Pick<WholeChange, 'trailers'>): string | undefined {
  return trailers.find(([key]) => key === 'Cause')?.[1];
}

/** Throws if this kind of change is never undone. */
export function refuseChange(home: string, change: WholeChange): void {
  const {commit, parents, files, elsewhere, subject} = change;
  const id = commit.slice(0, 7);
  const refuse = (why: string, hint?: string) => {
    throw new UserError(
      `${id} (${visibleLine(subject)}) is not undone: ${why}; nothing was written`,
      exit.failed,
      hint,
    );
  };
  if (parents.length === 0) refuse('it is the first commit', 'edit the files instead');
  if (parents.length > 1) refuse('it is a merge', `by git: git revert -m 1 ${id}`);
  const others = [...elsewhere, ...files.map(({path}) => path).filter(path => !isOurs(path))];
  if (others.length > 0 || files.length === 0) {
    const which = others.length > 0 ? ` (${others.slice(0, 3).join(', ')})` : '';
    refuse(`it is your own commit, with files outside the home${which}`, `by git: git revert ${id}`);
  }
  const [why, hint] = CAUSES[causeOf(change) ?? ''] ?? [];
  if (why !== undefined) refuse(why, hint);
  // Tasks are judged field by field.
  if (causeOf(change) === 'fill-in' && files.every(({path}) => kindOf(path) === 'session'))
    refuse('the daemon would fill in the same fields again', 'edit the file');
  for (const {path, before, after} of files) {
    const said = ofFile(path);
    if (said !== undefined) refuse(said);
    if ([before, after].some(file => file && !/^100/.test(file.mode)))
      refuse(`${path} is a link`, `by git: git revert ${id}`);
    if (path === 'agentdir.yaml' && !before) refuse('without agentdir.yaml there is no home');
    if (kindOf(path) === 'conflict' && !before)
      refuse(`${path} holds your unmerged edit`, 'remove it when you no longer need it');
  }
  const running = readStatus(nodeDisk(home))?.unconfined;
  if (running !== undefined)
    refuse(`a command runs outside the sandbox (${visibleLine(running)}) and nothing written meanwhile counts`);
}

function isOurs(path: string): boolean {
  const kind = kindOf(path);
  return kind !== undefined && isJournalled(kind);
}

function ofFile(path: string): string | undefined {
  if (kindOf(path) === 'state') return `${path} records what was already done, so that nothing is done twice`;
  if (isSegment(path)) return `${path} holds archived messages of a session`;
  if (path.startsWith('tasks/archive/') && path !== APPROVALS_FILE) return `${stemOf(path)} holds archived requests`;
  return undefined;
}
