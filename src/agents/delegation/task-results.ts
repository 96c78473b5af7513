import {goesOnWithoutResult, resultForParent, resultWhileRunning} from '../../decide/delegation.ts';
import {taintOf} from '../../decide/taint.ts';
import type {OpenCalls} from '../../decide/turn.ts';
import {failure, isFailure} from '../../effects/tool/failure.ts';
import type {Arguments, ToolResult} from '../../effects/tool/tool.ts';
import {readArguments} from '../../effects/tools/arguments.ts';
import {TASK_EDIT} from '../../effects/tools/task.ts';
import {APPROVALS_FILE} from '../../formats/approval/approval-item.ts';
import type {Session} from '../../formats/session/session.ts';
import type {Call, Message} from '../../formats/session/session-schema.ts';
import {fieldOf} from '../../formats/task/task.ts';
import {timestamp} from '../../home/disk/clock.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain} from '../../loop/look-again.ts';
import {callSettingOf} from '../approvals/call-context.ts';
import {queueItem, recordedEdit} from '../approvals/decisions.ts';
import {EDITED_NOTE, editedDigest, withEdit} from '../approvals/judged-call.ts';
import {resultMessage} from '../calls/calls.ts';
import {acceptedSession} from '../sessions/read-session.ts';
import type {Caller} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import {sessionPath, startTask} from './start-task.ts';

type Needs = With<'files' | 'reports' | 'current' | 'turns' | 'mail' | 'approvals' | 'spend' | 'effects'>;

/** Results of calls that gave a task to another session, as far as they are due. */
export async function taskResults(
  daemon: Needs,
  caller: Caller,
  session: Session,
  {index, calls}: OpenCalls,
  now: string,
): Promise<Message[]> {
  const results: Message[] = [];
  for (const call of calls) {
    const result = await taskResult(daemon, caller, call, () => goesOnWithoutResult(call, session.messages, index));
    if (result) results.push(resultMessage(call.id, result, now));
  }
  return results;
}

async function taskResult(
  daemon: Needs,
  caller: Caller,
  call: Call,
  goesOn: () => boolean,
): Promise<ToolResult | undefined> {
  const {files, turns} = daemon;
  const {child: id} = call;
  if (id === undefined || turns.isRunning(caller.path, call.id)) return undefined;
  const path = sessionPath(files, id);
  if (path === undefined) {
    if (turns.delegated.removed.has(id)) return gone(id, 'the session that did the task was removed');
    // The daemon was killed before it made the session.
    startAgain(daemon, caller, call);
    return undefined;
  }
  const fact = files.index.facts(path)?.session;
  if (!fact) return undefined;
  if (fact.child?.parent !== caller.session) return gone(id, `${id} is not a session for this task`);
  if (!fact.child.ended && path.startsWith('sessions/archive/'))
    return gone(id, 'the session that did the task was archived');
  if (!fact.child.ended) return goesOn() ? (resultWhileRunning(id) as ToolResult) : undefined;
  const child = await acceptedSession(files, path);
  const result = child?.header?.result;
  if (!child || !result) return undefined;
  const description = (await isEdited(files, call)) ? child.messages[0]?.content : undefined;
  return {
    ...(resultForParent(id, result, taintOf(child)) as ToolResult),
    ...(description !== undefined && {edited: {description}, edited_note: EDITED_NOTE}),
  };
}

async function isEdited(files: HomeFiles, {approval}: Call): Promise<boolean> {
  const item = approval === undefined ? undefined : await queueItem(files, APPROVALS_FILE, approval);
  return item !== undefined && fieldOf(item.task, 'edited') === 'true';
}

function startAgain(daemon: Needs, caller: Caller, call: Call): void {
  const started = approvedArguments(daemon, caller, call).then(approved => {
    if (approved === undefined)
      return failure('FAILED', 'nothing was run: the task that a person changed and approved is not there any more');
    const args = readArguments('task', approved);
    return isFailure(args) ? args : startTask(daemon, caller, call, args.value as Arguments<'task'>);
  });
  const now = () => timestamp(daemon.files.disk.clock);
  daemon.turns.run(
    caller.path,
    call.id,
    undefined,
    started
      .catch((error: Error) => failure('FAILED', error.message))
      .then(result => resultMessage(call.id, result, now())),
  );
}

/** The arguments as a person approved them. Undefined: the person changed them, and the changed text is gone. */
async function approvedArguments(daemon: Needs, caller: Caller, call: Call): Promise<string | undefined> {
  const {files} = daemon;
  const args = call.function.arguments;
  const item = call.approval === undefined ? undefined : await queueItem(files, APPROVALS_FILE, call.approval);
  if (!item || fieldOf(item.task, 'edited') !== 'true') return args;
  const {argument} = TASK_EDIT;
  const setting = await callSettingOf(daemon, caller, call, new AbortController().signal);
  const withText = (text: string) => withEdit(call, argument, text, {});
  const original = String((JSON.parse(args) as {description?: unknown}).description);
  const edit = await recordedEdit(files, item, {...TASK_EDIT, original}, text =>
    editedDigest(daemon, caller, withText(text), setting),
  );
  return edit && withText(edit.text).function.arguments;
}

function gone(session: string, error: string): ToolResult {
  return {...failure('FAILED', error), session, status: 'interrupted'};
}

/** Stop the sessions that do the tasks of these calls. */
export function stopTasks({files, turns}: With<'files' | 'turns'>, calls: readonly Call[], why: string): void {
  for (const {child} of calls) {
    const path = child === undefined ? undefined : sessionPath(files, child);
    if (path === undefined || turns.delegated.stopped.has(path) || files.index.facts(path)?.session?.child?.ended)
      continue;
    turns.delegated.stopped.set(path, why);
    lookAgain(files, path);
  }
}

/** The parent has the results of these calls: the sessions that did their tasks may forget them. */
export function noteResults(files: HomeFiles, calls: readonly Call[], ended: ReadonlySet<string>): void {
  for (const {id, child} of calls) {
    const path = child === undefined || !ended.has(id) ? undefined : sessionPath(files, child);
    if (path !== undefined) lookAgain(files, path);
  }
}
