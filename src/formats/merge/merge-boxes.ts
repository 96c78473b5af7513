import {fieldOf} from '../task/task.ts';
import {parseTasks} from '../task/task-parse.ts';
import {countEach, lastingKeyButBoxes, lastingKeysIn} from './merge-lasting.ts';

/**
 * Whether nothing of `versions[0]` is gone from the person's text but boxes that a person had set last: those are theirs
 * to set again, though the text may then be one that was there before. `byPerson` tells who made each version.
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
 * Boxes that persons set since the oldest of these versions, in words: a save that is just like that one and has them as
 * they were may mean it, or may be an old buffer with nothing new in it.
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

/** Whether a person gave a task the state that it has in the newest of these versions. */
function setByPerson(
  history: readonly ReadonlyMap<string, string>[],
  byPerson: readonly boolean[],
  task: string,
): boolean {
  const state = history[0]?.get(task);
  const before = history.findIndex(states => states.get(task) !== state);
  return before > 0 && byPerson[before - 1] === true;
}

/** By id, or by title where there is none. */
function statesIn(text: string): Map<string, string> {
  return new Map(parseTasks(text).tasks.map(task => [fieldOf(task, 'id') ?? `"${task.title}`, task.state]));
}
