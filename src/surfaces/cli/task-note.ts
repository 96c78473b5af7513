import {personalNote} from '../actions/tasks/change-state.ts';
import {editTasks} from '../actions/tasks/edit-tasks.ts';
import {findTasks} from '../actions/tasks/find-tasks.ts';
import {givenTexts} from './given-text.ts';
import {tellTasks, toldLine} from './task-told.ts';

/** A note below the others. */
export async function addNote(home: string, id: string, words: readonly string[], json: boolean): Promise<number> {
  const found = await findTasks(home, [id]);
  const {texts, replaced} = givenTexts(home, {note: words.join(' ')});
  const note = personalNote(texts.note ?? '');
  const written = await editTasks(home, found, () => ({note}));
  return tellTasks({
    home,
    json,
    ids: found.map(one => one.id),
    written,
    replaced,
    line: row => toldLine('noted', row),
    quiet: true,
  });
}
