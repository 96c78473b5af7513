import {APPROVALS_FILE, type ApprovalItem, readApprovalItems} from '../../../formats/approval/approval-item.ts';
import type {Decision} from '../../../formats/approval/approval-review.ts';
import {strayEdit} from '../../../formats/approval/approval-shown.ts';
import {hasErrors} from '../../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {visibleLine} from '../../../formats/common/visible.ts';
import {fieldOf} from '../../../formats/task/task.ts';
import {updateTasks} from '../../../formats/task/task-edit.ts';
import {parseTasks} from '../../../formats/task/task-parse.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {editFile} from '../../../home/edit-file.ts';
import {daemonOf, lastStatus, readStatus} from '../../../home/status.ts';
import {fileError} from '../talk/file-error.ts';
import {pendingPage} from './page.ts';
import {
  type ApprovalQueue,
  isExpired,
  isUnrecorded,
  type Request,
  readQueue,
  refuseBrokenQueue,
  requestOf,
} from './queue.ts';

/** A decision about a request that was shown. */
export interface PersonDecision {
  /** The request as it was shown. */
  request: Request;
  decision: Decision;
  /** Fields to set; undefined removes one. */
  fields: Readonly<Record<string, string | undefined>>;
  /** The page as it was shown. If it has changed since, the decision is refused. */
  shown?: Buffer | undefined;
}

/** If one of these fields differs, it is another request. */
const BOUND = ['digest', 'command', 'tool', 'agent', 'session', 'call', 'approval_type'] as const;

/** Writes all decisions into the queue, or none. Returns the new items. */
export function decide(home: string, choices: readonly PersonDecision[]): Promise<Request[]> {
  refuseVoid(home);
  return editFile(home, APPROVALS_FILE, () => {
    const queue = readQueue(home);
    refuseBrokenQueue(queue);
    const changes = choices.map(choice => [admitted(home, queue, choice), choice] as const);
    const text = updateTasks(
      queue.file,
      changes.map(([{task}, {decision, fields}]) => [task, {box: decision === 'approved' ? 'x' : '-', fields}]),
    );
    const after = readApprovalItems(parseTasks(text)).items;
    for (const choice of choices) refuseUnlessSaid(after, choice);
    const ids = new Set(choices.map(({request}) => request.id));
    return {
      expected: queue.bytes,
      text,
      saved: () =>
        after.flatMap(item =>
          item.id !== undefined && ids.has(item.id) ? [{...item, id: item.id, path: APPROVALS_FILE}] : [],
        ),
    };
  });
}

/** The daemon, or the next one, would revert it. */
function refuseVoid(home: string): void {
  const disk = nodeDisk(home);
  const running = readStatus(disk)?.unconfined;
  if (running !== undefined)
    throw new UserError(
      `no decision counts while a command runs outside the sandbox (${visibleLine(running)}); nothing was written`,
      exit.failed,
      'decide when it has ended: agentdir status',
    );
  const left = daemonOf(disk) ? undefined : lastStatus(disk)?.unconfined;
  if (left !== undefined)
    throw new UserError(
      `the daemon was killed while a command ran outside the sandbox (${visibleLine(left)}); no decision counts until a daemon has ended it; nothing was written`,
      exit.failed,
      'start the daemon, then decide: agentdir start --background',
    );
}

/** The current item; throws if this decision may not be written. */
function admitted(
  home: string,
  queue: ApprovalQueue,
  {request: {id, task}, decision, fields, shown}: PersonDecision,
): Request {
  const now = requestOf(queue, id);
  if (!now) throw new UserError(`${id} is no longer in ${APPROVALS_FILE}`, exit.failed, 'see agentdir log');
  refuseDecided(home, now, decision, 'signature' in fields || 'answer' in fields);
  const isOther = shown !== undefined && !pendingPage(home, id)?.bytes.equals(shown);
  if (isOther || BOUND.some(key => fieldOf(now.task, key) !== fieldOf(task, key)))
    throw new UserError(
      `${id} was changed while you decided; nothing was written`,
      exit.failed,
      `look at it again: agentdir approvals ${id}`,
    );
  return now;
}

/**
 * An approved request can be rejected until it has run, whatever its page says. Until then it can be approved again
 * with `more`: a missing signature or answer.
 */
export function refuseDecided(home: string, request: Request, decision: Decision, more = false): void {
  const {id} = request;
  const takesBack = decision === 'rejected' && request.decision === 'approved' && mayRunYet(request);
  const again = more && decision === 'approved' && request.decision === 'approved' && mayRunYet(request);
  if (!takesBack && !again && (request.decision || !isUnrecorded(request)))
    throw new UserError(`${decided(request)}; nothing was written`, exit.failed, missing(request, decision));
  const page = pendingPage(home, id);
  const written = page?.file.review?.decision;
  if (decision === 'approved') {
    if (page && hasErrors(page.file.problems)) throw fileError(page.path, page.file.problems);
    const stray = page && strayEdit(page.file.text);
    if (stray !== undefined) throw new UserError(`${page?.path} ${stray}; nothing was written`, exit.failed);
  }
  const wins = decision === 'rejected' && written === 'approved';
  if (page && written && !(wins || again || (more && written === decision)))
    throw new UserError(
      `${id} is ${written} in ${page.path} already; nothing was written`,
      exit.failed,
      'change it there, in an editor',
    );
  if (decision === 'approved' && isExpired(request, Date.now()))
    throw new UserError(
      `${id} has expired (${fieldOf(request.task, 'expires')}); nothing was written`,
      exit.failed,
      'if it is still needed, tell the agent to ask again: agentdir send',
    );
}

/** A rejection does not stop a running call. */
export async function refuseStarted(home: string, requests: readonly Request[]): Promise<void> {
  for (const request of requests) {
    if (request.decision !== 'approved' || isUnrecorded(request)) continue;
    // Load the session reader only when needed.
    const found = (await import('./asked-for.ts')).callOf(home, request);
    if (found?.call.approval !== request.id || found.call.started === undefined) continue;
    throw new UserError(
      `${request.id} has started (${found.call.started}): rejecting does not stop it; nothing was written`,
      exit.failed,
      `to end it, write status: paused in ${found.path}`,
    );
  }
}

/** Why an approval was not accepted. */
function missing(request: Request, decision: Decision): string | undefined {
  const {id, type, answer} = request;
  if (decision !== 'approved' || request.decision !== 'approved' || !isUnrecorded(request)) return undefined;
  if (type === 'question' && answer === undefined)
    return `the question has no answer: agentdir approve ${id} --answer TEXT`;
  return 'the daemon has not processed it yet; if that lasts, see agentdir status';
}

function mayRunYet(request: Request): boolean {
  const ran = ['started', 'executed_at', 'outcome'].some(key => fieldOf(request.task, key) !== undefined);
  return isUnrecorded(request) || (request.status === 'approved' && !ran);
}

function decided({id, task, status, decision, by, at}: Request): string {
  const word = status && status !== 'pending' ? status : (decision ?? 'decided');
  const who = by ?? fieldOf(task, 'approved_by') ?? fieldOf(task, 'rejected_by');
  const outcome = fieldOf(task, 'outcome');
  return `${id} is ${word} already${who ? `, by ${who}` : ''}${at ? `, ${at}` : ''}${outcome ? ` (${outcome})` : ''}`;
}

/** Refuses an edit that would say anything else. */
function refuseUnlessSaid(items: readonly ApprovalItem[], {request, decision, fields}: PersonDecision): void {
  const [item, second] = items.filter(({id}) => id === request.id);
  const said = Object.entries(fields).every(([key, value]) => item && fieldOf(item.task, key) === value);
  if (item?.decision !== decision || second || !said)
    throw new UserError(
      `the lines of ${request.id} have no room for the decision`,
      exit.badFile,
      `write it in an editor: ${APPROVALS_FILE}`,
    );
}
