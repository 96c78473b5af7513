import type {CallRequest} from '../../decide/call-request.ts';
import type {OpenCalls} from '../../decide/turn.ts';
import type {ReadyCall, ToolResult} from '../../effects/tool/tool.ts';
import type {Call, Message} from '../../formats/session/session-schema.ts';
import {timestamp} from '../../home/disk/clock.ts';
import {crashPoint} from '../../home/disk/crash.ts';
import {callWords} from '../../policy/call-words.ts';
import {type BegunCall, wasStarted} from '../approvals/call-context.ts';
import {type Caller, isCommand, isRead, nameOfCall} from '../state/caller.ts';
import type {AgentReports, With} from '../state/parts.ts';
import type {Turns} from '../state/turns.ts';
import {type NextCall, planCall} from './next-call.ts';
import {changesFiles, runInWorkspace} from './workspaces.ts';

/** A call that changes something, to be marked as started before it runs. */
export interface CallToMark {
  call: string;
  /** It runs outside the sandbox. */
  host: boolean;
  edited: ReadyCall['edited'];
  /** The call and its approval, as `StartedCalls` knows them. */
  names: readonly string[];
  start: () => void;
}

/** What must be written before calls go on: the mark of a call to start, and new requests that calls wait for. */
export interface BegunCalls {
  marked: CallToMark | undefined;
  asks: readonly CallRequest[];
}

/**
 * Begin what may begin: calls that only read run at once, side by side; one that changes something waits for those
 * before it, and is handed back to be marked first. What a person has to decide is asked for all calls of an answer at
 * once, as far as it can be told before those above are done. A call that an earlier daemon had started and not ended
 * is never run again: nobody knows what came of it.
 */
export async function beginCalls(
  daemon: With<'files' | 'reports' | 'current' | 'turns' | 'approvals' | 'effects'>,
  caller: Caller,
  {calls}: OpenCalls,
): Promise<BegunCalls> {
  const {turns, approvals} = daemon;
  const {path} = caller;
  const fresh = approvals.staleSessions.delete(path);
  const asks: CallRequest[] = [];
  const open: Call[] = [];
  let allEnded = true;
  /** Something above changes things and has not ended: nothing below may begin. */
  let blocked = false;
  for (const call of calls) {
    if (turns.results(path).has(call.id)) continue;
    if (!turns.isRunning(path, call.id) && !(blocked && (isRead(call) || touchesSame(call, open)))) {
      const abort = new AbortController();
      const now = withKnown(turns, caller, calls);
      const next = await planCall(daemon, now, call, abort.signal, {fresh: fresh || (allEnded && !blocked)});
      if ('ask' in next) asks.push(next.ask);
      else if (!blocked && !('wait' in next)) {
        const ready = 'ready' in next && next.ready.effect !== 'read' ? next.ready : undefined;
        const running = ready && abort;
        const begun = {again: wasStarted(approvals, now, call)};
        const start = () => {
          if ('ready' in next && next.instead !== undefined)
            approvals.outcomes.set(next.instead, {outcome: 'not needed any more: the policy allows it now'});
          turns.run(path, call.id, running, execute(daemon, now, call, {next, begun}, abort.signal));
        };
        if (ready && allEnded)
          return {
            marked: {
              ...{call: call.id, host: ready.unconfined, edited: ready.edited, start},
              names: [nameOfCall(now, call), ...(call.approval === undefined ? [] : [call.approval])],
            },
            asks,
          };
        if (!ready) start();
      }
    }
    blocked ||= !isRead(call);
    allEnded = false;
    open.push(call);
  }
  return {marked: undefined, asks};
}

/** Its session has read what the calls above brought, though that may not be written down yet. */
function withKnown(turns: Turns, caller: Caller, calls: readonly Call[]): Caller {
  const results = turns.results(caller.path);
  if (results.size === 0) return caller;
  const messages = [...caller.of.messages, ...calls.flatMap(({id}) => results.get(id) ?? [])];
  return {...caller, of: {...caller.of, messages}};
}

/** What would be done to a file depends on what is done to it before. */
function touchesSame(call: Call, others: readonly Call[]): boolean {
  const path = pathIn(call);
  return path !== undefined && others.some(other => pathIn(other) === path);
}

function pathIn({function: {arguments: args}}: Call): string | undefined {
  try {
    const {path} = JSON.parse(args) as {path?: unknown};
    return typeof path === 'string' ? path.replace(/^(?:\.\/)+/, '') : undefined;
  } catch {
    return undefined;
  }
}

async function execute(
  daemon: With<'files' | 'reports' | 'current' | 'turns' | 'approvals' | 'effects'>,
  caller: Caller,
  call: Call,
  {next, begun}: {next: Extract<NextCall, {result: unknown} | {ready: unknown}>; begun: BegunCall},
  signal: AbortSignal,
): Promise<Message> {
  const {files, reports} = daemon;
  const {session, agent} = caller;
  const {workspaceLocks, commands} = daemon.turns;
  const ready = 'ready' in next ? next.ready : undefined;
  const alone = ready?.alone === true;
  // What a person saw of a script is what runs: nobody swaps it from the moment it is judged.
  const enters = ready !== undefined && changesFiles(call, ready);
  const waits = isCommand(call) || (enters && !workspaceLocks.isFree(agent, alone));
  // It may have waited, or somebody said no while it was marked: the policy and the decision count as they are now.
  const isJudgedAgain = ready !== undefined && (waits || call.approval !== undefined);
  const leave = enters ? await workspaceLocks.enter(agent, alone, signal) : undefined;
  const release = ready && isCommand(call) ? await commands.acquire(agent, signal) : undefined;
  const began = files.disk.clock.monotonic();
  let result: ToolResult;
  let edited: ReadyCall['edited'];
  try {
    crashPoint('call-start');
    const now = isJudgedAgain ? await planCall(daemon, caller, call, signal, {fresh: true, begun}) : next;
    if ('ready' in now && now.ready.alone && !alone) throw new Error(CHANGED);
    edited = 'ready' in now ? now.ready.edited : undefined;
    result = 'ready' in now ? await runInWorkspace(daemon, caller, call, now.ready) : resultOfOther(reports, now);
    crashPoint('call-end');
  } catch (error) {
    result = {success: false, code: 'FAILED', error: reports.redact.text((error as Error).message)};
  } finally {
    release?.();
    leave?.();
  }
  const ms = Math.round(files.disk.clock.monotonic() - began);
  const code = result.success ? undefined : result.code;
  reports.report({event: 'called', session, agent, tool: callWords(call.function, edited), code, ms});
  return resultMessage(call.id, result, timestamp(files.disk.clock));
}

const CHANGED = 'nothing was run: what was approved has changed at the last moment. Make the call again';

/** It was begun, and may not run after all. */
function resultOfOther(reports: AgentReports, next: Exclude<NextCall, {ready: unknown}>): ToolResult {
  if ('result' in next) return reports.redact.value(next.result);
  return {success: false, code: 'REJECTED', error: CHANGED};
}

function resultMessage(call: string, result: ToolResult, time: string): Message {
  return {
    timestamp: time,
    role: 'tool_result',
    tool_call_id: call,
    content: JSON.stringify(result),
  };
}
