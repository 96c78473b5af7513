import {join} from 'node:path';
import {endLeftovers} from '../effects/sandbox/leftovers.ts';
import {markOf} from '../effects/sandbox/mark.ts';
import {prepare, tidyAfter} from '../effects/tools/registry.ts';
import type {ReadyCall, ToolContext, ToolResult} from '../effects/tools/tool.ts';
import {stemOf} from '../files/key.ts';
import type {Call, Message} from '../files/session-schema.ts';
import type {TemplateValue} from '../files/template.ts';
import {callWords} from '../policy/call-words.ts';
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
      const marked = !('refused' in ready) && ready.effect !== 'read';
      const start = () =>
        turns.run(path, call.id, marked ? abort : undefined, execute(serving, caller, call, ready, abort.signal));
      if (marked) return allEnded ? {call: call.id, start} : undefined;
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
  const context = await contextOf(serving, caller, call, signal);
  // A call that this daemon runs is known to `turns`.
  if (call.started !== undefined && !isRead(call)) return {refused: await interrupted(call, caller, context)};
  const {name, arguments: args} = call.function;
  const policy = await serving.current.policy();
  serving.redact.follow(await serving.current.settings());
  const ready = await prepare({name, arguments: args}, caller.template.capabilities, policy, context);
  if ('refused' in ready || ready.effect === 'read' || serving.current.hasTemplate(caller.agent)) return ready;
  return {refused: {success: false, code: 'NOT_ALLOWED', error: 'the template of this agent was removed'}};
}

/** What an earlier daemon had started. It is told only when nothing of it runs any more. */
async function interrupted(call: Call, {session}: Caller, context: ToolContext): Promise<ToolResult> {
  const left = call.run === undefined ? 0 : await endLeftovers(markOf(call.run, session, call.id));
  tidyAfter(call.function, context);
  const ended =
    left === 0 ? '' : ` What still ran of it (${left === 1 ? 'a process' : `${left} processes`}) was ended.`;
  return {
    success: false,
    code: 'INTERRUPTED',
    error: `interrupted, outcome unknown: the daemon was stopped while this ran.${ended} Find out what happened before trying again.`,
  };
}

function isExecute(call: Call): boolean {
  return toolNamed(call.function.name) === 'execute_command';
}

function isRead(call: Call): boolean {
  const name = toolNamed(call.function.name);
  return name !== undefined && tools[name].effect === 'read';
}

async function execute(
  serving: Serving,
  caller: Caller,
  call: Call,
  ready: Ready,
  signal: AbortSignal,
): Promise<Message> {
  const {session, agent} = caller;
  const isCommand = !('refused' in ready) && isExecute(call);
  const release = isCommand ? await serving.turns.commands.take(agent, signal) : undefined;
  const began = performance.now();
  let result: ToolResult;
  try {
    crashPoint('call-start');
    // It may have waited: the policy counts as it is now.
    const now = isCommand ? await readied(serving, caller, call, signal) : ready;
    result = 'refused' in now ? serving.redact.value(now.refused) : await now.execute();
    crashPoint('call-end');
  } catch (error) {
    result = {success: false, code: 'FAILED', error: serving.redact.text((error as Error).message)};
  } finally {
    release?.();
  }
  const ms = Math.round(performance.now() - began);
  const code = result.success ? undefined : result.code;
  serving.report({event: 'called', session, agent, tool: callWords(call.function), code, ms});
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

async function contextOf(
  {home, index, run, sandbox, redact, current}: Serving,
  {agent, session, template}: Caller,
  call: Call,
  signal: AbortSignal,
): Promise<ToolContext> {
  const seconds = template.limits?.call_timeout_seconds;
  return {
    home,
    agent,
    session,
    call: call.id,
    mark: markOf(run, session, call.id),
    workspace: join(home, 'workspaces', agent),
    commands: {mode: (await current.settings()).sandbox ?? 'auto', sandbox},
    onStarted: () => crashPoint('spawn-command'),
    timeoutMs: seconds === undefined ? undefined : seconds * 1000,
    redact,
    // Of a command only the time counts that it runs.
    signal:
      seconds === undefined || isExecute(call)
        ? signal
        : AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)]),
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
