import type {TaskFact} from '../../check/task-facts.ts';
import {awaitedNames} from '../../decide/awaited.ts';
import {stemOf} from '../../formats/common/key.ts';
import {parseSession, type Session} from '../../formats/session/session.ts';
import {versionText} from '../../loop/accept-version.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {agentExists} from '../mail/agents.ts';
import {openSession} from '../mail/receivers.ts';
import {receiverFor} from '../mail/send.ts';
import type {With} from '../state/parts.ts';
import {hasUndeliveredNews, isAtWork, tasksCreated} from './at-work.ts';

/**
 * The session, by path, that is at work, so that `agent` may still answer what it was written in `of`: its own, or that of
 * one for whom this one waits in turn. Undefined: all of them are at rest, and nobody is going to. `asked`: not once more.
 */
export async function sessionThatMayAnswer(
  daemon: With<'files' | 'mail'>,
  of: Session,
  agent: string,
  asked: Set<string>,
): Promise<string | undefined> {
  const {files} = daemon;
  return agentExists(files, agent) ? whoIsAtWork(daemon, receiverFor(files, of, agent).path, asked) : undefined;
}

async function whoIsAtWork(
  daemon: With<'files' | 'mail'>,
  path: string,
  asked: Set<string>,
): Promise<string | undefined> {
  const {files} = daemon;
  if (asked.has(path)) return undefined;
  asked.add(path);
  if (isAtWork(daemon, path)) return path;
  const blob = files.known.get(path)?.good;
  const text = blob === undefined ? undefined : await versionText(files, blob, path);
  if (text === undefined) return undefined;
  const session = parseSession(text);
  if (hasUndeliveredNews(session)) return path;
  for (const task of tasksCreated(files, session.header?.session_id ?? stemOf(path))) {
    const other = sessionAtIt(files, task);
    // It is brought to somebody, or a person sees it: whoever created it is told what becomes of it.
    const found = other === undefined ? path : await whoIsAtWork(daemon, other, asked);
    if (found !== undefined) return found;
  }
  for (const other of awaitedNames(session.messages)) {
    const found = await sessionThatMayAnswer(daemon, session, other, asked);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Where an agent has it, of which nobody says that it stands still. */
function sessionAtIt(files: HomeFiles, {state, stalled, session}: TaskFact): string | undefined {
  return state === 'in_progress' && stalled === undefined ? openSession(files, session) : undefined;
}
