import {parseSession, type Session} from '../../files/session/session.ts';
import {awaited} from '../../reconcile/awaited.ts';
import {isAgent} from '../mail/agents.ts';
import {receiverFor} from '../mail/send.ts';
import type {Serving} from '../serving.ts';
import {textOf} from '../state.ts';
import {isAtWork} from './at-work.ts';

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
  if (!isAgent(serving, agent)) return undefined;
  const {path} = receiverFor(serving, of, agent);
  if (asked.has(path)) return undefined;
  asked.add(path);
  if (isAtWork(serving, path)) return path;
  const blob = serving.known.get(path)?.good;
  const text = blob === undefined ? undefined : await textOf(serving, blob);
  const session = text === undefined ? undefined : parseSession(text);
  for (const other of session ? awaited(session.messages) : []) {
    const found = session && (await whoMayAnswer(serving, session, other, asked));
    if (found !== undefined) return found;
  }
  return undefined;
}
