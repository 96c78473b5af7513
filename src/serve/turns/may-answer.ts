import type {TaskFact} from '../../check/task-facts.ts';
import {stemOf} from '../../files/key.ts';
import {parseSession, type Session} from '../../files/session/session.ts';
import {awaited} from '../../reconcile/awaited.ts';
import {isAgent} from '../mail/agents.ts';
import {openSession} from '../mail/receivers.ts';
import {receiverFor} from '../mail/send.ts';
import type {Serving} from '../serving.ts';
import {textOf} from '../state.ts';
import {isAtWork, owesNews, tasksCreated} from './at-work.ts';

/**
 * The session, by path, that is at work, so that `agent` may still answer what it was written in `of`: its own, or that of
 * one for whom this one waits in turn. Undefined: all of them are at rest, and nobody is going to. `asked`: not once more.
 */
export async function whoMayAnswer(
  serving: Serving,
  of: Session,
  agent: string,
  asked: Set<string>,
): Promise<string | undefined> {
  return isAgent(serving, agent) ? whoIsAtWork(serving, receiverFor(serving, of, agent).path, asked) : undefined;
}

async function whoIsAtWork(serving: Serving, path: string, asked: Set<string>): Promise<string | undefined> {
  if (asked.has(path)) return undefined;
  asked.add(path);
  if (isAtWork(serving, path)) return path;
  const blob = serving.known.get(path)?.good;
  const text = blob === undefined ? undefined : await textOf(serving, blob, path);
  if (text === undefined) return undefined;
  const session = parseSession(text);
  if (owesNews(session)) return path;
  for (const task of tasksCreated(serving, session.header?.session_id ?? stemOf(path))) {
    const other = sessionAtIt(serving, task);
    // It is brought to somebody, or a person sees it: whoever created it is told what becomes of it.
    const found = other === undefined ? path : await whoIsAtWork(serving, other, asked);
    if (found !== undefined) return found;
  }
  for (const other of awaited(session.messages)) {
    const found = await whoMayAnswer(serving, session, other, asked);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Where an agent has it, of which nobody says that it stands still. */
function sessionAtIt(serving: Serving, {state, stalled, session}: TaskFact): string | undefined {
  return state === 'in_progress' && stalled === undefined ? openSession(serving, session) : undefined;
}
