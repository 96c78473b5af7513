import {
  allReachedLimits,
  firstReachedLimit,
  isRequestLimit,
  type LimitInput,
  leftForCause,
  type ReachedLimit,
} from '../../decide/limits.ts';
import type {ToolFailure} from '../../effects/tool/tool.ts';
import {type ApprovalState, worseState} from '../../formats/approval/approval-state.ts';
import {stemOf} from '../../formats/common/key.ts';
import type {Caused} from '../../formats/session/causes.ts';
import type {Session} from '../../formats/session/session.ts';
import {SPEND_FILE, workIn} from '../../formats/session/spent.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {With} from '../state/parts.ts';
import {templateName} from '../state/spend.ts';

/** The limit that keeps this session from asking its model, if any. Cheap: called before each question. */
export function limitFor(daemon: With<'files' | 'spend'>, path: string, session: Session): ReachedLimit | undefined {
  const agent = session.header?.agent_id;
  if (agent === undefined) return undefined;
  return firstReachedLimit(inputOf(daemon, {session: stemOf(path), agent, work: workIn(session.messages)}));
}

/** The state of a request in the queue or its archive; undefined if there is none. A rejection wins. */
export function approvalStateOf({index}: HomeFiles, id: string): ApprovalState | undefined {
  const states = index.definitionsOf(`item/${id}`).flatMap(({state}) => (state ?? []) as ApprovalState | []);
  return states.length === 0 ? undefined : states.reduce(worseState);
}

/** How many requests wait for a person, in the queue or on their way there. Requests to raise a limit do not count. */
function openRequests({files, approvals}: With<'files' | 'approvals'>): number {
  const {promised, waits} = approvals;
  const written = new Set(waits.approvals());
  for (const [of, id] of promised) if (written.has(id)) promised.delete(of);
  let open = 0;
  for (const id of written) {
    const state = id.startsWith('budget-') ? 'approved' : approvalStateOf(files, id);
    if (state === undefined || state === 'pending') open++;
  }
  return open + promised.size;
}

/** The limit that keeps this session, or this task file, from asking a person, if any. */
export function requestLimitFor(
  daemon: With<'files' | 'approvals' | 'spend'>,
  path: string,
  agent: string,
): ReachedLimit | undefined {
  const of = {session: stemOf(path), agent, work: {since: 'start', turns: 0}};
  const requests = {open: openRequests(daemon), waits: false};
  for (const limit of allReachedLimits({...inputOf(daemon, of), requests})) if (limit.what === 'requests') return limit;
  return undefined;
}

function inputOf(
  {files, spend}: With<'files' | 'spend'>,
  of: Pick<LimitInput, 'session' | 'agent' | 'work'>,
): LimitInput {
  const {index} = files;
  const template = index.definitionsOf(`agent/${templateName(of.agent)}`)[0]?.path;
  return {
    session: of.session,
    agent: templateName(of.agent),
    work: of.work,
    day: spend.day,
    own: template === undefined ? undefined : index.facts(template)?.limits,
    home: index.facts('agentdir.yaml')?.limits,
    spent: {agent: spend.spentBy(of.agent), all: spend.all},
    caused: cause => spend.causes.of(cause),
    stateOf: id => approvalStateOf(files, id),
  };
}

/**
 * The failure for an agent that wants to make `count` tasks or messages, if fewer may still follow from the cause. Its session
 * then waits for a person before the next question: the same limit is reached there.
 */
export function tooManyCaused(
  {files, spend}: With<'files' | 'spend'>,
  cause: string,
  what: keyof Caused,
  count: number,
): ToolFailure | undefined {
  const {limit, left} = leftForCause(cause, what, {
    home: files.index.facts('agentdir.yaml')?.limits,
    caused: of => spend.causes.of(of),
    stateOf: id => approvalStateOf(files, id),
  });
  if (count <= left) return undefined;
  const setting = `limits.per_cause.${what}: ${limit} in agentdir.yaml`;
  const error =
    left <= 0
      ? `nothing was made: too many ${what} have followed from one cause (${setting}). A person is asked before the agents go on. Make the call again later if it is still needed`
      : `nothing was made: this call has ${count} ${what}, and ${left} more may follow from one cause (${setting}). Make fewer at a time`;
  return {success: false, code: 'NOT_ALLOWED', error};
}

/** The limits that a waiting session still exceeds. */
export function limitsReachedBy(daemon: With<'files' | 'approvals' | 'spend'>, path: string): Iterable<ReachedLimit> {
  const waiting = daemon.approvals.waits.get(path);
  if (!waiting) return [];
  const waits = isRequestLimit(waiting.approval);
  return allReachedLimits({
    ...inputOf(daemon, waiting),
    ...(waits && {requests: {open: openRequests(daemon), waits}}),
  });
}

/** Open requests to raise a limit, by id. */
export function budgetRequests(daemon: With<'files' | 'approvals' | 'spend'>): Map<string, ReachedLimit> {
  const asked = new Map<string, ReachedLimit>();
  for (const [path, {approval}] of daemon.approvals.waits.forMore()) {
    const limit = asked.has(approval) ? undefined : [...limitsReachedBy(daemon, path)].find(({id}) => id === approval);
    if (limit) asked.set(approval, limit);
  }
  return asked;
}

/** Call at the start, once the facts of all files are known. */
export function loadSpend({files, spend}: With<'files' | 'spend'>): void {
  const {index} = files;
  const sessions = [...index.paths()].flatMap(path => index.facts(path)?.session ?? []);
  spend.load(index.facts(SPEND_FILE)?.spend, sessions);
}

/** Schedule a write of the spend file. */
export function writeSpend(files: HomeFiles): void {
  lookAgain(files, SPEND_FILE);
}
