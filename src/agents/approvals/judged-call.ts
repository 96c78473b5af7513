import type {CallRequest} from '../../decide/call-request.ts';
import {isFailure} from '../../effects/tool/failure.ts';
import type {Ask, ReadyCall, ToolResult} from '../../effects/tool/tool.ts';
import {WHOLE} from '../../effects/tools/script-basis.ts';
import {callDigest} from '../../formats/approval/approval-digest.ts';
import type {Grants} from '../../formats/approval/approval-grants.ts';
import type {Call} from '../../formats/session/session-schema.ts';
import {acceptedSession} from '../sessions/read-session.ts';
import type {Approvals} from '../state/approvals.ts';
import {type Caller, capabilitiesOf} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import {type CallSetting, callSettingOf} from './call-context.ts';

/** Judge a call by the current policy and template. */
export async function judgeCall(
  {reports, current, effects}: With<'reports' | 'current' | 'effects'>,
  caller: Caller,
  {name, arguments: args}: Call['function'],
  {context, plain, services, signal}: CallSetting,
): Promise<{result: ToolResult} | {ready: ReadyCall}> {
  const policy = await current.policy();
  reports.redact.follow(await current.settings());
  const call = {name, arguments: args, capabilities: capabilitiesOf(caller), policy};
  const prepared = await effects.tools.prepare(call, context);
  if ('refused' in prepared) return {result: prepared.refused};
  // A call that asks is executed only after a person approved it.
  const execute = () => effects.runner.execute({...call, ...plain, approved: prepared.asks}, services, signal);
  const ready = {...prepared, execute};
  if (ready.effect === 'read' || current.hasTemplate(caller.agent)) return {ready};
  return {result: {success: false, code: 'NOT_ALLOWED', error: 'the template of this agent was removed'}};
}

/** For the agent, in the result of a call that ran with other arguments. */
export const EDITED_NOTE = 'a person changed this call before approving it: `edited` is what ran';

/** The digest that binds a decision to a call and its context. */
export function boundDigest({agent, session}: Caller, call: Call, basis: Ask['basis']): string {
  const {name: tool, arguments: args} = call.function;
  return callDigest({tool, arguments: args, cwd: `workspaces/${agent}`, agent, session, call: call.id, basis});
}

/**
 * What a decision about a call would be bound to, and its digest. `wanted`: the digest of an earlier request, which
 * still holds if only calls that a person approved have changed the workspace since.
 */
export function bindCall(
  {workspaceStates}: Approvals,
  caller: Caller,
  call: Call,
  basis: Ask['basis'],
  wanted: string | undefined,
): {basis: Ask['basis']; digest: string} {
  const digest = boundDigest(caller, call, basis);
  const state = basis[WHOLE];
  if (wanted === undefined || wanted === digest || state === undefined) return {basis, digest};
  for (const earlier of workspaceStates.earlier(caller.agent, state)) {
    const before = {...basis, [WHOLE]: earlier};
    if (boundDigest(caller, call, before) === wanted) return {basis: before, digest: wanted};
  }
  return {basis, digest};
}

/** The call with one argument replaced by a person's text, and with the permissions that the person adds. */
export function withEdit(call: Call, argument: string, text: string, {network, sandbox}: Grants): Call {
  const changed = {
    ...(JSON.parse(call.function.arguments) as object),
    [argument]: text,
    ...(network && {network}),
    ...(sandbox && {sandbox}),
  };
  return {...call, function: {...call.function, arguments: JSON.stringify(changed)}};
}

/** The digest of an edited call, which may depend on other files than the original call. */
export async function editedDigest(
  daemon: With<'reports' | 'current' | 'approvals' | 'effects'>,
  caller: Caller,
  edited: Call,
  setting: CallSetting,
  wanted?: string,
): Promise<string> {
  const judged = await judgeCall(daemon, caller, edited.function, setting);
  const ask = 'ready' in judged ? await judged.ready.ask() : undefined;
  return bindCall(daemon.approvals, caller, edited, ask && !isFailure(ask) ? ask.basis : {}, wanted).digest;
}

/** The digest of a request with a person's edit. Undefined: the session, its call or the template is gone. */
export async function currentEditedDigest(
  daemon: With<'files' | 'reports' | 'current' | 'approvals' | 'effects'>,
  {path, session, agent, call: id}: CallRequest,
  argument: string,
  text: string,
  grants: Grants,
): Promise<string | undefined> {
  const of = await acceptedSession(daemon.files, path);
  const call = of?.messages.flatMap(({tool_calls = []}) => tool_calls).findLast(each => each.id === id);
  const template = await daemon.current.template(agent);
  if (!of || !call || !template) return undefined;
  const caller = {path, session, agent, template, of};
  const setting = await callSettingOf(daemon, caller, call, new AbortController().signal);
  return editedDigest(daemon, caller, withEdit(call, argument, text, grants), setting);
}
