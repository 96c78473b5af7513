import type {CallRequest} from '../../decide/call-request.ts';
import {CALLS_PER_ANSWER} from '../../decide/many-calls.ts';
import type {ReadyCall, ToolResult} from '../../effects/tool/tool.ts';
import type {Call, Message} from '../../formats/session/session-schema.ts';
import {timestamp} from '../../home/disk/clock.ts';
import {crashPoint} from '../../home/disk/crash.ts';
import {callWords} from '../../policy/call-words.ts';
import {type BegunCall, wasStarted} from '../approvals/call-context.ts';
import {type Caller, isCommand, isRead, isTask, nameOfCall} from '../state/caller.ts';
import type {AgentReports, With} from '../state/parts.ts';
import type {Turns} from '../state/turns.ts';
import {type NextCall, planCall} from './next-call.ts';
import {changesFiles, runInWorkspace} from './workspaces.ts';

/** A call with side effects, to be marked as started in its session before it runs. */
export interface CallToMark {
  call: string;
  /** The call runs outside the sandbox. */
  host: boolean;
  edited: ReadyCall['edited'];
  /** The session that is to do the task that the call gives. */
  child?: string;
  /** The call and its approval, as `StartedCalls` knows them. */
  names: readonly string[];
  start: () => void;
}

/** Must be written before calls continue: the mark of the call to start, and new requests for approval. */
export interface BegunCalls {
  marked: CallToMark | undefined;
  asks: readonly CallRequest[];
  /** A call cannot be asked about, because too many requests are open. */
  full?: boolean;
}

/** How long planning may keep other work from running. */
const SLICE_MS = 5;

/**
 * Begin the calls that may begin, of the open calls of an answer. Reading calls run at once and in parallel. A call with side effects waits for the calls
 * before it and is returned in `marked`, to be marked as started first. `childFor` names the session for a task. Approvals for all calls of an answer are requested
 * together, unless a request depends on earlier calls. A call that an earlier daemon started and did not finish never
 * runs again, because its outcome is unknown.
 *
 * Plans a limited number of calls in one look: a file may hold any number. The others follow when these have ended.
 */
export async function beginCalls(
  daemon: With<'files' | 'reports' | 'current' | 'turns' | 'approvals' | 'effects'>,
  caller: Caller,
  calls: readonly Call[],
  {isFull, childFor}: {isFull: () => boolean; childFor: (call: Call) => string},
): Promise<BegunCalls> {
  const {turns, approvals} = daemon;
  const {clock} = daemon.files.disk;
  const {path} = caller;
  const fresh = approvals.staleSessions.delete(path);
  // All requests of this look are bound to one state of the workspace.
  approvals.workspaceStates.forget(caller.agent);
  const asks: CallRequest[] = [];
  const open: Call[] = [];
  let full = false;
  let allEnded = true;
  /** An earlier call with side effects has not ended: no later call may begin. */
  let blocked = false;
  let slice = clock.monotonic();
  let now = withKnownResults(turns, caller, calls);
  let known = turns.results(path).size;
  const ended = turns.results(path);
  for (const call of calls.filter(({id}) => !ended.has(id)).slice(0, CALLS_PER_ANSWER)) {
    if (clock.monotonic() - slice >= SLICE_MS) {
      await clock.nextTurn();
      slice = clock.monotonic();
    }
    const results = turns.results(path);
    if (results.has(call.id)) continue;
    if (results.size !== known) {
      now = withKnownResults(turns, caller, calls);
      known = results.size;
    }
    // Tasks that others do run side by side.
    const isBlocked = isTask(call) ? !open.every(isTask) : blocked;
    const isDone = call.child !== undefined || turns.isRunning(path, call.id);
    if (!isDone && !(isBlocked && dependsOn(call, open))) {
      const abort = new AbortController();
      const asOf = now;
      const next = await planCall(daemon, asOf, call, abort.signal, {
        fresh: fresh || (allEnded && !blocked),
        isFull,
      });
      if ('wait' in next && next.full) full = true;
      if ('ask' in next) asks.push(next.ask);
      else if (!isBlocked && !('wait' in next)) {
        const ready = 'ready' in next && next.ready.effect !== 'read' ? next.ready : undefined;
        const running = ready && abort;
        const begun = {again: wasStarted(approvals, asOf, call)};
        const start = () => {
          if ('ready' in next && next.instead !== undefined)
            approvals.outcomes.set(next.instead, {outcome: 'not needed any more: the policy allows it now'});
          turns.run(path, call.id, running, execute(daemon, asOf, call, {next, begun}, abort.signal));
        };
        if (ready && (allEnded || isTask(call)))
          return {
            marked: {
              ...{call: call.id, host: ready.unconfined, edited: ready.edited, start},
              ...(isTask(call) && {child: childFor(call)}),
              names: [nameOfCall(asOf, call), ...(call.approval === undefined ? [] : [call.approval])],
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
  return {marked: undefined, asks, full};
}

/** The caller with the known results of these calls, which may not be in the session file yet. */
function withKnownResults(turns: Turns, caller: Caller, calls: readonly Call[]): Caller {
  const results = turns.results(caller.path);
  if (results.size === 0) return caller;
  const messages = [...caller.of.messages, ...calls.flatMap(({id}) => results.get(id) ?? [])];
  return {...caller, of: {...caller.of, messages}};
}

/** Whether the call reads, or names the same path as one of `others`: it depends on their effect. */
function dependsOn(call: Call, others: readonly Call[]): boolean {
  if (isRead(call)) return true;
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
  // Lock the workspace before judging, so that no other call can replace a script that was approved.
  const enters = ready !== undefined && changesFiles(call, ready);
  const waits = isCommand(call) || (enters && !workspaceLocks.isFree(agent, alone));
  // The policy or the decision may have changed while the call was marked or waited for the lock.
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
    result = 'ready' in now ? await runInWorkspace(daemon, caller, call, now.ready) : resultWithoutRun(reports, now);
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

/** The result of a call that was begun and may not run after all. */
function resultWithoutRun(reports: AgentReports, next: Exclude<NextCall, {ready: unknown}>): ToolResult {
  if ('result' in next) return reports.redact.value(next.result);
  return {success: false, code: 'REJECTED', error: CHANGED};
}

export function resultMessage(call: string, result: ToolResult, time: string): Message {
  return {
    timestamp: time,
    role: 'tool_result',
    tool_call_id: call,
    content: JSON.stringify(result),
  };
}
