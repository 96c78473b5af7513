import {APPROVALS_FILE} from '../../files/approval/approval-item.ts';
import {blocks} from '../../files/diagnostic.ts';
import {afterWait} from '../../reconcile/after-wait.ts';
import type {CallRequest} from '../../reconcile/call-request.ts';
import {linkTarget} from '../../store/read.ts';
import {approvedPage, pendingPage} from '../approvals/approvals.ts';
import {noticeTargets, targetSign} from '../approvals/targets.ts';
import {lookAgain} from '../look-again.ts';
import type {Serving} from '../serving.ts';
import {approvalStateOf, reachedBy} from './budget.ts';

/** What was decided begins first; then its page moves. */
const MOVE_MS = 60;

/**
 * After limits, decisions, the day or who waits has changed: look again at the sessions that need not wait any more, at
 * the queue if a request is missing there or not needed, and at pages of what is decided.
 */
export function wake(serving: Serving): void {
  const {waits, index, troubles} = serving;
  const due = waits.takeDue();
  if (!due) return;
  /** Requests that are not in the queue yet: to go on beyond a limit, and of calls. */
  let more = false;
  let missing = false;
  let queue = due.all && index.facts(APPROVALS_FILE)?.approvals !== undefined;
  for (const path of due.paths) {
    const limited = waits.get(path);
    if (limited) {
      const state = approvalStateOf(serving, limited.approval);
      if (afterWait(limited.approval, state, reachedBy(serving, path)) !== 'wait') lookAgain(serving, path);
      else if (state === undefined) more = true;
    }
    for (const id of waits.callsOf(path)) {
      const need = needOf(serving, id);
      if (need === 'item') missing = true;
      else if (need === 'queue') queue = true;
      else if (need === 'page') lookAgain(serving, pendingPage(id));
      else if (need === 'session') lookAgain(serving, path);
    }
  }
  for (const id of due.all ? Object.keys(index.facts(APPROVALS_FILE)?.approvals ?? {}) : due.changed) {
    const state = approvalStateOf(serving, id);
    if (state !== 'pending' && serving.known.has(pendingPage(id))) lookAgain(serving, pendingPage(id), MOVE_MS);
    if (state === 'rejected' && serving.known.has(approvedPage(id))) lookAgain(serving, approvedPage(id), MOVE_MS);
    // Who asked has let go of it while it was being written down.
    if (state === 'pending' && waits.for(id).size === 0) queue = true;
  }
  queue ||= due.left.some(approval => serving.index.facts(APPROVALS_FILE)?.approvals?.[approval] !== undefined);
  if (!more && !missing && !queue) return;
  if (more) serving.spend.due();
  const why = more || missing ? notWritten(serving) : undefined;
  troubles.set('ask', why && `sessions that wait for you cannot ask: ${APPROVALS_FILE} ${why}`);
  lookAgain(serving, APPROVALS_FILE);
}

/** What is to be looked at for a call that waits for this request. */
function needOf(serving: Serving, id: string): 'item' | 'queue' | 'page' | 'session' | undefined {
  const {index, approvals} = serving;
  switch (approvalStateOf(serving, id)) {
    case undefined:
      // What is asked has to be put into words by the session first.
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

/** From now on this request is in words: look where it is to be written or was decided meanwhile. */
export function putIntoWords(serving: Serving, request: CallRequest): void {
  const isNew = !serving.approvals.asked.has(request.id);
  serving.approvals.ask(request);
  const target = isNew ? targetSign(serving, request) : undefined;
  if (target !== undefined) serving.approvals.targets.set(request.id, target);
  if (!isNew) return;
  lookAgain(serving, APPROVALS_FILE);
  if (approvalStateOf(serving, request.id) === 'pending') lookAgain(serving, pendingPage(request.id));
}

/** The policy is another: what calls wait for may be allowed by now, and a rule that was to be added may be there. */
export function reconsider(serving: Serving): void {
  for (const path of serving.waits.paths()) {
    if (serving.waits.callsOf(path).length === 0) continue;
    serving.approvals.stale.add(path);
    lookAgain(serving, path);
  }
  if (serving.approvals.rules.size > 0) lookAgain(serving, APPROVALS_FILE);
}

/** Why nothing can be added to the queue. */
function notWritten({disk, index}: Serving): string | undefined {
  if (blocks(index.problems(APPROVALS_FILE))) return 'has errors';
  return linkTarget(disk, APPROVALS_FILE) === undefined ? undefined : 'is a link, and nothing is written through it';
}

/** To be called every few seconds: what is used up today is not tomorrow, and nobody waits for ever. */
export function wakeInTime(serving: Serving): void {
  if (serving.loading) return;
  const expires = serving.index.facts(APPROVALS_FILE)?.expires;
  if (expires !== undefined && Date.parse(expires) < serving.clock.now()) lookAgain(serving, APPROVALS_FILE);
  noticeTargets(serving);
  if (serving.spend.day) wake(serving);
}
