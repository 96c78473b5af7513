import {beginsWith, mayWork} from '../../decide/turn.ts';
import type {Session} from '../../formats/session/session.ts';
import type {Message, SessionHeader} from '../../formats/session/session-schema.ts';
import type {TemplateValue} from '../../formats/template.ts';
import {limitFor} from '../sessions/budget.ts';
import type {Caller} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import type {Question} from '../state/turns.ts';
import {noteTaskBegun} from '../tasks/deliver-task.ts';
import {askModel} from './ask.ts';

/** Ask the model about this version of the session. `ahead`: the previous answer is not recorded yet. */
export async function startQuestion(
  daemon: With<'files' | 'reports' | 'current' | 'turns' | 'tasks' | 'spend' | 'effects'>,
  caller: Caller,
  session: Session,
  ahead: boolean,
): Promise<void> {
  const {turns} = daemon;
  const {header, messages} = session;
  if (!header || turns.stopped) return;
  const earlier = await turns.segments.messages(header.segments ?? []);
  const asking = {
    path: caller.path,
    session: caller.session,
    agent: caller.agent,
    template: caller.template,
    model: header.model,
    prompt: header.system_prompt,
    task: header.task,
    messages: earlier.length > 0 ? [...earlier, ...messages] : messages,
    after: {messages: messages.length, answers: answersIn(messages)},
    limited: () => limitFor(daemon, caller.path, session) !== undefined,
  };
  const question = {basis: messages, around: aroundOf(header, caller.template)};
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
  if (!mayWork(session.header)) return `the session is ${session.header?.status}`;
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
  } = header ?? {};
  return JSON.stringify([agent_id, model, system_prompt, segments]);
}
