import {writtenTo} from '../../decide/awaited.ts';
import {withHeader} from '../../decide/turn.ts';
import {stemOf} from '../../formats/common/key.ts';
import {mentionedNames} from '../../formats/mentions.ts';
import {chainOf} from '../../formats/session/chain.ts';
import type {Session} from '../../formats/session/session.ts';
import type {Message} from '../../formats/session/session-schema.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {SessionStep} from '../sessions/step.ts';
import type {Caller} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import {agentExists, agentMeant} from './agents.ts';
import {sessionOfAgent} from './receivers.ts';
import {messageFrom, receiverFor} from './send.ts';

/** An agent that an answer goes to. `in_reply_to`: it answers a message of that agent. */
export type Due = NonNullable<NonNullable<Session['header']>['mentions_due']>[number];

/** Mentions of agents in a final answer. They stay in the session header until delivered. */
export function mentionsDue(files: HomeFiles, agent: string, content: string | null, answer: string): Due[] {
  const names = mentionedNames(content ?? '').map(name => agentMeant(files, name, agent));
  return names.filter(name => name !== agent && agentExists(files, name)).map(to => ({to, answer}));
}

/**
 * Agents whose messages a final answer answers, and to which it goes back. Not those that the turn has answered already, by
 * a `send_message` that succeeded or a mention (`named`), and no replies: two agents would answer each other for ever.
 */
export function repliesDue(messages: readonly Message[], named: ReadonlySet<string>, answer: string): Due[] {
  const before = messages.slice(0, -1);
  // Messages before the previous answer were answered by it.
  const turn = before.slice(1 + before.findLastIndex(isAnswer));
  const sentTo = new Set(writtenTo(turn));
  const asked = new Map<string, Due>();
  for (const {role, from, reply_to, delivery, in_reply_to} of turn.reverse()) {
    if (role !== 'user' || !from?.startsWith('@') || in_reply_to !== undefined) continue;
    if (reply_to !== undefined && delivery !== undefined && !asked.has(reply_to))
      asked.set(reply_to, {to: from.slice(1), answer, in_reply_to: delivery});
  }
  return [...asked.values()].filter(({to}) => !named.has(to) && !sentTo.has(to)).reverse();
}

function isAnswer({role, tool_calls = [], cut}: Message): boolean {
  return role === 'assistant' && tool_calls.length === 0 && !cut;
}

/** Deliver the due mentions and replies, and remove delivered ones from the header. */
export function mentionStep(
  daemon: With<'files' | 'mail'>,
  caller: Caller,
  session: Session,
  now: string,
): SessionStep | undefined {
  const {mail} = daemon;
  const due = session.header?.mentions_due ?? [];
  if (due.length === 0) return undefined;
  const {path} = caller;
  const woken = mail.woken.get(path) ?? new Set<string>();
  const open = due.filter(each => !woken.has(idOf(caller, each)));
  if (open.length < due.length)
    return {
      session: withHeader(session, {mentions_due: open.length > 0 ? open : undefined}, now),
      entry: {words: 'agents that it names are notified', cause: 'mention', agent: caller.agent},
      done: () => void (open.length === 0 && mail.woken.delete(path)),
    };
  for (const each of open) postMention(daemon, {...caller, of: session}, each);
  return undefined;
}

function postMention({files, mail}: With<'files' | 'mail'>, caller: Caller, due: Due): void {
  const {path, of} = caller;
  const id = idOf(caller, due);
  const done = () => {
    mail.woken.set(path, (mail.woken.get(path) ?? new Set()).add(id));
    lookAgain(files, path);
  };
  const at = of.messages.findLastIndex(({role, timestamp}) => role === 'assistant' && timestamp === due.answer);
  const answer = of.messages[at];
  // The answer or the agent was removed.
  if (!answer || !agentExists(files, due.to)) {
    done();
    return;
  }
  const upTo = {...of, messages: of.messages.slice(0, at + 1)};
  const question =
    due.in_reply_to === undefined ? undefined : of.messages.find(({delivery}) => delivery === due.in_reply_to);
  const asker = question && sessionOfAgent(files, question.reply_to, due.to);
  const {path: to, opening} = asker ?? receiverFor(files, upTo, due.to);
  const message = {
    ...messageFrom({...caller, of: upTo}, answer.content ?? '', chainOf(upTo.messages, stemOf(path))),
    ...(due.in_reply_to !== undefined && {in_reply_to: due.in_reply_to}),
  };
  mail.post(to, {id, agent: due.to, opening, message, delivered: done});
  lookAgain(files, to);
}

function idOf({session}: Caller, {to, answer, in_reply_to: asked}: Due): string {
  return `${session} ${answer} @${to}${asked === undefined ? '' : ` to ${asked}`}`;
}
