import {fieldOf} from '../task/task.ts';
import {parseTasks} from '../task/task-parse.ts';
import {countEach, lastingKeyButBoxes, lastingKeysIn} from './merge-lasting.ts';

/**
 * Whether the person's text lacks nothing of `versions[0]` except boxes that a person had set last. These are the
 * person's to reset, even if the text then equals an earlier version. `byPerson`: who made each version.
 */
export function onlyResets(versions: readonly string[], byPerson: readonly boolean[], person: string): boolean {
  const [last = ''] = versions;
  const has = countEach(lastingKeysIn(person, lastingKeyButBoxes));
  for (const [key, count] of countEach(lastingKeysIn(last, lastingKeyButBoxes)))
    if ((has.get(key) ?? 0) < count) return false;
  const now = statesIn(person);
  const history = versions.map(statesIn);
  return [...(history[0] ?? [])].every(
    ([task, state]) => !now.has(task) || now.get(task) === state || setByPerson(history, byPerson, task),
  );
}

/**
 * Describe boxes that people set since the oldest of these versions. A save equal to that version may reset them on
 * purpose, or be an old buffer with nothing new.
 */
export function resetsIn(versions: readonly string[], byPerson: readonly boolean[]): string[] {
  const history = versions.map(statesIn);
  const then = history.at(-1);
  return [...(history[0] ?? [])].flatMap(([task, state]) => {
    const was = then?.get(task);
    if (was === undefined || was === state || !setByPerson(history, byPerson, task)) return [];
    return [
      `task ${task.startsWith('"') ? `${task}"` : task}: it was saved as ${was}, and had been set since; it stays ${state}`,
    ];
  });
}

/** Whether a person set the task's state in the newest version. */
function setByPerson(
  history: readonly ReadonlyMap<string, string>[],
  byPerson: readonly boolean[],
  task: string,
): boolean {
  const state = history[0]?.get(task);
  const before = history.findIndex(states => states.get(task) !== state);
  return before > 0 && byPerson[before - 1] === true;
}

/** Task states by id, or by title without one. */
function statesIn(text: string): Map<string, string> {
  return new Map(parseTasks(text).tasks.map(task => [fieldOf(task, 'id') ?? `"${task.title}`, task.state]));
}
