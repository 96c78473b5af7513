import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {With} from '../state/parts.ts';

/** After changes of tasks or agents: look again at the files with tasks that depend on them. */
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

/** Look at inboxes and rejected lines that wait for this agent. */
function wakeInboxes({files, inboxes}: With<'files' | 'inboxes'>, agent: string): void {
  for (const path of inboxes.waiting()) lookAgain(files, path);
  for (const path of files.index.pathsOf('rejected'))
    if (files.index.facts(path)?.refers?.some(({name}) => name === agent)) lookAgain(files, path);
}

/** The file of the task's parent. */
function parentFile({index}: HomeFiles, id: string): string[] {
  const path = index.definitionsOf(`task/${id}`)[0]?.path;
  const task = path === undefined ? undefined : index.facts(path)?.tasks?.find(each => each.id === id);
  const parent = task?.parent ?? task?.nested;
  const parentPath = parent === undefined ? undefined : index.definitionsOf(`task/${parent}`)[0]?.path;
  return parentPath === undefined ? [] : [parentPath];
}
