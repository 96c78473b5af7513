import {APPROVALS_FILE} from '../files/approval-item.ts';
import type {BudgetState} from '../files/budget-item.ts';
import {hasErrors} from '../files/diagnostic.ts';
import {stemOf} from '../files/key.ts';
import type {Session} from '../files/session.ts';
import {SPEND_FILE, workIn} from '../files/spent.ts';
import {afterWait} from '../reconcile/after-wait.ts';
import {allReached, type LimitInput, type Reached, reached} from '../reconcile/limits.ts';
import {linkTarget} from '../store/read.ts';
import type {Serving} from './serving.ts';
import {templateName} from './spend.ts';

/** The limit that keeps this session from asking its model, if there is one. Cheap: it is asked before each call. */
export function limitFor(serving: Serving, path: string, session: Session): Reached | undefined {
  const agent = session.header?.agent_id;
  if (agent === undefined) return undefined;
  return reached(inputOf(serving, {session: stemOf(path), agent, work: workIn(session.messages)}));
}

/** What became of a request for more; undefined if there is none of that id. Reject wins. */
export function budgetStateOf({index}: Serving, id: string): BudgetState | undefined {
  const states = index.definitionsOf(`item/${id}`).map(({state}) => state);
  for (const state of ['rejected', 'approved', 'withdrawn', 'pending'] as const)
    if (states.includes(state)) return state;
  return undefined;
}

function inputOf(serving: Serving, of: Pick<LimitInput, 'session' | 'agent' | 'work'>): LimitInput {
  const {index, spend} = serving;
  const template = index.definitionsOf(`agent/${templateName(of.agent)}`)[0]?.path;
  return {
    session: of.session,
    agent: templateName(of.agent),
    work: of.work,
    day: spend.day,
    own: template === undefined ? undefined : index.facts(template)?.limits,
    home: index.facts('agentdir.yaml')?.limits,
    spent: {agent: spend.of(of.agent), all: spend.all},
    stateOf: id => budgetStateOf(serving, id),
  };
}

/** The limits that a waiting session has reached. */
export function reachedBy(serving: Serving, path: string): Iterable<Reached> {
  const waiting = serving.waits.get(path);
  return waiting ? allReached(inputOf(serving, waiting)) : [];
}

/** Requests that sessions wait for, and that are still to be decided, by id. */
export function askedFor(serving: Serving): Map<string, Reached> {
  const asked = new Map<string, Reached>();
  for (const approval of serving.waits.approvals()) {
    for (const path of serving.waits.for(approval)) {
      const limit = [...reachedBy(serving, path)].find(({id}) => id === approval);
      if (!limit) continue;
      asked.set(approval, limit);
      break;
    }
  }
  return asked;
}

/**
 * After limits, decisions, the day or who waits has changed: look again at the sessions that need not wait any more,
 * and at the queue if a request is missing there or not needed.
 */
export function wake(serving: Serving): void {
  const {waits, index, troubles} = serving;
  const due = waits.takeDue();
  if (!due) return;
  let missing = false;
  for (const path of due.paths) {
    const approval = waits.get(path)?.approval;
    if (approval === undefined) continue;
    const state = budgetStateOf(serving, approval);
    if (afterWait(approval, state, reachedBy(serving, path)) !== 'wait') lookAgain(serving, path);
    else if (state === undefined) missing = true;
  }
  const decided = due.all && index.facts(APPROVALS_FILE)?.budgets !== undefined;
  const left = decided || due.left.some(approval => budgetStateOf(serving, approval) === 'pending');
  if (!missing && !left) return;
  if (missing) serving.spend.due();
  const why = missing ? notWritten(serving) : undefined;
  troubles.set('ask', why && `sessions at their limit cannot ask you: ${APPROVALS_FILE} ${why}`);
  lookAgain(serving, APPROVALS_FILE);
}

/** Why nothing can be added to the queue. */
function notWritten({home, index}: Serving): string | undefined {
  if (hasErrors(index.problems(APPROVALS_FILE))) return 'has errors';
  return linkTarget(home, APPROVALS_FILE) === undefined ? undefined : 'is a link, and nothing is written through it';
}

/** To be called every few seconds: what is used up today is not tomorrow. */
export function wakeOnNewDay(serving: Serving): void {
  if (serving.spend.day && !serving.loading) wake(serving);
}

/** At the start, when the facts of all files are known. */
export function loadSpend({index, spend}: Serving): void {
  const sessions = [...index.paths()].flatMap(path => index.facts(path)?.session ?? []);
  spend.load(index.facts(SPEND_FILE)?.spend, sessions);
}

/** Write down what was used, in its turn. */
export function writeSpend(serving: Serving): void {
  lookAgain(serving, SPEND_FILE);
}

/** Look at a file although it is as it was: something that it depends on is not. */
export function lookAgain({known, nudged, queue}: Serving, path: string): void {
  const file = known.get(path);
  if (file) file.settled = false;
  nudged.add(path);
  queue.add(path);
}
