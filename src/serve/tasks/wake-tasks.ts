import {lookAgain} from '../look-again.ts';
import type {Serving} from '../serving.ts';

/** Tasks or agents are not what they were: look again at the files with tasks that depend on that, and at no others. */
export function wakeTasks(serving: Serving): void {
  const {index} = serving;
  for (const name of index.takeChanged()) {
    const [, kind, id = ''] = /^(task|agent)\/(.*)$/s.exec(name) ?? [];
    const paths = new Set(kind === 'agent' ? index.links.of(id) : index.links.waitingFor(id));
    if (kind === 'task' && index.definitionsOf(name).length === 0) serving.tasks.miss(id);
    if (kind === 'task') for (const path of parentFile(serving, id)) paths.add(path);
    for (const path of paths) lookAgain(serving, path);
    if (kind === 'agent') wakeInboxes(serving, id);
  }
}

/** Lines that wait for this agent. */
function wakeInboxes(serving: Serving, agent: string): void {
  for (const path of serving.inboxes.waiting()) lookAgain(serving, path);
  for (const path of serving.index.pathsOf('rejected'))
    if (serving.index.facts(path)?.refers?.some(({name}) => name === agent)) lookAgain(serving, path);
}

/** Where the task stands that it is a part of. */
function parentFile({index}: Serving, id: string): string[] {
  const path = index.definitionsOf(`task/${id}`)[0]?.path;
  const task = path === undefined ? undefined : index.facts(path)?.tasks?.find(each => each.id === id);
  const parent = task?.parent ?? task?.nested;
  const whole = parent === undefined ? undefined : index.definitionsOf(`task/${parent}`)[0]?.path;
  return whole === undefined ? [] : [whole];
}
