import {isOpenState, type TaskFact} from '../../check/task-facts.ts';
import type {Session} from '../../formats/session/session.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {With} from '../state/parts.ts';

/** Whether a session may still send messages without new input. A session with errors may, once they are fixed. */
export function isAtWork({files, mail}: With<'files' | 'mail'>, path: string): boolean {
  const {index, known} = files;
  if (mail.has(path)) return true;
  const fact = index.facts(path)?.session;
  return fact ? fact.status !== 'sleeping' && fact.status !== 'completed' : known.has(path);
}

/** Whether mentions, task changes or the result of this session have not reached their targets yet. */
export function hasUndeliveredNews({header}: Session): boolean {
  return (header?.mentions_due?.length ?? 0) > 0 || (header?.tasks_due?.length ?? 0) > 0 || header?.result_due === true;
}

/** Open tasks that were created in this session, each with the path of its file. */
export function tasksCreated({index}: HomeFiles, session: string): {file: string; task: TaskFact}[] {
  const isOwn = ({createdIn, state}: TaskFact) => createdIn === session && isOpenState(state);
  return [...index.links.createdIn(session)].flatMap(file =>
    (index.facts(file)?.tasks ?? []).filter(isOwn).map(task => ({file, task})),
  );
}

/** After a change to a session: if it is at rest or gone, follow up the sessions that wait for it. */
export function wakeWaiting(daemon: With<'files' | 'mail' | 'tasks'>, path: string): void {
  if (daemon.tasks.isWaitedFor(path) && !isAtWork(daemon, path)) followUpWaiting(daemon, path);
}

/** Follow up the sessions that wait for this session or task file. */
export function followUpWaiting({files, tasks}: With<'files' | 'tasks'>, path: string): void {
  for (const waiting of tasks.takeWaiting(path)) {
    tasks.askAgain.add(waiting);
    lookAgain(files, waiting);
  }
}
