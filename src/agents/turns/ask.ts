import {systemPrompt} from '../../check/prompt-ending.ts';
import type {ModelContext} from '../../decide/context.ts';
import {isAskedToSummarize} from '../../decide/delegation.ts';
import {batchEnd} from '../../decide/request-batch.ts';
import {beginsWith, isCancelled, mayWork} from '../../decide/turn.ts';
import type {Answer, RetryKind} from '../../effects/model/answer.ts';
import {estimateUsage, isCounted} from '../../effects/model/collect.ts';
import {chooseModel} from '../../formats/model-choice.ts';
import type {Session} from '../../formats/session/session.ts';
import type {Message, SessionHeader} from '../../formats/session/session-schema.ts';
import type {Settings} from '../../formats/settings.ts';
import type {TemplateValue} from '../../formats/template.ts';
import {type Clock, timestamp} from '../../home/disk/clock.ts';
import {crashPoint} from '../../home/disk/crash.ts';
import {LiveOutput, type QuestionSize} from '../../home/live.ts';
import type {ModelQuestion} from '../../runners/runner.ts';
import {limitFor} from '../sessions/budget.ts';
import {type Caller, capabilitiesOf} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import {redactAnswer} from '../state/redaction.ts';
import type {Question, QuestionResult} from '../state/turns.ts';
import {noteTaskBegun} from '../tasks/deliver-task.ts';
import {type Compacted, ContextBuilder, isCompactionWanted, type RequestBasis} from './compacting.ts';

/** Ask the model about this version of the session. `ahead`: the previous answer is not recorded yet. */
export async function startQuestion(
  daemon: With<'files' | 'reports' | 'current' | 'turns' | 'tasks' | 'spend' | 'effects'>,
  caller: Caller,
  session: Session,
  ahead: boolean,
): Promise<void> {
  const {turns} = daemon;
  const {header, messages} = session;
  if (!header || turns.stopped || (await daemon.current.hold(caller.agent))) return;
  const earlier = await turns.segments.messages(header.segments ?? []);
  const all = earlier.length > 0 ? [...earlier, ...messages] : messages;
  // If many lines wait, the request takes only the first ones; the answer goes below those.
  const settings = await daemon.current.settings();
  const choice = chooseModel(header.model ?? caller.template.model, settings, daemon.effects.world.environment);
  const end = batchEnd(messages, 'failed' in choice ? undefined : choice.contextTokens);
  const basis = end === messages.length ? messages : messages.slice(0, end);
  const about = end === messages.length ? all : all.slice(0, earlier.length + end);
  const asking = {
    path: caller.path,
    session: caller.session,
    agent: caller.agent,
    template: caller.template,
    capabilities: isAskedToSummarize(caller.session, messages) ? [] : capabilitiesOf({...caller, of: session}),
    header,
    messages: about,
    context: new ContextBuilder(header, about, all),
    after: {messages: basis.length, answers: answersIn(basis)},
    limited: () => limitFor(daemon, caller.path, session) !== undefined,
  };
  const question = {basis, around: aroundOf(header, caller.template)};
  // The file changed before the answer was written. The question asked ahead may still fit.
  const asked = ahead ? turns.questionAhead(caller.path) : undefined;
  if (asked && asked.around === question.around && beginsWith(messages, asked.basis)) return;
  turns.ask(caller.path, question, ahead, signal => askModel(daemon, asking, signal));
  // Tasks delivered since the last answer have begun.
  for (let i = messages.length - 1; i >= 0 && messages[i]?.role !== 'assistant'; i--) {
    const {delivery} = messages[i] ?? {};
    if (delivery?.startsWith('task/')) noteTaskBegun(daemon, delivery);
  }
}

function answersIn(messages: readonly Message[]): number {
  let count = 0;
  for (const {role} of messages) if (role === 'assistant') count++;
  return count;
}

/** Why the answer to a question no longer fits the session; undefined if it does. */
export function staleness(session: Session, {basis, around}: Question, template: TemplateValue): string | undefined {
  if (!isCompactionWanted(session.header)) {
    if (!mayWork(session.header)) return `the session is ${session.header?.status}`;
    if (isCancelled(session)) return 'a person cancelled the turn';
  }
  return around === aroundOf(session.header, template) && beginsWith(session.messages, basis)
    ? undefined
    : 'the conversation has changed';
}

/** The inputs of a request besides the messages, with defaults from the template. */
function aroundOf(header: SessionHeader | undefined, template: TemplateValue): string {
  const {
    agent_id,
    model = template.model ?? 'default',
    system_prompt = template.system_prompt,
    segments,
    context,
  } = header ?? {};
  return JSON.stringify([agent_id, model, system_prompt, segments, context?.version, context?.versions]);
}

/** A question to a model, and the session it is for. */
interface ModelRequestContext {
  path: string;
  session: string;
  agent: string;
  template: TemplateValue;
  header: SessionHeader;
  /** The tools that the model is offered; none: also no recall. */
  capabilities: readonly string[];
  /** The messages that the request is about, those in segments included. */
  messages: readonly Message[];
  context: ContextBuilder;
  after: QuestionSize;
  /** Whether a spending limit is reached. */
  limited: () => boolean;
}

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 60_000;
/** How long to retry a server that is down or busy; shorter with `--once`. */
const PATIENCE_MS = 30 * 60_000;
const ONCE_PATIENCE_MS = 20_000;
/** Waiting does not help against empty or unreadable answers, so these are limited by count. */
const MOST_TRIES: Partial<Record<RetryKind, number>> = {empty: 3, garbage: 3};

/** Ask with retries until the model answers or finally fails. Undefined: aborted by `signal`. Never throws. */
async function askModel(
  daemon: With<'files' | 'reports' | 'current' | 'turns' | 'spend' | 'effects'>,
  asking: ModelRequestContext,
  signal: AbortSignal,
): Promise<QuestionResult | undefined> {
  const {files, reports, effects} = daemon;
  const live = new LiveOutput(files.disk, asking.session, asking.agent);
  const began = files.disk.clock.monotonic();
  const tries: Partial<Record<RetryKind, number>> = {};
  for (let count = 1; ; count++) {
    const attempt = await askOnce(daemon, asking, live, signal);
    const {server} = attempt;
    const answer = redactAnswer(reports.redact, effects.world.random, attempt.answer);
    if ('limited' in answer || 'checkpoint' in answer || 'refused' in answer) {
      live.end('dropped');
      return answer;
    }
    if ('aborted' in answer) {
      live.end('dropped');
      return undefined;
    }
    if ('failed' in answer) {
      live.end('failed', answer.failed);
      return answer;
    }
    if ('reply' in answer) {
      daemon.spend.add(asking.agent, answer.reply.usage, timestamp(files.disk.clock));
      for (const {name, arguments: args} of answer.reply.calls) live.call(name, args);
      live.end('answered');
      crashPoint('turn-answer');
      reports.troubles.set(`model ${server}`, undefined);
      return answer;
    }
    const {retry, kind, after} = answer;
    tries[kind] = (tries[kind] ?? 0) + 1;
    // Back off even if the server's Retry-After is 0.
    const backoff =
      Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (count - 1)) * (0.75 + effects.world.random.fraction() / 2);
    const ms = Math.max(after ?? 0, backoff);
    const patience = files.phase.once ? ONCE_PATIENCE_MS : PATIENCE_MS;
    const maxTries = MOST_TRIES[kind];
    const waited = files.disk.clock.monotonic() - began;
    if (maxTries === undefined ? waited + ms > Math.max(patience, after ?? 0) : (tries[kind] ?? 0) >= maxTries) {
      live.end('failed', retry);
      reports.troubles.set(`model ${server}`, undefined);
      return {
        failed: `${retry} (tried ${count === 1 ? 'once' : `${count} times`}${after !== undefined && after > patience ? `; it asks to wait ${Math.round(after / 1000)} s` : ''})`,
        hint: 'set "status: active" to try again',
      };
    }
    const at = new Date(files.disk.clock.now() + ms).toISOString();
    live.retry(retry, at);
    reports.report({
      event: 'retrying',
      session: asking.session,
      agent: asking.agent,
      why: retry,
      after: Math.round(ms),
    });
    reports.troubles.set(`model ${server}`, `${retry}; retrying`);
    if (!(await pause(files.disk.clock, ms, signal))) {
      live.end('dropped');
      return undefined;
    }
  }
}

/** Ask once. Holds a slot only while asking, not between retries. */
async function askOnce(
  {
    files,
    reports,
    current,
    turns,
    spend,
    effects,
  }: With<'files' | 'reports' | 'current' | 'turns' | 'spend' | 'effects'>,
  asking: ModelRequestContext,
  live: LiveOutput,
  signal: AbortSignal,
): Promise<{answer: Answer | Compacted; server: string}> {
  const settings = await current.settings();
  reports.redact.follow(settings);
  turns.concurrency = settings.concurrency ?? 8;
  const {agent, session, template, header, messages} = asking;
  const choice = chooseModel(header.model ?? template.model, settings, effects.world.environment);
  if ('failed' in choice) return {answer: choice, server: ''};
  const server = choice.kind === 'playbook' ? 'playbook' : `${choice.id ?? ''} ${choice.baseURL ?? 'openai'}`.trim();
  const release = await turns.slots.acquire(server, signal, () => files.queue.isPreferred(asking.path));
  if (!release) return {answer: {aborted: true}, server};
  try {
    // Other sessions may have reached the limit while this one waited for its slot.
    if (asking.limited()) return {answer: {limited: true}, server};
    const playbooks = choice.kind === 'playbook' ? await current.playbooks() : [];
    const redacted = reports.redact.stream();
    const {basis, request} = await buildRequest({files, reports, spend, effects}, asking, settings, choice, signal);
    if (!('messages' in request)) return {answer: request, server};
    const {tools} = basis;
    const question: ModelQuestion = {choice, playbooks, agent, messages: request.messages, session: messages, tools};
    const model = choice.kind === 'playbook' ? 'playbook' : (choice.id ?? 'the first model of the server');
    reports.report({event: 'asking', session, agent, model});
    live.begin(`${effects.run}.${turns.newTurn()}`, asking.after);
    crashPoint('turn-ask');
    const answer = await effects.runner.ask(question, {signal, onText: delta => live.text(redacted.push(delta))});
    live.text(redacted.end());
    if ('failed' in answer && answer.tooLong) {
      const instead = await asking.context.afterRefusal({files, reports, spend, effects}, basis);
      if (instead) return {answer: instead, server};
    }
    if ('reply' in answer && !isCounted(answer.reply) && choice.kind === 'openai')
      answer.reply.usage = estimateUsage(question, answer.reply, choice.price);
    return {answer, server};
  } catch (error) {
    // An unexpected error fails this session only.
    return {
      answer: {
        failed: `the model could not be asked: ${(error as Error).message}`,
        hint: 'set "status: active" to try again',
      },
      server,
    };
  } finally {
    // Release on the next tick: by then the connection is idle, and the next question reuses it.
    setImmediate(release);
  }
}

/** The request as the model is sent it, or what comes before it. `recall` is offered to whom not all messages are sent. */
async function buildRequest(
  daemon: With<'files' | 'reports' | 'spend' | 'effects'>,
  asking: ModelRequestContext,
  settings: Settings,
  choice: RequestBasis['choice'],
  signal: AbortSignal,
): Promise<{basis: RequestBasis; request: ModelContext | Compacted}> {
  const {files, effects} = daemon;
  const {template, header, agent, capabilities, limited, context} = asking;
  for (let recall = context.isCompacted; ; recall = true) {
    const tools = await effects.tools.list({
      capabilities: recall && capabilities.length > 0 ? [...capabilities, 'recall'] : capabilities,
      home: files.home,
      settings,
      env: effects.world.environment,
    });
    const names = tools.map(({name}) => name);
    const system = systemPrompt(files.index, {header, template, agent, tools: names});
    const basis = {caller: asking, ...{settings, choice, system, tools, limited, signal}};
    const request = await context.prepare(daemon, basis);
    if (recall || !('shortened' in request) || request.shortened === 0) return {basis, request};
  }
}

/** Resolves to true after `ms`, or to false if `signal` aborts first. */
function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve(false);
    const stop = () => {
      cancel();
      resolve(false);
    };
    const cancel = clock.after(
      ms,
      () => {
        signal.removeEventListener('abort', stop);
        resolve(true);
      },
      'held',
    );
    signal.addEventListener('abort', stop, {once: true});
  });
}
