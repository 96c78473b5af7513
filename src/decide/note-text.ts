import type {Note} from '../formats/task/task.ts';

const MOST = 5;

/** The last notes of a task, as agents are told of them. */
export function notesText(notes: readonly Note[]): string {
  return notes
    .slice(-MOST)
    .map(({who, text}) => `- ${who === undefined ? '' : `@${who}: `}${text}`)
    .join('\n');
}
