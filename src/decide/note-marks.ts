import {createHash} from 'node:crypto';
import type {Note, Task} from '../formats/task/task.ts';

/** A note and an agent that it mentions. */
export interface NoteMention {
  note: Note;
  to: string;
  /** Identifies the mention, even if the note is moved or edited. */
  mark: string;
}

/**
 * Mentions in the notes of a task. Merges can move notes, so a note is identified by its author and time, then by order;
 * a note without author or time is identified by its text.
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
