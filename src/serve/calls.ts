import {prepare, tidyAfter} from '../effects/tools/registry.ts';
import type {ReadyCall, ToolContext, ToolResult} from '../effects/tools/tool.ts';
import {stemOf} from '../files/key.ts';
import type {Call, Message} from '../files/session-schema.ts';
import type {TemplateValue} from '../files/template.ts';
import {toolNamed, tools} from '../policy/tools.ts';
import type {OpenCalls} from '../reconcile/turn.ts';
import {crashPoint} from '../store/crash.ts';
import type {Serving} from './serving.ts';

/** Whose calls they are. */
export interface Caller {
  path: string;
  session: string;
  agent: string;
  template: TemplateValue;
}

/** A call that changes something, to be marked as started before it runs. */
export interface Marked {
  call: string;
  start: () => void;
}

/**
 * Begin what may begin: calls that only read run at once, side by side; one that changes something waits for those
 * before it, and is handed back to be marked first. A call that an earlier daemon had started and not ended is never
 * run again: nobody knows what came of it.
 */
export async function beginCalls(serving: Serving, caller: Caller, {calls}: OpenCalls): Promise<Marked | undefined> {
  const {turns} = serving;
  const {path} = caller;
  let allEnded = true;
  for (const call of calls) {
    const ended = turns.results(path).has(call.id);
    if (!ended && !turns.isRunning(path, call.id)) {
      const abort = new AbortController();
      const ready = await readied(serving, caller, call, abort.signal);
      const start = () => turns.run(path, call.id, abort, execute(serving, caller, call, ready));
      if (!('refused' in ready) && ready.effect !== 'read') return allEnded ? {call: call.id, start} : undefined;
      start();
    }
    // What changes something ends before the next begins.
    if (!ended && !isRead(call)) return undefined;
    allEnded &&= ended;
  }
  return undefined;
}

type Ready = {refused: ToolResult} | ReadyCall;

async function readied(serving: Serving, caller: Caller, call: Call, signal: AbortSignal): Promise<Ready> {
  const context = contextOf(serving, caller, call, signal);
  // A call that this daemon runs is known to `turns`.
  if (call.started !== undefined && !isRead(call)) {
    tidyAfter(call.function, context);
    return {
      refused: {
        success: false,
        code: 'INTERRUPTED',
        error:
          'interrupted, outcome unknown: the daemon was stopped while this ran. Find out what happened before trying again.',
      },
    };
  }
  const {name, arguments: args} = call.function;
  const policy = await serving.current.policy();
  const ready = prepare({name, arguments: args}, caller.template.capabilities, policy, context);
  if ('refused' in ready || ready.effect === 'read' || serving.current.hasTemplate(caller.agent)) return ready;
  return {refused: {success: false, code: 'NOT_ALLOWED', error: 'the template of this agent was removed'}};
}

function isRead(call: Call): boolean {
  const name = toolNamed(call.function.name);
  return name !== undefined && tools[name].effect === 'read';
}

async function execute(serving: Serving, {session, agent}: Caller, call: Call, ready: Ready): Promise<Message> {
  const began = performance.now();
  let result: ToolResult;
  try {
    crashPoint('call-start');
    result = 'refused' in ready ? ready.refused : await ready.execute();
    crashPoint('call-end');
  } catch (error) {
    result = {success: false, code: 'FAILED', error: (error as Error).message};
  }
  const ms = Math.round(performance.now() - began);
  const code = result.success ? undefined : result.code;
  serving.report({event: 'called', session, agent, tool: call.function.name, code, ms});
  return resultOf(call.id, result);
}

function resultOf(call: string, result: ToolResult): Message {
  return {
    timestamp: new Date().toISOString(),
    role: 'tool_result',
    tool_call_id: call,
    content: JSON.stringify(result),
  };
}

function contextOf({home, index}: Serving, {agent, session}: Caller, call: Call, signal: AbortSignal): ToolContext {
  return {
    home,
    agent,
    session,
    call: call.id,
    signal,
    agents: () =>
      index.pathsOf('template').map(path => {
        const {type, description} = index.facts(path)?.agent ?? {};
        return {id: stemOf(path), type: type ?? undefined, description: description ?? undefined};
      }),
    sessions: () =>
      [...index.sessions()].map(({id, agent: of, status, updated}) => ({
        id,
        agent: of,
        status: status ?? 'new',
        updated: updated ?? undefined,
      })),
  };
}
