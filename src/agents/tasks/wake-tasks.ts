import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {With} from '../state/parts.ts';

/** Tasks or agents are not what they were: look again at the files with tasks that depend on that, and at no others. */
export function wakeTasks(daemon: With<'files' | 'inboxes' | 'tasks'>): void {
  const {files} = daemon;
  const {index} = files;
  for (const name of index.takeChanged()) {
    const [, kind, id = ''] = /^(task|agent)\/(.*)$/s.exec(name) ?? [];
    const paths = new Set(kind === 'agent' ? index.links.of(id) : index.links.waitingFor(id));
    if (kind === 'task' && index.definitionsOf(name).length === 0) daemon.tasks.noteMissing(id);
    if (kind === 'task') for (const path of parentFile(files, id)) paths.add(path);
    for (const path of paths) lookAgain(files, path);
    if (kind === 'agent') wakeInboxes(daemon, id);
  }
}

/** Lines that wait for this agent. */
function wakeInboxes({files, inboxes}: With<'files' | 'inboxes'>, agent: string): void {
  for (const path of inboxes.waiting()) lookAgain(files, path);
  for (const path of files.index.pathsOf('rejected'))
    if (files.index.facts(path)?.refers?.some(({name}) => name === agent)) lookAgain(files, path);
}

/** Where the task stands that it is a part of. */
function parentFile({index}: HomeFiles, id: string): string[] {
  const path = index.definitionsOf(`task/${id}`)[0]?.path;
  const task = path === undefined ? undefined : index.facts(path)?.tasks?.find(each => each.id === id);
  const parent = task?.parent ?? task?.nested;
  const whole = parent === undefined ? undefined : index.definitionsOf(`task/${parent}`)[0]?.path;
  return whole === undefined ? [] : [whole];
}
