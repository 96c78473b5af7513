import {exit, UserError} from '../../formats/common/errors.ts';
import type {TaskState} from '../../formats/task/task.ts';
import {personalNote, stateEdit} from '../actions/tasks/change-state.ts';
import {editTasks} from '../actions/tasks/edit-tasks.ts';
import {findTasks} from '../actions/tasks/find-tasks.ts';
import {colors} from '../terminal/output.ts';
import {givenTexts} from './given-text.ts';
import {changedTaskLine, printTaskReport} from './task-report.ts';

export interface StateFlags {
  note?: string;
  /** Same as `note`, for `block`. */
  why?: string;
  result?: string;
}

const words: Record<TaskState, string> = {
  pending: 'set back',
  in_progress: colors.cyan('started'),
  completed: colors.green('completed'),
  blocked: colors.red('blocked'),
  skipped: colors.dim('skipped'),
};

export async function taskStateCommand(
  home: string,
  state: TaskState,
  wanted: readonly string[],
  flags: StateFlags,
  json: boolean,
): Promise<number> {
  const found = await findTasks(home, wanted);
  const {texts, replaced} = givenTexts(home, {note: reasonOf(state, flags), result: flags.result});
  const note = texts.note === undefined ? undefined : personalNote(texts.note);
  const before = new Map(found.map(({id, task}) => [id, task.state]));
  const written = await editTasks(home, found, task => stateEdit(task, {state, note, result: texts.result}));
  return printTaskReport({
    home,
    json,
    ids: found.map(({id}) => id),
    written,
    replaced,
    line: row =>
      changedTaskLine(before.get(row.id ?? '') === state ? `was ${words[state]} already:` : words[state], row),
  });
}

function reasonOf(state: TaskState, {note, why}: StateFlags): string | undefined {
  if (note !== undefined && why !== undefined)
    throw new UserError('--why and --note mean the same here: use one', exit.usage);
  if (state === 'blocked' && note === undefined && why === undefined)
    throw new UserError('why is it blocked?', exit.usage, 'agentdir task block ID --why TEXT');
  return why ?? note;
}
