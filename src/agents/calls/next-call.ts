import {askedPart, type CallRequest} from '../../decide/call-request.ts';
import {hasExpired} from '../../decide/queue.ts';
import {taintOf} from '../../decide/taint.ts';
import {isFailure} from '../../effects/tool/failure.ts';
import type {Ask, ReadyCall, ToolResult} from '../../effects/tool/tool.ts';
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
import {boundDigest, editedDigest, judgeCall, withEdit} from '../approvals/judged-call.ts';
import {changedDecision, isBeingSaved, recordedPagePath} from '../approvals/known-page.ts';
import {signatureProblem} from '../approvals/signatures.ts';
import {approvalStateOf} from '../sessions/budget.ts';
import {registerRequest} from '../sessions/wake.ts';
import {newApprovalId} from '../state/approvals.ts';
import {type Caller, isCommand, isRepeatable} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import {interruptedResult, rejectedResult, resultOfDecision} from './call-ends.ts';
import {recallStartedCalls} from './recall-started.ts';
import {makeWorkspace, recoverWorkspace} from './workspaces.ts';

/** What is to be done about a call that has no result yet. */
export type NextCall =
  /** This is its result. */
  | {result: ToolResult}
  /** `instead`: it begins without the request that it waited for. */
  | {ready: ReadyCall; instead?: string}
  /** For the person. */
  | {wait: true}
  /** A person is to be asked, under the id of the request. */
  | {ask: CallRequest};

/**
 * The policy, the template and the decision count as they are now. `fresh`: make sure that what is asked still holds.
 * `begun`: it is marked as started, by us.
 */
export async function planCall(
  daemon: With<'files' | 'reports' | 'current' | 'turns' | 'approvals' | 'effects'>,
  caller: Caller,
  call: Call,
  signal: AbortSignal,
  {fresh = false, begun}: {fresh?: boolean; begun?: BegunCall},
): Promise<NextCall> {
  const {files, approvals, effects} = daemon;
  if (!begun) await recallStartedCalls(daemon, caller, call);
  const setting = await callSettingOf(daemon, caller, call, signal, begun);
  // A call that this daemon runs is known to `turns`.
  if (call.started !== undefined && !isRepeatable(call)) {
    const result = await interruptedResult(effects, call, caller, setting.context);
    await recoverWorkspace(daemon, caller);
    return {result};
  }
  const {approval} = call;
  const state = approval === undefined ? undefined : approvalStateOf(files, approval);
  const item = state === undefined ? undefined : await queueItem(files, APPROVALS_FILE, approval ?? '');
  const ended = resultOfDecision(state, item);
  if (ended) return {result: ended};
  const open = state === undefined || state === 'pending' || state === 'withdrawn';
  if (!fresh && open && approvals.asked.has(approval ?? '')) return {wait: true};
  const missing = await makeWorkspace(daemon, caller);
  // Given up by a stop, it says nothing about the call.
  if (missing) return daemon.turns.stopped ? {wait: true} : {result: missing};
  const asIs = await judgeCall(daemon, caller, call.function, setting);
  if ('result' in asIs) return asIs;
  // What a person has said to it counts, even where the policy allows the call by now: they may have changed it.
  if (!asIs.ready.asks && !(item && isSaid(files, item))) return policyAllows(files, asIs.ready, approval);
  const ask = await asIs.ready.ask();
  if (isFailure(ask)) return {result: ask};
  const digest = boundDigest(caller, call, ask.basis);
  if (state === 'approved' && item)
    return decided(daemon, {caller, call, setting, item, ask, digest, asIs: asIs.ready, begun});
  const settings = await daemon.current.settings();
  // An item that is gone comes back; what is about something else by now is another request.
  const same = item ? item.digest === digest && state !== 'superseded' : state === undefined;
  if (approval !== undefined && same) {
    registerRequest(daemon, requestOf(files, caller, call, ask, {id: approval, digest, settings}));
    return {wait: true};
  }
  const id = newApprovalId(effects.world.random);
  // The request of a session that this one is a copy of stays.
  if (approval !== undefined && item?.session === caller.session && item.call === call.id)
    approvals.outcomes.set(approval, {
      status: 'superseded',
      outcome: `nothing was run: what it is about has changed since it was asked; asked again as ${id}`,
    });
  return {ask: requestOf(files, caller, call, ask, {id, digest, settings})};
}

interface Decided {
  caller: Caller;
  call: Call;
  setting: CallSetting;
  item: ApprovalItem;
  ask: Ask;
  digest: string;
  asIs: ReadyCall;
  begun: BegunCall | undefined;
}

/** A call that a person said yes to: what runs is what they saw, or what they made of it. */
async function decided(
  daemon: With<'files' | 'reports' | 'current' | 'approvals' | 'effects'>,
  about: Decided,
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
    // Said after it was judged, while it was marked or waited to run.
    const turned = await changedDecision(files, item);
    if (turned) return 'no' in turned ? {result: rejectedResult(turned.no.reason)} : {wait: true};
  } else if (await mayBeTurned(files, caller, item)) return {wait: true};
  if (hasExpired(item, item.at ?? '')) return again('it was decided too late');
  const edited = fieldOf(item.task, 'edited') === 'true';
  const {edits} = ask;
  const original = edits && askedPart(ask, edits.label);
  const edit =
    edited && edits && original !== undefined
      ? await recordedEdit(files, item, {...edits, original}, text =>
          editedDigest(daemon, caller, withEdit(call, edits.argument, text), setting),
        )
      : undefined;
  if (edited && edit === undefined) return again('what was approved is not there any more, or has changed since');
  if (item.digest !== digest && (edited || asIs.asks)) return again('what it is about has changed since it was asked');
  const signed = ask.question ? item.answer : edit?.shown;
  const unsigned = await signatureProblem(daemon, {item, digest: item.digest ?? '', edited: signed});
  daemon.reports.troubles.set(`approval ${item.id}`, unsigned && `approval ${item.id}: ${unsigned}`);
  if (unsigned !== undefined) {
    approvals.reportedInvalid.add(item.id ?? '');
    return {wait: true};
  }
  if (ask.question) return {result: {success: true, answer: item.answer ?? ''}};
  const bound = isCommand(call) && Object.keys(ask.basis).some(key => key !== 'where');
  if (edit === undefined || !edits) return {ready: {...asIs, alone: bound}};
  const {text} = edit;
  const anew = await judgeCall(daemon, caller, withEdit(call, edits.argument, text).function, setting);
  if ('result' in anew) return {result: {...anew.result, edited: {[edits.argument]: text}}};
  // What the person wrote may run others.
  return {ready: {...asEdited(anew.ready, {[edits.argument]: text}), alone: isCommand(call)}};
}

/** Whether the page or the queue says something else by now, or may in a moment. */
async function mayBeTurned(files: HomeFiles, {path}: Caller, item: ApprovalItem): Promise<boolean> {
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

/** The agent is told what ran in place of what it had written. */
function asEdited(ready: ReadyCall, edited: Record<string, string>): ReadyCall {
  const note = 'a person changed this call before approving it; it was done as in `edited`';
  return {...ready, edited, execute: async () => ({...(await ready.execute()), edited, edited_note: note})};
}

function policyAllows(files: HomeFiles, ready: ReadyCall, approval: string | undefined): NextCall {
  const open = approval !== undefined && approvalStateOf(files, approval) !== 'approved';
  return open ? {ready, instead: approval} : {ready};
}

/** Whether a person has decided, in either place. */
function isSaid({index}: HomeFiles, {id, decision}: ApprovalItem): boolean {
  return decision !== undefined || index.definitionsOf(`page/${id}`).some(({state}) => state !== null);
}

/** Each decision is for one call. */
function isUsed({of}: Caller, {approval}: Call): boolean {
  return of.messages.some(({tool_calls = []}) =>
    tool_calls.some(call => call.approval === approval && call.started !== undefined),
  );
}

/** So long a request waits, unless the settings say otherwise. */
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
  };
}
