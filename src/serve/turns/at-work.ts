import {isOpen, type TaskFact} from '../../check/task-facts.ts';
import {lookAgain} from '../look-again.ts';
import type {Serving} from '../serving.ts';

/** Whether a session may write to others by itself. One that is not there is about to be made. */
export function isAtWork(serving: Serving, path: string): boolean {
  const fact = serving.index.facts(path)?.session;
  if (!fact || serving.mail.has(path)) return true;
  return (fact.status !== 'sleeping' && fact.status !== 'completed') || hasCreated(serving, fact.id);
}

/** Whether tasks that were created in this session are open. */
export function hasCreated({index}: Serving, session: string): boolean {
  const isOwn = ({createdIn, state}: TaskFact) => createdIn === session && isOpen(state);
  return [...index.links.createdIn(session)].some(path => index.facts(path)?.tasks?.some(isOwn));
}

/** A session is not what it was: those that wait for it are asked again if it is at rest now, or gone. */
export function wakeWaiting(serving: Serving, path: string): void {
  const {tasks, known} = serving;
  if (!tasks.isWaitedFor(path) || (known.has(path) && isAtWork(serving, path))) return;
  for (const waiting of tasks.takeWaiting(path)) {
    tasks.unsure.add(waiting);
    lookAgain(serving, waiting);
  }
}
