import {parseFile} from '../../check/parse-file.ts';
import {isFailure} from '../../effects/tools/failure.ts';
import type {Ask, ReadyCall, ToolContext, ToolResult} from '../../effects/tools/tool.ts';
import {digestOf} from '../../files/approval/approval-digest.ts';
import type {Session} from '../../files/session/session.ts';
import type {Call} from '../../files/session/session-schema.ts';
import type {CallRequest} from '../../reconcile/call-request.ts';
import {effectsOf} from '../effects.ts';
import type {Serving} from '../serving.ts';
import {textOf} from '../state.ts';
import {contextOf} from './call-context.ts';
import type {Caller} from './caller.ts';

/** A call by the policy and the template as they are now. */
export async function judged(
  serving: Serving,
  {agent, template}: Caller,
  call: {name: string; arguments: string},
  context: ToolContext,
): Promise<{result: ToolResult} | {ready: ReadyCall}> {
  const policy = await serving.current.policy();
  serving.redact.follow(await serving.current.settings());
  const ready = await effectsOf(serving).prepare(call, template.capabilities, policy, context);
  if ('refused' in ready) return {result: ready.refused};
  if (ready.effect === 'read' || serving.current.hasTemplate(agent)) return {ready};
  return {result: {success: false, code: 'NOT_ALLOWED', error: 'the template of this agent was removed'}};
}

/** What a decision about a call is bound to. */
export function boundDigest({agent, session}: Caller, call: Call, basis: Ask['basis']): string {
  const {name: tool, arguments: args} = call.function;
  return digestOf({tool, arguments: args, cwd: `workspaces/${agent}`, agent, session, call: call.id, basis});
}

/** A call with the text that a person put in place of one of its arguments. */
export function withEdit(call: Call, argument: string, text: string): Call {
  const changed = {...(JSON.parse(call.function.arguments) as object), [argument]: text};
  return {...call, function: {...call.function, arguments: JSON.stringify(changed)}};
}

/** What a decision is bound to that changed the call: the files that matter to it may be others than those of what was asked. */
export async function editedDigest(
  serving: Serving,
  caller: Caller,
  edited: Call,
  context: ToolContext,
): Promise<string> {
  const anew = await judged(serving, caller, edited.function, context);
  const ask = 'ready' in anew ? await anew.ready.ask() : undefined;
  return boundDigest(caller, edited, ask && !isFailure(ask) ? ask.basis : {});
}

/** The same of a request that a person has changed just now. Undefined: the call is not there. */
export async function editedNow(
  serving: Serving,
  {path, session, agent, call: id}: CallRequest,
  argument: string,
  text: string,
): Promise<string | undefined> {
  const of = await sessionAt(serving, path);
  const call = of?.messages.flatMap(({tool_calls = []}) => tool_calls).findLast(each => each.id === id);
  const template = await serving.current.template(agent);
  if (!of || !call || !template) return undefined;
  const caller = {path, session, agent, template, of};
  const context = await contextOf(serving, caller, call, new AbortController().signal);
  return editedDigest(serving, caller, withEdit(call, argument, text), context);
}

async function sessionAt(serving: Serving, path: string): Promise<Session | undefined> {
  let parsed = serving.latest.get(path)?.parsed;
  if (parsed?.kind !== 'session') {
    const blob = serving.known.get(path)?.blob;
    const text = blob === undefined ? undefined : await textOf(serving, blob, path);
    parsed = text === undefined ? undefined : parseFile(path, text);
  }
  return parsed?.kind === 'session' ? parsed.file : undefined;
}
