import type {Message} from '../formats/session/session-schema.ts';
import {fieldOf, type Task} from '../formats/task/task.ts';
import {assignmentIn, type DeliveredTask, quoted} from './task-words.ts';

export function idOfDelivery(delivery: string): string | undefined {
  return /^task\/(.+)#\d+$/.exec(delivery)?.[1];
}

/** A task as it was brought: its title in quotes, and when. */
interface Former {
  id: string;
  title: string;
  at: string | undefined;
}

/**
 * What a task was called when it was brought to this session, if a person gave it another id since: no task has that one any
 * more, and its title is the same, or else it was brought when the task says that it was assigned.
 */
export function formerTaskId(
  task: Task,
  messages: readonly Message[],
  isGone: (id: string) => boolean,
): Former | undefined {
  const gone = [...broughtIn(messages).values()].filter(({id}) => isGone(id));
  const only = (found: Former[]) => (found.length === 1 ? found[0] : undefined);
  return (
    only(gone.filter(({title}) => title === quoted(task.title))) ??
    only(gone.filter(({at}) => at === fieldOf(task, 'assigned')))
  );
}

function broughtIn(messages: readonly Message[]): Map<string, Former> {
  const all = new Map<string, Former>();
  for (const {delivery, content, timestamp} of messages) {
    const id = idOfDelivery(delivery ?? '');
    const said: DeliveredTask | undefined = id === undefined ? undefined : assignmentIn(content ?? '');
    if (id === undefined || !said) continue;
    const before = said.before === undefined ? undefined : all.get(said.before);
    if (before) all.delete(before.id);
    all.set(id, {id, title: said.title, at: before ? before.at : timestamp});
  }
  return all;
}
