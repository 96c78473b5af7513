import type {Message} from '../formats/session/session-schema.ts';
import {fieldOf, type Task} from '../formats/task/task.ts';
import {isDelivered} from '../formats/task/task-approval.ts';
import {assignmentIn, type DeliveredTask, quoted} from './task-words.ts';

export function idOfDelivery(delivery: string): string | undefined {
  return /^task\/(.+)#\d+$/.exec(delivery)?.[1];
}

/** A task as delivered: id, quoted title and time. */
interface TaskDelivery {
  id: string;
  title: string;
  at: string | undefined;
}

/**
 * Find the delivery of a task that a person has given another id since. No task has the former id, and either the title
 * or the delivery time matches the task.
 */
export function formerTaskId(
  task: Task,
  messages: readonly Message[],
  isGone: (id: string) => boolean,
): TaskDelivery | undefined {
  const gone = [...deliveriesIn(messages).values()].filter(({id}) => isGone(id));
  const only = (found: TaskDelivery[]) => (found.length === 1 ? found[0] : undefined);
  // A title may be of a task that another system delivered.
  const byTitle = isDelivered(task) ? gone.filter(({title}) => title === quoted(task.title)) : [];
  return only(byTitle) ?? only(gone.filter(({at}) => at === fieldOf(task, 'assigned')));
}

function deliveriesIn(messages: readonly Message[]): Map<string, TaskDelivery> {
  const all = new Map<string, TaskDelivery>();
  for (const {delivery, content, timestamp} of messages) {
    const id = idOfDelivery(delivery ?? '');
    const described: DeliveredTask | undefined = id === undefined ? undefined : assignmentIn(content ?? '');
    if (id === undefined || !described) continue;
    const before = described.before === undefined ? undefined : all.get(described.before);
    if (before) all.delete(before.id);
    all.set(id, {id, title: described.title, at: before ? before.at : timestamp});
  }
  return all;
}
