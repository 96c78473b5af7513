import {fieldOf, type Task} from '../../../formats/task/task.ts';

/** By then a running daemon has read the save and merges stale saves. */
const MOMENT_MS = 100;
const TRIES = 5;

/** Checks the edit again after a moment and repeats it if a stale save of an editor has overwritten it. */
export async function repeatUntilKept(isKept: () => boolean, again: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    await new Promise(resolve => setTimeout(resolve, MOMENT_MS));
    if (isKept()) return;
    await again();
  }
}

/** The fields that show whether the edit is still there. */
export function taskFingerprint(task: Task): string {
  const fields = ['assigned', 'started', 'completed', 'result', 'assign'].map(key => fieldOf(task, key) ?? null);
  return JSON.stringify([task.state, task.names, fields]);
}
