import type {Call, Message, SessionHeader, TaskResult} from '../formats/session/session-schema.ts';
import {toolNamed} from '../policy/tools.ts';

/** Longest time for a task, unless the template says otherwise. */
export const TASK_SECONDS = 1_800;

/** A final answer of at most this many characters is the summary as it stands. */
const SHORT_ANSWER = 600;
const LONGEST_SUMMARY = 4_000;
const MOST_ARTIFACTS = 200;

export const SUMMARY_PROMPT =
  'Summarize your work in 2-3 sentences for the agent that asked. Include key findings, files created or read, and any blockers.';

/** The message that asks for the summary. It is asked once, so its delivery follows from the session. */
export function summaryRequest(session: string, now: string): Message {
  return {timestamp: now, role: 'user', from: 'system', content: SUMMARY_PROMPT, delivery: summaryDelivery(session)};
}

function summaryDelivery(session: string): string {
  return `summary/${session}`;
}

/** Whether the model is to summarize, and do nothing else. */
export function isAskedToSummarize(session: string, messages: readonly Message[]): boolean {
  const asked = messages.findLast(({role}) => role === 'user');
  return asked?.delivery === summaryDelivery(session);
}

/** A task that ends by itself: with a summary, or with a question for one. */
export type TaskEnd = Pick<TaskResult, 'status' | 'summary' | 'error'> | 'ask for a summary';

/** The end that follows from the final answer of a session at rest. `maySummarize`: its model may be asked once more. */
export function endAfterAnswer(session: string, messages: readonly Message[], maySummarize: boolean): TaskEnd {
  const last = messages.findLastIndex(({role, tool_calls}) => role === 'assistant' && !tool_calls?.length);
  const text = messages[last]?.content?.trim() ?? '';
  const summarizes = isAskedToSummarize(session, messages.slice(0, last));
  const before = summarizes ? messages.slice(0, last).findLast(isFinalAnswer) : undefined;
  const answer = before?.content?.trim() ?? text;
  if (!summarizes && text.length > SHORT_ANSWER && maySummarize) return 'ask for a summary';
  const summary = shortened(text === '' ? answer : text, session);
  const failure = reportedFailure(answer);
  return failure === undefined ? {status: 'completed', summary} : {status: 'failed', summary, error: failure};
}

function isFinalAnswer({role, tool_calls}: Message): boolean {
  return role === 'assistant' && !tool_calls?.length;
}

/** Why the agent could not do its task, if its answer begins with `BLOCKED:` or `FAILED:`. */
export function reportedFailure(answer: string): string | undefined {
  const [, why] = /^\s*(?:\*\*)?(?:BLOCKED|FAILED)(?:\*\*)?:(?:\*\*)?\s*(.*)/s.exec(answer) ?? [];
  return why === undefined ? undefined : (why.split('\n')[0] ?? '').slice(0, SHORT_ANSWER) || 'it gave no reason';
}

function shortened(text: string, session: string): string {
  if (text.length <= LONGEST_SUMMARY) return text;
  return `${text.slice(0, LONGEST_SUMMARY).replace(/[\ud800-\udbff]$/, '')}… (all of it is in ${session})`;
}

/** The result of a task. Everything but the summary is computed from the messages of its session. */
export function resultOf(
  end: Exclude<TaskEnd, string>,
  {created}: Pick<SessionHeader, 'created'>,
  messages: readonly Message[],
  now: string,
): TaskResult {
  const {status, summary, error} = end;
  const began = Date.parse(created ?? messages[0]?.timestamp ?? now);
  const cost = costOf(messages);
  return {
    ...{status, summary, artifacts: artifactsOf(messages)},
    tool_calls: messages.reduce((sum, {tool_calls = []}) => sum + tool_calls.length, 0),
    tokens_used: messages.reduce((sum, {usage = {}}) => sum + tokensOf(usage), 0),
    ...(cost !== undefined && {cost_usd: cost}),
    duration_seconds: Math.max(0, Math.round((Date.parse(now) - began) / 100) / 10),
    ...(error !== undefined && {error}),
  };
}

function tokensOf({input_tokens = 0, output_tokens = 0}: NonNullable<Message['usage']>): number {
  return input_tokens + output_tokens;
}

/** Undefined if the price of a model that was used is unknown. */
function costOf(messages: readonly Message[]): number | undefined {
  let sum = 0;
  for (const {usage} of messages) {
    if (usage && usage.cost_usd === undefined && tokensOf(usage) > 0) return undefined;
    sum += usage?.cost_usd ?? 0;
  }
  return Math.round(sum * 1e9) / 1e9;
}

/** Files that calls created or changed, then files that they read, according to the results of the calls. */
function artifactsOf(messages: readonly Message[]): string[] {
  const calls = new Map<string, string>();
  const changed = new Set<string>();
  const read = new Set<string>();
  for (const {tool_calls = [], tool_call_id, content} of messages) {
    for (const {id, function: called} of tool_calls) calls.set(id, toolNamed(called.name) ?? '');
    const tool = tool_call_id === undefined ? undefined : calls.get(tool_call_id);
    if (tool === undefined || !using.has(tool)) continue;
    const {success, path, changed_files: files} = parsed(content ?? '');
    for (const each of Array.isArray(files) ? files : []) add(changed, (each as {path?: unknown} | null)?.path ?? each);
    if (success === true) add(tool === 'read_file' ? read : changed, path);
  }
  for (const path of changed) read.delete(path);
  return [...changed, ...read].slice(0, MOST_ARTIFACTS);
}

const using: ReadonlySet<string> = new Set(['write_file', 'create_file', 'edit_file', 'read_file', 'execute_command']);

function add(paths: Set<string>, path: unknown): void {
  if (typeof path === 'string' && path !== '') paths.add(path);
}

function parsed(content: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(content);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** The result of the call, for the agent that asked. `taint`: outside sources of what the other agent has read. */
export function resultForParent(
  session: string,
  result: TaskResult,
  taint: readonly string[],
): Record<string, unknown> {
  const {status, error, ...rest} = result;
  const untrusted = taint.length > 0 && {untrusted: true, sources: [...taint]};
  if (status === 'completed') return {success: true, session, status, ...rest, ...untrusted};
  return {
    success: false,
    code: 'FAILED',
    error: error ?? `the task was ${status}`,
    session,
    status,
    ...rest,
    ...untrusted,
  };
}

/** The result of a call whose session goes on by itself. */
export function resultWhileRunning(session: string): Record<string, unknown> {
  const note = 'the task goes on; its result comes as a message that begins [AGENTDIR TASK]';
  return {success: true, session, status: 'running', note};
}

/** Whether the agent goes on without the result: it asked for that, or somebody has written to it since. */
export function goesOnWithoutResult(call: Call, messages: readonly Message[], answer: number): boolean {
  if (parsed(call.function.arguments).wait === false) return true;
  return messages.slice(answer + 1).some(({role}) => role === 'user');
}
