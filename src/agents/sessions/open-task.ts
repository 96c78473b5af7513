import type {TaskFact} from '../../check/task-facts.ts';
import type {HomeFiles} from '../../loop/home-files.ts';

/** The indexed task of a delivery key, if it is open and still at the same attempt. */
export function openTask({index}: HomeFiles, key: string): TaskFact | undefined {
  const [, id, attempt] = /^task\/(.+)#(\d+)$/.exec(key) ?? [];
  const path = index.definitionsOf(`task/${id}`)[0]?.path;
  const task = path === undefined ? undefined : index.facts(path)?.tasks?.find(each => each.id === id);
  const same = task && (task.attempt ?? '1') === attempt;
  return same && (task.state === 'pending' || task.state === 'in_progress') ? task : undefined;
}
