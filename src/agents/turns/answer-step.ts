import {waitForMore} from '../../decide/budget.ts';
import {withoutWish} from '../../decide/context-versions.ts';
import {isAskedToSummarize} from '../../decide/delegation.ts';
import {CONTINUE_PROMPT, mayContinue, nextAction, withHeader} from '../../decide/turn.ts';
import type {Reply} from '../../effects/model/answer.ts';
import type {Session} from '../../formats/session/session.ts';
import {insertMessage} from '../../formats/session/session-edit.ts';
import type {Message, SessionHeader} from '../../formats/session/session-schema.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {type Due, mentionsDue, repliesDue} from '../mail/mention-step.ts';
import {limitFor} from '../sessions/budget.ts';
import {limitStep, type SessionStep} from '../sessions/step.ts';
import {type Caller, isChild} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import {followUpAnswer} from './after-answer.ts';
import {staleness} from './ask.ts';
import {callStep} from './call-step.ts';
import {checkpointStep} from './checkpoint-step.ts';

/** Record the model's answer or failure. An answer to an outdated question is dropped. */
export async function answerStep(
  daemon: With<'files' | 'reports' | 'current' | 'turns' | 'mail' | 'approvals' | 'tasks' | 'spend' | 'effects'>,
  caller: Caller,
  session: Session,
  now: string,
): Promise<SessionStep | undefined> {
  const {turns, reports} = daemon;
  const {report} = reports;
  const {path, agent} = caller;
  const asked = turns.question(path);
  if (!asked) return undefined;
  const why = staleness(session, asked, caller.template);
  if (why !== undefined) {
    turns.dropQuestions(path);
    report({event: 'dropped', session: caller.session, agent, why});
    return undefined;
  }
  const {ended} = asked;
  if (!ended) return undefined;
  const done = () => turns.answered(path);
  if ('limited' in ended) {
    const limit = limitFor(daemon, path, session);
    if (limit) return {...limitStep(waitForMore(session, limit, now), limit.id), done};
    // The limit was raised, or a new message arrived: ask again.
    done();
    return undefined;
  }
  if ('checkpoint' in ended) {
    const step = await checkpointStep(daemon, caller, session, ended.checkpoint, now);
    return step && {...step, done};
  }
  if ('refused' in ended) {
    const {refused: failed} = ended;
    report({event: 'failed', session: caller.session, agent, why: failed, hint: 'see agentdir help compact'});
    const header = {context: withoutWish(session.header ?? {}, failed)};
    return {session: withHeader(session, header, now), entry: {words: 'not compacted', cause: 'compaction'}, done};
  }
  if ('failed' in ended) {
    const error = `${ended.failed}; ${ended.hint}`;
    report({event: 'failed', session: caller.session, agent, why: ended.failed, hint: ended.hint});
    const result = withHeader(session, {error, status: 'error'} as Partial<SessionHeader>, now);
    return {session: result, entry: {words: `error: ${ended.failed}`, cause: 'turn'}, done};
  }
  // A summary is words and nothing else.
  const isSummary = isAskedToSummarize(caller.session, session.messages.slice(0, asked.basis.length));
  const reply = isSummary ? {...ended.reply, calls: []} : ended.reply;
  const step = await replyStep(daemon, caller, session, asked.basis.length, reply, now);
  const then = await callStep(daemon, caller, step.session, now, true);
  if (!then) return step;
  then.then = await answeredMeanwhile(daemon, caller, then.session, now);
  // The result of a call with effects is undone by itself, so it gets its own commit.
  const hasStarted = (then.entry.started?.length ?? 0) > 0;
  const hasResults = then.session.messages.length > step.session.messages.length;
  return {...step, then: hasStarted && hasResults ? then : {...then, entry: {...then.entry, joins: 'step'}}};
}

/** Wait this long for a fast model, so that results and the next answer share one file write. */
const AT_ONCE_MS = 3;

/** The answer to the question that was asked ahead, if it has arrived and is final. */
async function answeredMeanwhile(
  daemon: With<'files' | 'reports' | 'turns' | 'mail' | 'tasks' | 'spend'>,
  caller: Caller,
  session: Session,
  now: string,
): Promise<SessionStep | undefined> {
  const ahead = await daemon.turns.waitForQuestionAhead(caller.path, AT_ONCE_MS);
  if (!ahead?.ended || !('reply' in ahead.ended) || staleness(session, ahead, caller.template)) return undefined;
  const {reply} = ahead.ended;
  if (reply.cut || reply.calls.length > 0) return undefined;
  return replyStep(daemon, caller, session, ahead.basis.length, reply, now);
}

/** Insert the reply at index `at`, after the messages that it answers. */
async function replyStep(
  daemon: With<'files' | 'reports' | 'turns' | 'mail' | 'tasks' | 'spend'>,
  caller: Caller,
  session: Session,
  at: number,
  reply: Reply,
  now: string,
): Promise<SessionStep> {
  const {turns, reports} = daemon;
  const {report} = reports;
  const {path, session: id, agent} = caller;
  let result = insertMessage(session, at, messageOf(reply, now));
  if (reply.cut && reply.calls.length === 0 && mayContinue(result.messages.slice(0, at)))
    result = insertMessage(result, at + 1, {timestamp: now, role: 'user', from: 'system', content: CONTINUE_PROMPT});
  const isFinal = reply.calls.length === 0 && !reply.cut;
  const named = isFinal
    ? addresseesOf(daemon.files, caller, {...session, messages: result.messages.slice(0, at + 1)})
    : [];
  // Written together with the answer, so that a crash cannot separate them.
  const {reminder, due = []} = isFinal
    ? await followUpAnswer(
        daemon,
        caller,
        result.messages,
        at,
        named.map(({to}) => to),
      )
    : {};
  if (reminder) result = insertMessage(result, at + 1, reminder);
  const status = nextAction(result.messages).do === 'rest' ? 'sleeping' : 'active';
  const tasks = due.length > 0 && {tasks_due: [...(session.header?.tasks_due ?? []), ...due]};
  const mentions = named.length > 0 && {mentions_due: [...(session.header?.mentions_due ?? []), ...named]};
  result = withHeader(result, {status, error: undefined, ...mentions, ...tasks} as Partial<SessionHeader>, now);
  const {usage, model, calls} = reply;
  const tokens = usage && usage.input_tokens + usage.output_tokens;
  return {
    session: result,
    entry: {cause: 'turn', agent, ...wordsOf(reply)},
    written() {
      report({event: 'answered', session: id, agent, model, calls: calls.length, tokens});
      daemon.spend.recorded();
    },
    done: () => turns.answered(path),
  };
}

/** The agents to which a final answer goes: those that it names, and those that asked. The result of a task goes to its parent alone. */
function addresseesOf(files: HomeFiles, {agent}: Caller, {header, messages}: Session): Due[] {
  if (isChild(header)) return [];
  const {content = null, timestamp = ''} = messages.at(-1) ?? {};
  const said = saidInChannel(messages.slice(0, -1));
  const named = said ? [] : mentionsDue(files, agent, content, timestamp);
  return [...named, ...repliesDue(messages, new Set(named.map(({to}) => to)), timestamp)];
}

/** Whether the agent of a workflow has written to the channel since it was asked: then a name in its answer wakes nobody a second time. */
function saidInChannel(messages: readonly Message[]): boolean {
  for (let i = messages.length - 1; i >= 0; i--) {
    const {role, tool_calls = []} = messages[i] as Message;
    if (role === 'user') return false;
    if (tool_calls.some(call => call.function.name === 'channel_send')) return true;
  }
  return false;
}

function messageOf({content, calls, model, usage, cut}: Reply, now: string): Message {
  return {
    timestamp: now,
    role: 'assistant',
    model,
    ...(usage && {usage}),
    ...(cut && {cut}),
    ...((content !== null || calls.length === 0) && {content: content ?? ''}),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({id, name, arguments: args}) => ({
        id,
        type: 'function' as const,
        function: {name, arguments: args},
      })),
    }),
  };
}

/** How many calls a commit subject names. */
const MOST_NAMED = 20;

function wordsOf({calls, model, usage}: Reply): {words: string; trailers: [string, string][]} {
  const names = calls.slice(0, MOST_NAMED).map(({name}) => name);
  if (calls.length > MOST_NAMED) names.push(`${calls.length - MOST_NAMED} more`);
  return {
    words: calls.length > 0 ? `assistant turn, calls ${names.join(', ')}` : 'assistant turn',
    trailers: [
      ...calls.map(({id}): [string, string] => ['Call', id]),
      ['Model', model],
      ...(usage ? [['Tokens', `${usage.input_tokens} in, ${usage.output_tokens} out`] as [string, string]] : []),
    ],
  };
}
