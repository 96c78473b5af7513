import {isOpen, type TaskFact} from '../../check/task-facts.ts';
import type {Session} from '../../files/session/session.ts';
import {lookAgain} from '../look-again.ts';
import type {Serving} from '../serving.ts';

/** Whether a session may write to others by itself, or has got something to do it about. One with errors may when it is mended. */
export function isAtWork({index, known, mail}: Serving, path: string): boolean {
  if (mail.has(path)) return true;
  const fact = index.facts(path)?.session;
  return fact ? fact.status !== 'sleeping' && fact.status !== 'completed' : known.has(path);
}

/** It has named others who do not know it yet, or said something of its tasks that their files do not say yet. */
export function owesNews({header}: Session): boolean {
  return (header?.mentions_due?.length ?? 0) > 0 || (header?.tasks_due?.length ?? 0) > 0;
}

/** Open tasks that were created in this session. */
export function tasksCreated({index}: Serving, session: string): TaskFact[] {
  const isOwn = ({createdIn, state}: TaskFact) => createdIn === session && isOpen(state);
  return [...index.links.createdIn(session)].flatMap(path => index.facts(path)?.tasks?.filter(isOwn) ?? []);
}

/** A session is not what it was: those that wait for it are asked again if it is at rest now, or gone. */
export function wakeWaiting(serving: Serving, path: string): void {
  const {tasks} = serving;
  if (!tasks.isWaitedFor(path) || isAtWork(serving, path)) return;
  for (const waiting of tasks.takeWaiting(path)) {
    tasks.unsure.add(waiting);
    lookAgain(serving, waiting);
  }
}
