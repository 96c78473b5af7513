import {askedPart, type CallRequest} from '../../decide/call-request.ts';
import {hasExpired} from '../../decide/queue.ts';
import {taintOf} from '../../decide/taint.ts';
import {isFailure} from '../../effects/tool/failure.ts';
import type {Ask, ReadyCall, ToolFailure, ToolResult} from '../../effects/tool/tool.ts';
import {grantFields} from '../../formats/approval/approval-grants.ts';
import {APPROVALS_FILE, type ApprovalItem} from '../../formats/approval/approval-item.ts';
import {approvedPath} from '../../formats/approval/approval-path.ts';
import {durationMs} from '../../formats/common/values.ts';
import type {Call} from '../../formats/session/session-schema.ts';
import type {Settings} from '../../formats/settings.ts';
import {fieldOf} from '../../formats/task/task.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain, PAGE_SAVE_MS} from '../../loop/look-again.ts';
import {type BegunCall, type CallSetting, callSettingOf} from '../approvals/call-context.ts';
import {queueItem, recordedEdit} from '../approvals/decisions.ts';
import {bindCall, EDITED_NOTE, editedDigest, judgeCall, withEdit} from '../approvals/judged-call.ts';
import {changedDecision, isBeingSaved, recordedPagePath} from '../approvals/known-page.ts';
import {signatureProblem} from '../approvals/signatures.ts';
import {approvalStateOf} from '../sessions/budget.ts';
import {registerRequest} from '../sessions/wake.ts';
import {newApprovalId} from '../state/approvals.ts';
import {type Caller, isCommand, isRepeatable, isTask} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import {interruptedResult, rejectedResult, resultOfDecision} from './call-ends.ts';
import {recallStartedCalls} from './recall-started.ts';
import {makeWorkspace, recoverWorkspace} from './workspaces.ts';

/** The next action for a call without a result. */
export type NextCall =
  /** The call ends with this result. */
  | {result: ToolResult}
  /** The call may run. `instead`: the request that is no longer needed. */
  | {ready: ReadyCall; instead?: string}
  /** Wait for a person's decision. `full`: the call must be asked about, and too many requests are open already. */
  | {wait: true; full?: true}
  /** Ask a person with this request. */
  | {ask: CallRequest};

/**
 * Judge a call by the current policy, template and decision. `fresh`: compute the request again even if it is already
 * registered. `begun`: this daemon has marked the call as started. `isFull`: whether too many requests are open.
 */
export async function planCall(
  daemon: With<'files' | 'reports' | 'current' | 'turns' | 'approvals' | 'effects'>,
  caller: Caller,
  call: Call,
  signal: AbortSignal,
  {fresh = false, begun, isFull}: {fresh?: boolean; begun?: BegunCall; isFull?: () => boolean},
): Promise<NextCall> {
  const {files, approvals, effects} = daemon;
  if (!begun) await recallStartedCalls(daemon, caller, call);
  const setting = await callSettingOf(daemon, caller, call, signal, begun);
  if (wasInterrupted(call)) {
    const result = await interruptedResult(effects, call, caller, setting.context);
    await recoverWorkspace(daemon, caller);
    return {result};
  }
  const {approval} = call;
  const state = approval === undefined ? undefined : approvalStateOf(files, approval);
  const item = state === undefined ? undefined : await queueItem(files, APPROVALS_FILE, approval ?? '');
  const ended = resultOfDecision(state, item);
  if (ended) return {result: isTask(call) ? {...ended, status: 'rejected'} : ended};
  const open = state === undefined || state === 'pending' || state === 'withdrawn';
  if (!fresh && open && approvals.asked.has(approval ?? '')) return {wait: true};
  const missing = await makeWorkspace(daemon, caller);
  // A failure caused by stopping the daemon is not a result of the call.
  if (missing) return daemon.turns.stopped ? {wait: true} : {result: missing};
  const asIs = await judgeCall(daemon, caller, call.function, setting);
  if ('result' in asIs) return asIs;
  // A decision counts even if the policy now allows the call: the person may have edited the call.
  if (!asIs.ready.asks && !(item && isDecided(files, item))) return policyAllows(files, asIs.ready, approval);
  if (approval === undefined && isFull?.()) return {wait: true, full: true};
  const asked = begun ? await asIs.ready.ask() : await askAtRest(daemon, caller, call, asIs.ready);
  if (!asked) return {wait: true};
  if (isFailure(asked)) return {result: asked};
  const {basis, digest} = bindCall(approvals, caller, call, asked.basis, item?.digest);
  const ask = {...asked, basis};
  if (state === 'approved' && item)
    return planApproved(daemon, {caller, call, setting, item, ask, digest, asIs: asIs.ready, begun});
  const settings = await daemon.current.settings();
  // A removed item is restored. If the call's context has changed, this is a new request.
  const same = item ? item.digest === digest && state !== 'superseded' : state === undefined;
  if (approval !== undefined && same) {
    registerRequest(daemon, requestOf(files, caller, call, ask, {id: approval, digest, settings}));
    return {wait: true};
  }
  const id = newApprovalId(effects.world.random);
  // In a forked session, leave the original session's request alone.
  if (approval !== undefined && item?.session === caller.session && item.call === call.id)
    approvals.outcomes.set(approval, {
      status: 'superseded',
      outcome: `nothing was run: what it is about has changed since it was asked; asked again as ${id}`,
    });
  approvals.promised.set(`${caller.path} ${call.id}`, id);
  return {ask: requestOf(files, caller, call, ask, {id, digest, settings})};
}

/**
 * What a person is asked about a call. For a command, nothing may change its workspace meanwhile: a running program could
 * later write through a memory mapping without a trace. Undefined: calls run there, and the session is looked at again
 * when they have ended.
 */
async function askAtRest(
  {files, turns}: With<'files' | 'turns'>,
  {agent, path}: Caller,
  call: Call,
  ready: ReadyCall,
): Promise<Ask | ToolFailure | undefined> {
  if (!isCommand(call)) return ready.ask();
  const {workspaceLocks, stopping} = turns;
  if (!workspaceLocks.isFree(agent, true)) {
    workspaceLocks.whenFree(agent, path, stopping, () => lookAgain(files, path));
    return undefined;
  }
  const leave = await workspaceLocks.enter(agent, true, stopping);
  try {
    return await ready.ask();
  } finally {
    leave?.();
  }
}

interface ApprovedCall {
  caller: Caller;
  call: Call;
  setting: CallSetting;
  item: ApprovalItem;
  ask: Ask;
  digest: string;
  asIs: ReadyCall;
  begun: BegunCall | undefined;
}

/** Plan an approved call: it runs exactly as the person saw or edited it, otherwise they are asked again. */
async function planApproved(
  daemon: With<'files' | 'reports' | 'current' | 'approvals' | 'effects'>,
  about: ApprovedCall,
): Promise<NextCall> {
  const {files, approvals} = daemon;
  const {caller, call, setting, item, ask, digest, asIs, begun} = about;
  const wasUsed = !begun && approvals.started.has(item.id ?? '');
  const isOwn =
    item.session === caller.session &&
    item.call === call.id &&
    item.agent === caller.agent &&
    item.type === ask.type &&
    item.outcome === undefined &&
    !isUsed(caller, call);
  const again = async (why: string): Promise<NextCall> => {
    const settings = await daemon.current.settings();
    const id = newApprovalId(daemon.effects.world.random);
    if (isOwn || wasUsed)
      approvals.outcomes.set(item.id ?? '', {
        status: 'superseded',
        outcome: `nothing was run: ${why}; asked again as ${id}`,
      });
    return {ask: requestOf(files, caller, call, ask, {id, digest, settings})};
  };
  if (wasUsed) return again('it ran before, and an older version of its session was brought back');
  if (!isOwn) return again('it was asked about another call');
  if (begun) {
    // The person may have changed the decision while the call was marked or waited to run.
    const changed = await changedDecision(files, item);
    if (changed) return 'no' in changed ? {result: rejectedResult(changed.no.reason)} : {wait: true};
  } else if (await decisionMayChange(files, caller, item)) return {wait: true};
  if (hasExpired(item, item.at ?? '')) return again('it was decided too late');
  const edited = fieldOf(item.task, 'edited') === 'true';
  const {edits} = ask;
  const original = edits && askedPart(ask, edits.label);
  const edit =
    edited && edits && original !== undefined
      ? await recordedEdit(files, item, {...edits, original}, text =>
          editedDigest(
            daemon,
            caller,
            withEdit(call, edits.argument, text, item.grants ?? {}),
            setting,
            fieldOf(item.task, 'edited_digest'),
          ),
        )
      : undefined;
  if (edited && edit === undefined) return again('what was approved is not there any more, or has changed since');
  if (item.digest !== digest && (edited || asIs.asks)) return again('what it is about has changed since it was asked');
  const isSameText = edit?.text.trimEnd() === original?.trimEnd();
  const signed = ask.question ? item.answer : isSameText ? undefined : edit?.shown;
  const grants = (edited && item.grants) || {};
  const unsigned = await signatureProblem(daemon, {item, digest: item.digest ?? '', edited: signed, grants});
  daemon.reports.troubles.set(`approval ${item.id}`, unsigned && `approval ${item.id}: ${unsigned}`);
  if (unsigned !== undefined) {
    approvals.reportedInvalid.add(item.id ?? '');
    return {wait: true};
  }
  if (ask.question) return {result: {success: true, answer: item.answer ?? ''}};
  if (edit === undefined || !edits) return {ready: {...asIs, alone: true}};
  const {text} = edit;
  const changed = {...(isSameText ? {} : {[edits.argument]: text}), ...grantFields(grants)};
  const rejudged = await judgeCall(daemon, caller, withEdit(call, edits.argument, text, grants).function, setting);
  if ('result' in rejudged) return {result: {...rejudged.result, edited: changed}};
  return {ready: {...asEdited(rejudged.ready, changed), alone: true}};
}

/** Whether the page or the queue holds another decision, or is being saved. */
async function decisionMayChange(files: HomeFiles, {path}: Caller, item: ApprovalItem): Promise<boolean> {
  const page = recordedPagePath(files, item.id ?? '');
  const isPageSaved = isBeingSaved(files, page) && !files.looks.beingCreated.has(approvedPath(item.id ?? ''));
  const saved = isPageSaved ? page : isBeingSaved(files, APPROVALS_FILE) ? APPROVALS_FILE : undefined;
  if (saved !== undefined) {
    lookAgain(files, saved);
    lookAgain(files, path, PAGE_SAVE_MS);
    return true;
  }
  if ((await changedDecision(files, item)) === undefined) return false;
  lookAgain(files, APPROVALS_FILE);
  return true;
}

/** The call with a note in its result that shows the edited arguments to the agent. */
function asEdited(ready: ReadyCall, edited: Record<string, string>): ReadyCall {
  return {...ready, edited, execute: async () => ({...(await ready.execute()), edited, edited_note: EDITED_NOTE})};
}

function policyAllows(files: HomeFiles, ready: ReadyCall, approval: string | undefined): NextCall {
  const open = approval !== undefined && approvalStateOf(files, approval) !== 'approved';
  return open ? {ready, instead: approval} : {ready};
}

/** Whether a person has decided, in the queue or on the page. */
function isDecided({index}: HomeFiles, {id, decision}: ApprovalItem): boolean {
  return decision !== undefined || index.definitionsOf(`page/${id}`).some(({state}) => state !== null);
}

/** Whether a started call of the session has used this approval, which is valid for one call. */
function isUsed({of}: Caller, {approval}: Call): boolean {
  return of.messages.some(({tool_calls = []}) =>
    tool_calls.some(call => call.approval === approval && call.started !== undefined),
  );
}

/** Whether an earlier daemon started this open call. For calls that this daemon does not run: those are in `turns`. */
export function wasInterrupted(call: Call): boolean {
  return call.started !== undefined && !isRepeatable(call);
}

/** How long a request stays open by default. */
export const EXPIRE_AFTER = '7d';

function requestOf(
  {disk}: HomeFiles,
  {path, session, agent, of}: Caller,
  call: Call,
  ask: Ask,
  {id, digest, settings}: {id: string; digest: string; settings: Settings},
): CallRequest {
  const {clock} = disk;
  const now = clock.now();
  const {parent} = of.header ?? {};
  const after = settings.approvals?.expire_after;
  const ms = after === null ? undefined : durationMs(after ?? EXPIRE_AFTER);
  return {
    id,
    path,
    session,
    agent,
    call: call.id,
    tool: call.function.name,
    ask,
    digest,
    created: new Date(now).toISOString(),
    expires: ms === undefined ? undefined : new Date(now + ms).toISOString(),
    taint: taintOf(of),
    ...(parent && {delegated: {...parent, description: of.messages[0]?.content ?? ''}}),
  };
}
