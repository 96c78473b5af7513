import {personalNote} from '../actions/tasks/change-state.ts';
import {editTasks} from '../actions/tasks/edit-tasks.ts';
import {findTasks} from '../actions/tasks/find-tasks.ts';
import {givenTexts} from './given-text.ts';
import {changedTaskLine, printTaskReport} from './task-report.ts';

export async function taskNoteCommand(
  home: string,
  id: string,
  words: readonly string[],
  json: boolean,
): Promise<number> {
  const found = await findTasks(home, [id]);
  const {texts, replaced} = givenTexts(home, {note: words.join(' ')});
  const note = personalNote(texts.note ?? '');
  const written = await editTasks(home, found, () => ({note}));
  return printTaskReport({
    home,
    json,
    ids: found.map(one => one.id),
    written,
    replaced,
    line: row => changedTaskLine('noted', row),
    quiet: true,
  });
}
