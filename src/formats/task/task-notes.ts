import {makeVisible} from '../common/visible.ts';
import type {Task} from './task.ts';
import type {NewNote} from './task-text.ts';

/** Whether this very note is there, wherever it stands among the others. */
export function hasNote({notes}: Task, {time, who, text}: NewNote): boolean {
  const words = wordsOf(makeVisible(text, false));
  return notes.some(note => note.time === time && note.who === who && wordsOf(note.text) === words);
}

/** However its lines are indented and broken. */
function wordsOf(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
