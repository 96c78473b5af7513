import {createHash} from 'node:crypto';
import type {Note, Task} from '../formats/task/task.ts';

/** A note and one whom it names. */
export interface NoteMention {
  note: Note;
  to: string;
  /** The same wherever the note stands and whatever becomes of its words; others have others. */
  mark: string;
}

/**
 * Notes move when a person's text is merged with an agent's, so each is known by who wrote it when; those of the same
 * moment by their order, and those that do not say it by their words.
 */
export function noteMentions({notes}: Task, namesIn: (note: Note) => readonly string[]): NoteMention[] {
  const same = new Map<string, number>();
  return notes.flatMap(note => {
    const {time, who, text} = note;
    const own = time === undefined || who === undefined ? text.replace(/\s+/g, ' ').trim() : `${time} ${who}`;
    const nth = (same.get(own) ?? 0) + 1;
    same.set(own, nth);
    return namesIn(note).map(to => ({note, to, mark: markOf(JSON.stringify([own, nth, to]))}));
  });
}

function markOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 10);
}
