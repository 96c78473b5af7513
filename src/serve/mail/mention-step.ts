import {chainOf} from '../../files/chain.ts';
import type {Session} from '../../files/session/session.ts';
import {mentionsIn} from '../../reconcile/mentions.ts';
import {withHeader} from '../../reconcile/turn.ts';
import type {Caller} from '../calls/caller.ts';
import {lookAgain} from '../look-again.ts';
import type {Serving} from '../serving.ts';
import type {Step} from '../turns/step.ts';
import {isAgent} from './agents.ts';
import {messageFrom, receiverFor} from './send.ts';

type Due = NonNullable<NonNullable<Session['header']>['mentions_due']>[number];

/** Agents that a final answer names, each to be woken once; kept in the session until they are. */
export function mentionsDue(serving: Serving, agent: string, content: string | null, answer: string): Due[] {
  return mentionsIn(content ?? '')
    .filter(name => name !== agent && isAgent(serving, name))
    .map(to => ({to, answer}));
}

/** Wake who is still to be woken; who was is not named any more. */
export function mentionStep(serving: Serving, caller: Caller, session: Session, now: string): Step | undefined {
  const due = session.header?.mentions_due ?? [];
  if (due.length === 0) return undefined;
  const {path} = caller;
  const woken = serving.woken.get(path) ?? new Set<string>();
  const left = due.filter(each => !woken.has(idOf(caller, each)));
  if (left.length < due.length)
    return {
      session: withHeader(session, {mentions_due: left.length > 0 ? left : undefined}, now),
      entry: {words: 'those it names are told', cause: 'mention', agent: caller.agent},
      done: () => void (left.length === 0 && serving.woken.delete(path)),
    };
  for (const each of left) wake(serving, {...caller, of: session}, each);
  return undefined;
}

function wake(serving: Serving, caller: Caller, due: Due): void {
  const {path, of} = caller;
  const id = idOf(caller, due);
  const over = () => {
    serving.woken.set(path, (serving.woken.get(path) ?? new Set()).add(id));
    lookAgain(serving, path);
  };
  const at = of.messages.findLastIndex(({role, timestamp}) => role === 'assistant' && timestamp === due.answer);
  const answer = of.messages[at];
  // Somebody took the answer or the agent away.
  if (!answer || !isAgent(serving, due.to)) {
    over();
    return;
  }
  const upTo = {...of, messages: of.messages.slice(0, at + 1)};
  const {path: to, opening} = receiverFor(serving, upTo, due.to);
  const message = messageFrom({...caller, of: upTo}, answer.content ?? '', chainOf(upTo.messages, id));
  serving.mail.post(to, {id, agent: due.to, opening, message, delivered: over});
  lookAgain(serving, to);
}

function idOf({session}: Caller, {to, answer}: Due): string {
  return `${session} ${answer} @${to}`;
}
