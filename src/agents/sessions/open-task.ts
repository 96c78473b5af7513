import type {TaskFact} from '../../check/task-facts.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {approvalStateOf} from './budget.ts';

/** The indexed task of a delivery key, if it is open, still at the same attempt, and may be worked on. */
export function openTask(files: HomeFiles, key: string): TaskFact | undefined {
  const {index} = files;
  const [, id, attempt] = /^task\/(.+)#(\d+)$/.exec(key) ?? [];
  const path = index.definitionsOf(`task/${id}`)[0]?.path;
  const task = path === undefined ? undefined : index.facts(path)?.tasks?.find(each => each.id === id);
  const same = task && (task.attempt ?? '1') === attempt;
  if (!same || (task.state !== 'pending' && task.state !== 'in_progress')) return undefined;
  return waitsForApproval(files, task) ? undefined : task;
}

/** Whether no person has approved the start of the task yet. */
function waitsForApproval(files: HomeFiles, {gated, approval}: TaskFact): boolean {
  return gated === true && (approval === undefined || approvalStateOf(files, approval) !== 'approved');
}
