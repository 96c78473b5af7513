import type {Note} from '../formats/task/task.ts';

const MAX_NOTES = 5;

/** The last notes of a task, as text for agents. */
export function notesText(notes: readonly Note[]): string {
  return notes
    .slice(-MAX_NOTES)
    .map(({who, text}) => `- ${who === undefined ? '' : `@${who}: `}${text}`)
    .join('\n');
}
