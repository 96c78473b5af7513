import {join} from 'node:path';
import {findInterrupted} from '../../decide/interrupted.ts';
import {taintOf} from '../../decide/taint.ts';
import {markOf} from '../../effects/sandbox/environment.ts';
import {commandLimits} from '../../effects/sandbox/limits.ts';
import type {CallPlace, ToolContext} from '../../effects/tool/tool.ts';
import type {Call} from '../../formats/session/session-schema.ts';
import type {Settings} from '../../formats/settings.ts';
import type {Clock} from '../../home/disk/clock.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {contextFor} from '../../runners/in-process.ts';
import type {DaemonServices, RunnableCall} from '../../runners/runner.ts';
import {approvalStateOf} from '../sessions/budget.ts';
import type {Approvals} from '../state/approvals.ts';
import {type Caller, isCommand, isRepeatable, nameOfCall} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import {effectsOf} from '../world/effects.ts';

/** A call that is being run. `again`: it ran before, although its session does not record that. */
export interface BegunCall {
  again: boolean;
}

/** The environment of a call: `context` for tools in this process, plain values and services for a runner. */
export interface CallSetting {
  context: ToolContext;
  plain: Pick<RunnableCall, 'place' | 'sandbox' | 'outside'>;
  services: DaemonServices;
  signal: AbortSignal;
}

export async function callSettingOf(
  {files, reports, current, approvals, effects}: With<'files' | 'reports' | 'current' | 'approvals' | 'effects'>,
  caller: Caller,
  call: Call,
  signal: AbortSignal,
  begun?: BegunCall,
): Promise<CallSetting> {
  const {home} = files;
  const {run, sandbox} = effects;
  const {redact} = reports;
  const {agent, session, template, of} = caller;
  const settings = await current.settings();
  const seconds = template.limits?.call_timeout_seconds;
  const before = isRepeatable(call) ? undefined : findInterrupted(of.messages, call);
  const plain: CallSetting['plain'] = {
    place: {
      home,
      agent,
      session,
      call: call.id,
      mark: markOf(run, session, call.id),
      workspace: join(home, 'workspaces', agent),
      search: settings.search,
      outputs: outputLimits(files, approvals, agent, settings),
      limits: commandLimits(settings.limits?.commands),
      ownGit: template.workspace?.git === 'own',
      timeoutMs: seconds === undefined ? undefined : seconds * 1000,
      tainted: taintOf(of),
      retries: isRepeatable(call)
        ? false
        : before
          ? before.as === 'call'
            ? 'interrupted'
            : 'interrupted message'
          : (begun?.again ?? wasStarted(approvals, caller, call)) && 'brought back',
    },
    sandbox: settings.sandbox ?? 'auto',
    outside: {settings, messageName: nameOfCall(caller, before?.first ?? call)},
  };
  // The time limit of a command counts only while it runs.
  const limited =
    seconds === undefined || isCommand(call)
      ? signal
      : AbortSignal.any([signal, timeLimit(files.disk.clock, seconds * 1000)]);
  const services = effects.services(caller, call, signal);
  // Requests may be bound to a state that is a second old; a decision is compared with the state of now.
  const mayRun = call.approval !== undefined && approvalStateOf(files, call.approval) === 'approved';
  const walk = () => effectsOf(effects.world).wholeState(plain.place, limited);
  const context = {
    ...contextFor({sandbox, redact, env: effects.world.environment}, plain, services, limited),
    workspaceState: () => approvals.workspaceStates.current(agent, walk, {fresh: mayRun}),
  };
  return {context, plain, services, signal: limited};
}

/** `AbortSignal.timeout` by the daemon's clock. */
function timeLimit(clock: Clock, ms: number): AbortSignal {
  const over = new AbortController();
  clock.after(ms, () => over.abort(new DOMException('it took too long', 'TimeoutError')));
  return over.signal;
}

/** Old outputs stay while a request of the agent is open: what is approved may read them. */
function outputLimits(files: HomeFiles, approvals: Approvals, agent: string, {limits}: Settings): CallPlace['outputs'] {
  const megabytes = limits?.output_mb;
  const keepsOld = !waitingSessions(files, approvals, agent).next().done;
  return {most: megabytes === undefined ? undefined : megabytes * 1024 * 1024, keepsOld};
}

/** Paths of the agent's sessions with calls that wait for a decision or have one and did not run yet. */
export function* waitingSessions({index}: HomeFiles, {waits}: Approvals, agent: string): Generator<string> {
  for (const path of waits.paths())
    if (waits.callsOf(path).length > 0 && index.facts(path)?.session?.agent === agent) yield path;
}

/** Whether this call ran before, in a version of its session that was since reverted. */
export function wasStarted({started}: Approvals, caller: Caller, call: Call): boolean {
  return started.has(nameOfCall(caller, call));
}
