import {blocks} from '../common/diagnostic.ts';
import {fieldOf, type Task} from '../task/task.ts';
import {type TaskChange, updateTasks} from '../task/task-edit.ts';
import {matchTasks} from '../task/task-match.ts';
import {parseTasks} from '../task/task-parse.ts';

export interface TasksUndo {
  /** The file after the change, without it. */
  text: string;
  /** Tasks reset to pending, in their state after the change. */
  setBack: readonly Task[];
  /** Tasks that had ended and are open again. */
  reopened: readonly Task[];
  removed: readonly Task[];
  stays: readonly string[];
}

const FILLED_IN = 'the daemon would fill in the same fields again';

/** Field with the time of a state; filled in if missing. */
const TIMES = new Map([
  ['in_progress', 'started'],
  ['completed', 'completed'],
]);

/** Marks that something was delivered, reported or filled in: without a mark it would be repeated. */
const MARKS = new Map([
  ['id', FILLED_IN],
  ['created', FILLED_IN],
  ['created_by', FILLED_IN],
  ['assigned', 'the task stays delivered: it is in the session of its assignee'],
  ['session', 'the task stays delivered: it is in the session of its assignee'],
  ['attempt', 'the number of attempts stays'],
  ['notified', 'its creator stays notified'],
  ['parts_done', 'its owner stays notified'],
  ['mentioned', 'agents that its notes mention stay notified'],
  ['informed', 'its agent stays informed'],
  ['withdrawn', 'its former agent stays informed'],
  ['taint', 'it stays marked as caused by text from outside'],
  ['chain', 'the messages that led to it stay recorded'],
  ['approval', 'the request to start it stays: decide that instead'],
]);

/** Undefined if a text has errors: then only lines can be undone. Throws if an edit is refused. */
export function undoInTasks(before: string, after: string): TasksUndo | undefined {
  const [was, is] = [parseTasks(before), parseTasks(after)];
  if (blocks(was.problems) || blocks(is.problems)) return undefined;
  const match = matchTasks(was, is);
  const stays = new Set<string>();
  const changes: [Task, TaskChange][] = [];
  const setBack: Task[] = [];
  const reopened: Task[] = [];
  for (const [i, old] of was.tasks.entries()) {
    const now = is.tasks[match.to[i] as number];
    if (!now) continue;
    const fields: Record<string, string | undefined> = {};
    const time = TIMES.get(now.state);
    if (time && old.state === now.state && fieldOf(old, time) === undefined && fieldOf(now, time) !== undefined) {
      fields[time] = fieldOf(now, time);
      // A chain ends where a person ticked the box.
      fields.chain = fieldOf(now, 'chain');
      stays.add(FILLED_IN);
    }
    for (const [key, words] of MARKS) {
      const value = fieldOf(now, key);
      if (value === undefined || value === fieldOf(old, key)) continue;
      fields[key] = value;
      stays.add(words);
    }
    if (old.state !== now.state && old.state === 'pending') {
      setBack.push(now);
      // From these the daemon sees that the task was reset, and removes them.
      for (const key of ['started', 'completed']) {
        const value = fieldOf(now, key);
        if (value !== undefined) fields[key] = value;
      }
    } else if (old.state !== now.state && now.state !== 'pending' && now.state !== 'in_progress') reopened.push(now);
    if (Object.keys(fields).length > 0) changes.push([old, {fields}]);
  }
  const removed = is.tasks.filter((_, j) => match.from[j] === -1);
  const text = changes.length === 0 ? before : updateTasks(was, changes);
  return {text, setBack, reopened, removed, stays: [...stays]};
}
