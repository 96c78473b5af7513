import {Models} from '../effects/model/models.ts';
import type {Sandbox} from '../effects/sandbox/sandbox.ts';
import {failure} from '../effects/tool/failure.ts';
import type {Outside, ToolContext} from '../effects/tool/tool.ts';
import type {ToolProvider} from '../effects/tools/provider.ts';
import {wholeState} from '../effects/workspace/whole-state.ts';
import {crashPoint} from '../home/disk/crash.ts';
import type {Redactor} from '../policy/redact/redact.ts';
import type {DaemonServices, RunnableCall, Runner} from './runner.ts';

/** What calls use of this machine. */
export interface Machine {
  tools: ToolProvider;
  sandbox: Sandbox;
  redact: Redactor;
  env: Outside['env'];
}

/** Runs everything in the daemon's own process. */
export function inProcessRunner(machine: Machine, models: Pick<Models, 'ask'> = new Models()): Runner {
  return {
    ask: ({choice, playbooks, ...request}, stream) => models.ask(choice, {...request, ...stream}, playbooks),
    async execute(call, services, signal) {
      const prepared = await machine.tools.prepare(call, contextFor(machine, call, services, signal));
      if ('refused' in prepared) return prepared.refused;
      if (prepared.asks && !call.approved)
        return failure('REJECTED', 'nothing was run: what the call is about has changed, and nobody has approved it');
      return prepared.execute();
    },
  };
}

/** Build the tool context from plain values. */
export function contextFor(
  {sandbox, redact, env}: Omit<Machine, 'tools'>,
  {place, sandbox: mode, outside}: Pick<RunnableCall, 'place' | 'sandbox' | 'outside'>,
  {sent, ended, ...services}: DaemonServices,
  signal: AbortSignal,
): ToolContext {
  return {
    ...place,
    ...services,
    commands: {mode, sandbox},
    onStarted: () => crashPoint('spawn-command'),
    workspaceState: () => wholeState(place, signal),
    onEnded: ended,
    outside: {...outside, env, sent},
    redact,
    signal,
  };
}
