import {mentionedNames} from '../../decide/mentions.ts';
import {withHeader} from '../../decide/turn.ts';
import {chainOf} from '../../formats/session/chain.ts';
import type {Session} from '../../formats/session/session.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {SessionStep} from '../sessions/step.ts';
import type {Caller} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import {agentExists} from './agents.ts';
import {messageFrom, receiverFor} from './send.ts';

type Due = NonNullable<NonNullable<Session['header']>['mentions_due']>[number];

/** Agents that a final answer names, each to be woken once; kept in the session until they are. */
export function mentionsDue(files: HomeFiles, agent: string, content: string | null, answer: string): Due[] {
  return mentionedNames(content ?? '')
    .filter(name => name !== agent && agentExists(files, name))
    .map(to => ({to, answer}));
}

/** Wake who is still to be woken; who was is not named any more. */
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
  const left = due.filter(each => !woken.has(idOf(caller, each)));
  if (left.length < due.length)
    return {
      session: withHeader(session, {mentions_due: left.length > 0 ? left : undefined}, now),
      entry: {words: 'those it names are told', cause: 'mention', agent: caller.agent},
      done: () => void (left.length === 0 && mail.woken.delete(path)),
    };
  for (const each of left) wake(daemon, {...caller, of: session}, each);
  return undefined;
}

function wake({files, mail}: With<'files' | 'mail'>, caller: Caller, due: Due): void {
  const {path, of} = caller;
  const id = idOf(caller, due);
  const over = () => {
    mail.woken.set(path, (mail.woken.get(path) ?? new Set()).add(id));
    lookAgain(files, path);
  };
  const at = of.messages.findLastIndex(({role, timestamp}) => role === 'assistant' && timestamp === due.answer);
  const answer = of.messages[at];
  // Somebody took the answer or the agent away.
  if (!answer || !agentExists(files, due.to)) {
    over();
    return;
  }
  const upTo = {...of, messages: of.messages.slice(0, at + 1)};
  const {path: to, opening} = receiverFor(files, upTo, due.to);
  const message = messageFrom({...caller, of: upTo}, answer.content ?? '', chainOf(upTo.messages, id));
  mail.post(to, {id, agent: due.to, opening, message, delivered: over});
  lookAgain(files, to);
}

function idOf({session}: Caller, {to, answer}: Due): string {
  return `${session} ${answer} @${to}`;
}
