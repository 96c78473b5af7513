import {fieldOf, type Task} from '../../../formats/task/task.ts';

/** A daemon that runs has read what was saved by then, and from then on merges whatever is saved from older texts. */
const MOMENT_MS = 100;
const TRIES = 5;

/**
 * Somebody who read a file before an edit and saves it right after takes the edit away, and nobody else has seen it yet: so
 * it is looked at once more, and made again if it is gone.
 */
export async function repeatUntilKept(isKept: () => boolean, again: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    await new Promise(resolve => setTimeout(resolve, MOMENT_MS));
    if (isKept()) return;
    await again();
  }
}

/** All of a task that others go on with: as long as that is as it was before an edit, the edit is not there. */
export function taskFingerprint(task: Task): string {
  const fields = ['assigned', 'started', 'completed', 'result', 'assign'].map(key => fieldOf(task, key) ?? null);
  return JSON.stringify([task.state, task.names, fields]);
}
