import {hasErrors} from '../common/diagnostic.ts';
import {fieldOf, type Task} from '../task/task.ts';
import {type TaskChange, updateTasks} from '../task/task-edit.ts';
import {matchTasks} from '../task/task-match.ts';
import {parseTasks} from '../task/task-parse.ts';

/** What a change did to tasks, as far as it is taken back. */
export interface TasksUndo {
  /** The file after the change, without it. */
  text: string;
  /** Tasks that are set back to before they were begun, as they are after the change. */
  setBack: readonly Task[];
  /** Tasks that had come to an end, and have not any more. */
  reopened: readonly Task[];
  /** Tasks that go. */
  removed: readonly Task[];
  stays: readonly string[];
}

const FILLED_IN = 'the daemon would fill in the same fields again';

/** When it came to be so, by its state: filled in where it is missing. */
const TIMES = new Map([
  ['in_progress', 'started'],
  ['completed', 'completed'],
]);

/** That something was delivered, told or filled in: what was done is not done again for want of a mark. */
const MARKS = new Map([
  ['id', FILLED_IN],
  ['created', FILLED_IN],
  ['created_by', FILLED_IN],
  ['assigned', 'that it was delivered stays: it is in the session of its assignee'],
  ['session', 'that it was delivered stays: it is in the session of its assignee'],
  ['attempt', 'the count of tries stays'],
  ['notified', 'that its creator was told stays'],
  ['parts_done', 'that its owner was told stays'],
  ['mentioned', 'that those its notes name were told stays'],
  ['taint', 'that text from outside led to it is kept, for good'],
  ['chain', 'which messages between agents led to it stays'],
  ['approval', 'the request to start it stays: decide about it instead'],
]);

/** Undefined if one of the texts has errors: then only its lines can be taken back. Throws where an edit is refused. */
export function undoInTasks(before: string, after: string): TasksUndo | undefined {
  const [was, is] = [parseTasks(before), parseTasks(after)];
  if (hasErrors(was.problems) || hasErrors(is.problems)) return undefined;
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
      // It ends where a person ticked the box.
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
      // By these the daemon sees that it was set back, and removes them.
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
