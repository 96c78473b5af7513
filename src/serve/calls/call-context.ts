import {join} from 'node:path';
import {markOf} from '../../effects/sandbox/mark.ts';
import type {ToolContext} from '../../effects/tools/tool.ts';
import {stemOf} from '../../files/key.ts';
import type {Call} from '../../files/session/session-schema.ts';
import {interruptedBefore} from '../../reconcile/interrupted.ts';
import {taintOf} from '../../reconcile/taint.ts';
import {crashPoint} from '../../store/crash.ts';
import {sendMessage} from '../mail/send.ts';
import type {Serving} from '../serving.ts';
import {createTasks} from '../tasks/create-tasks.ts';
import {updateTask} from '../tasks/update-task.ts';
import {type Caller, isCommand, isRepeatable, nameOfCall} from './caller.ts';
import {query} from './query.ts';
import {remember} from './remember.ts';
import {recordSent} from './sent.ts';

/** A call that is being run. `again`: not for the first time, though its session does not say so. */
export interface BegunCall {
  again: boolean;
}

export async function contextOf(
  serving: Serving,
  caller: Caller,
  call: Call,
  signal: AbortSignal,
  begun?: BegunCall,
): Promise<ToolContext> {
  const {home, index, run, sandbox, redact, current} = serving;
  const {agent, session, template, of} = caller;
  const settings = await current.settings();
  const seconds = template.limits?.call_timeout_seconds;
  const before = isRepeatable(call) ? undefined : interruptedBefore(of.messages, call);
  return {
    home,
    agent,
    session,
    call: call.id,
    mark: markOf(run, session, call.id),
    workspace: join(home, 'workspaces', agent),
    commands: {mode: settings.sandbox ?? 'auto', sandbox},
    search: settings.search,
    onStarted: () => crashPoint('spawn-command'),
    timeoutMs: seconds === undefined ? undefined : seconds * 1000,
    tainted: taintOf(of),
    retries: isRepeatable(call)
      ? false
      : before
        ? before.as === 'call'
          ? 'interrupted'
          : 'interrupted message'
        : (begun?.again ?? wasBegun(serving, caller, call)) && 'brought back',
    remember: (file, text) => remember(serving, caller, call, {file, text}),
    createTask: task => createTasks(serving, caller, call, task),
    updateTask: change => updateTask(serving, caller, call, change),
    send: message => sendMessage(serving, caller, call, message),
    query: text => query(serving, text, signal),
    outside: {
      settings,
      env: serving.world.environment,
      messageName: nameOfCall(caller, before?.first ?? call),
      sent: (file, record) => recordSent(serving, file, record),
    },
    redact,
    // Of a command only the time counts that it runs.
    signal:
      seconds === undefined || isCommand(call)
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

/** This very call ran before, and somebody brought back its session from before that. */
export function wasBegun({started}: Serving, caller: Caller, call: Call): boolean {
  return started.has(nameOfCall(caller, call));
}
