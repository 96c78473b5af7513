import {failure, isFailure} from '../../effects/tool/failure.ts';
import type {Arguments, ToolResult} from '../../effects/tool/tool.ts';
import {stemOf} from '../../formats/common/key.ts';
import {sessionPlaceOf} from '../../formats/run.ts';
import {chainOf} from '../../formats/session/chain.ts';
import {nextChildId} from '../../formats/session/child-session.ts';
import type {Call} from '../../formats/session/session-schema.ts';
import {crashPoint} from '../../home/disk/crash.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain} from '../../loop/look-again.ts';
import {reportIfStuck} from '../mail/report-if-stuck.ts';
import {messageFrom} from '../mail/send.ts';
import {tooManyCaused} from '../sessions/budget.ts';
import {acceptedSession} from '../sessions/read-session.ts';
import {type Caller, nameOfCall, sessionUpToCall} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import {planTask} from './plan-task.ts';

/** The delivery of the task to its session. It follows from the call, so the session is made once. */
function deliveryOf(caller: Caller, call: Call): string {
  return `${caller.session}#${nameOfCall(caller, call).slice(0, 12)}`;
}

/** The path of a session with this id. */
export function sessionPath({index}: HomeFiles, id: string): string | undefined {
  return index.definitionsOf(`session/${id}`)[0]?.path;
}

/** The id of the session for the task of a call: the one that it got before, or a new one. */
export function childFor(files: HomeFiles, caller: Caller, call: Call): string {
  const delivery = deliveryOf(caller, call);
  const named = new Set(caller.of.messages.flatMap(({tool_calls = []}) => tool_calls.map(({child}) => child)));
  const isOwn = (path: string) => files.index.facts(path)?.session?.child?.delivery === delivery;
  return nextChildId(caller.session, id => {
    const path = sessionPath(files, id);
    return path === undefined ? named.has(id) : !isOwn(path);
  });
}

/** Make the session for a task whose call is marked as started. Resolves when the session is durable. */
export async function startTask(
  daemon: With<'files' | 'current' | 'mail' | 'spend'>,
  caller: Caller,
  call: Call,
  wanted: Arguments<'task'>,
): Promise<ToolResult> {
  const {files, mail} = daemon;
  const now = await acceptedSession(files, caller.path);
  const calls = now?.messages.flatMap(({tool_calls = []}) => tool_calls) ?? [];
  const session = calls.findLast(({id, child}) => id === call.id && child !== undefined)?.child;
  if (session === undefined) return failure('FAILED', 'the call is no longer in its session');
  const running: ToolResult = {success: true, session, status: 'running'};
  if (sessionPath(files, session) !== undefined) return running;
  const plan = await planTask(daemon, caller, wanted);
  if (isFailure(plan)) return plan;
  const {agent} = plan;
  const chain = chainOf(sessionUpToCall(caller, call).messages, stemOf(caller.path));
  const tooMany = tooManyCaused(daemon, chain.chain, 'sessions', 1);
  if (tooMany) return tooMany;
  const expected = daemon.spend.causes.expect(chain.chain, {sessions: 1, messages: 1});
  const path = `${sessionPlaceOf(agent).folder}${session}.session.yaml`;
  const id = deliveryOf(caller, call);
  crashPoint('task-start');
  return new Promise<ToolResult>(resolve => {
    const stop = reportIfStuck(
      files,
      () => path,
      () => {
        if (mail.takeBack(path, id)) resolve(failure('FAILED', `${path} cannot be written now`));
      },
    );
    mail.post(path, {
      ...{id, agent},
      opening: {kind: 'task', parent: {session: caller.session, call: call.id}},
      message: messageFrom(caller, wanted.description, chain),
      delivered: () => {
        stop();
        resolve(running);
      },
    });
    lookAgain(files, path);
  }).finally(expected);
}
