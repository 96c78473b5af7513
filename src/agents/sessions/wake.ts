import {afterWait} from '../../decide/after-wait.ts';
import type {CallRequest} from '../../decide/call-request.ts';
import {APPROVALS_FILE} from '../../formats/approval/approval-item.ts';
import {approvedPath, pendingPath} from '../../formats/approval/approval-path.ts';
import {blocks} from '../../formats/common/diagnostic.ts';
import {linkTarget} from '../../home/read.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {With} from '../state/parts.ts';
import {approvalStateOf, limitsReachedBy, requestLimitFor} from './budget.ts';
import {checkTargets, targetSignature} from './targets.ts';

/** A decided call begins before its page moves. */
const MOVE_MS = 60;

/**
 * Call after a change of limits, decisions, the day or waiting sessions. Looks again at sessions that may continue, at the
 * queue if a request is missing or no longer needed, and at the pages of decided requests.
 */
export function wakeSessions(daemon: With<'files' | 'reports' | 'approvals' | 'spend'>): void {
  const {files, reports, approvals} = daemon;
  const {waits} = approvals;
  const {index} = files;
  const {troubles} = reports;
  const due = waits.takeDue();
  if (!due) return;
  /** A request to raise a limit, or one of a call, is not in the queue yet. */
  let more = false;
  let missing = false;
  let queue = due.all && index.facts(APPROVALS_FILE)?.approvals !== undefined;
  for (const path of due.paths) {
    const limited = waits.get(path);
    if (limited) {
      const state = approvalStateOf(files, limited.approval);
      if (afterWait(limited.approval, state, limitsReachedBy(daemon, path)) !== 'wait') lookAgain(files, path);
      else if (state === undefined) more = true;
    }
    for (const id of waits.callsOf(path)) {
      const need = needOf(daemon, id);
      if (need === 'item') missing = true;
      else if (need === 'queue') queue = true;
      else if (need === 'page') lookAgain(files, pendingPath(id));
      else if (need === 'session') lookAgain(files, path);
    }
  }
  for (const id of due.all ? Object.keys(index.facts(APPROVALS_FILE)?.approvals ?? {}) : due.changed) {
    const state = approvalStateOf(files, id);
    if (state !== 'pending' && files.known.has(pendingPath(id))) lookAgain(files, pendingPath(id), MOVE_MS);
    if (state === 'rejected' && files.known.has(approvedPath(id))) lookAgain(files, approvedPath(id), MOVE_MS);
    // The session stopped waiting while the request was written.
    if (state === 'pending' && waits.for(id).size === 0) queue = true;
  }
  queue ||= due.unneeded.some(approval => files.index.facts(APPROVALS_FILE)?.approvals?.[approval] !== undefined);
  if (!more && !missing && !queue) return;
  if (more) daemon.spend.due();
  const why = more || missing ? notWritten(files) : undefined;
  troubles.set('ask', why && `sessions cannot ask you: ${APPROVALS_FILE} ${why}`);
  lookAgain(files, APPROVALS_FILE);
}

/** The files to look at for a call that waits for this request. */
function needOf(
  {files, approvals}: With<'files' | 'approvals'>,
  id: string,
): 'item' | 'queue' | 'page' | 'session' | undefined {
  const {index} = files;
  switch (approvalStateOf(files, id)) {
    case undefined:
      // The session must create the request first.
      return approvals.asked.has(id) ? 'item' : 'session';
    case 'pending':
      if (index.definitionsOf(`page/${id}`).length > 0) return undefined;
      return approvals.asked.has(id) ? 'page' : 'session';
    case 'withdrawn':
      return 'queue';
    default:
      return 'session';
  }
}

/** Remember a request, and look at the queue and the page, where it is written or was decided. */
export function registerRequest({files, approvals}: With<'files' | 'approvals'>, request: CallRequest): void {
  const isNew = !approvals.asked.has(request.id);
  approvals.ask(request);
  const target = isNew ? targetSignature(files, request) : undefined;
  if (target !== undefined) approvals.targets.set(request.id, target);
  if (!isNew) return;
  approvals.noteStep();
  lookAgain(files, APPROVALS_FILE);
  if (approvalStateOf(files, request.id) === 'pending') lookAgain(files, pendingPath(request.id));
}

/** After a policy change: judge waiting calls again, and look at the queue if rules were to be added. */
export function rejudgeWaitingCalls({files, approvals}: With<'files' | 'approvals'>): void {
  for (const path of approvals.waits.paths()) {
    if (approvals.waits.callsOf(path).length === 0) continue;
    approvals.staleSessions.add(path);
    lookAgain(files, path);
  }
  if (approvals.rules.size > 0) lookAgain(files, APPROVALS_FILE);
}

/** Why the queue cannot be written; undefined if it can. */
function notWritten({disk, index}: HomeFiles): string | undefined {
  if (blocks(index.problems(APPROVALS_FILE))) return 'has errors';
  return linkTarget(disk, APPROVALS_FILE) === undefined ? undefined : 'is a link, and nothing is written through it';
}

/** Look again at task files whose tasks could not be asked about, once there is room. People see until then that they wait. */
function wakeTaskFiles(daemon: With<'files' | 'reports' | 'approvals' | 'spend'>): void {
  const {heldTaskFiles, promised} = daemon.approvals;
  // By now the files have them, or never will.
  if (promised.size > 0) daemon.approvals.waits.fewerRequests();
  promised.clear();
  const [first] = heldTaskFiles;
  const limit = first === undefined ? undefined : requestLimitFor(daemon, first, '');
  const words = `tasks in ${[...heldTaskFiles].join(', ')} wait: ${limit?.used} requests need your decision first (limits.open_requests: ${limit?.limit} in agentdir.yaml)`;
  daemon.reports.troubles.set('requests', limit && words);
  if (limit) return;
  for (const path of heldTaskFiles) lookAgain(daemon.files, path);
  heldTaskFiles.clear();
}

/** Call every few seconds: a new day resets daily limits, requests expire, and target files change. */
export function wakeOnTimer(daemon: With<'files' | 'reports' | 'approvals' | 'spend'>): void {
  const {files} = daemon;
  const expires = files.index.facts(APPROVALS_FILE)?.expires;
  if (expires !== undefined && Date.parse(expires) < files.disk.clock.now()) lookAgain(files, APPROVALS_FILE);
  checkTargets(daemon);
  wakeTaskFiles(daemon);
  if (daemon.spend.day) wakeSessions(daemon);
}
