import {exit, UserError} from '../../formats/common/errors.ts';
import {fieldOf, type Task} from '../../formats/task/task.ts';
import {addressableNames} from '../actions/talk/addressable-names.ts';
import {undelivered} from '../actions/tasks/change-state.ts';
import {editTasks, type PersonTaskEdit} from '../actions/tasks/edit-tasks.ts';
import {findTasks} from '../actions/tasks/find-tasks.ts';
import {assigneeNamed, newAgentNamed} from '../actions/tasks/names.ts';
import {note} from '../terminal/output.ts';
import {changedTaskLine, printTaskReport} from './task-report.ts';

/** Replaces the assignees, or assigns a new agent. */
export async function taskAssignCommand(
  home: string,
  id: string,
  wanted: readonly string[],
  json: boolean,
): Promise<number> {
  const found = await findTasks(home, [id]);
  const known = addressableNames(home);
  const {names, made} = receivers(known, wanted);
  const written = await editTasks(home, found, task => assignment(task, names, made));
  const code = await printTaskReport({
    home,
    json,
    ids: found.map(one => one.id),
    written,
    replaced: [],
    line: row => changedTaskLine(`for ${made ?? names.map(name => `@${name}`).join(' ')}:`, row),
  });
  for (const {task, id: whole} of json ? [] : found) {
    const isHandedOn = fieldOf(task, 'session') !== undefined && (made !== undefined || known.hasAgent(names[0] ?? ''));
    if (task.state === 'in_progress' && isHandedOn)
      note(`the daemon delivers it to ${made ?? names[0]}, as another attempt`);
    else if (task.state === 'in_progress')
      note(`it is in progress; to deliver it again: agentdir task reopen ${whole}`);
    else if (task.state === 'blocked') note(`it is blocked; to deliver it: agentdir task reopen ${whole}`);
  }
  return code;
}

function receivers(
  known: ReturnType<typeof addressableNames>,
  wanted: readonly string[],
): {names: string[]; made: string | undefined} {
  const spawned = wanted.find(name => name.startsWith('new:'));
  if (spawned === undefined)
    return {names: [...new Set(wanted.map(name => assigneeNamed(name, known)))], made: undefined};
  if (wanted.length > 1)
    throw new UserError(`${spawned} and other assignees exclude each other`, exit.usage, 'use one of them');
  return {names: [], made: newAgentNamed(spawned, known)};
}

/** Clears the delivery, so that the new assignee gets the task. */
function assignment(task: Task, names: readonly string[], made: string | undefined): PersonTaskEdit {
  const before = fieldOf(task, 'assign');
  const same =
    before === made && names.length === task.names.length && names.every((name, i) => name === task.names[i]);
  const again = task.state === 'pending' && !same ? undelivered(task) : {};
  return {names, fields: before === made ? again : {...again, assign: made}};
}
