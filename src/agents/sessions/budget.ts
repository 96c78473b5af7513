import {allReachedLimits, firstReachedLimit, type LimitInput, type ReachedLimit} from '../../decide/limits.ts';
import {type ApprovalState, worseState} from '../../formats/approval/approval-state.ts';
import {stemOf} from '../../formats/common/key.ts';
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
    stateOf: id => approvalStateOf(files, id),
  };
}

/** The limits that a waiting session still exceeds. */
export function limitsReachedBy(daemon: With<'files' | 'approvals' | 'spend'>, path: string): Iterable<ReachedLimit> {
  const waiting = daemon.approvals.waits.get(path);
  return waiting ? allReachedLimits(inputOf(daemon, waiting)) : [];
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
