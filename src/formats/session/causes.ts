import {causeName} from './chain.ts';
import type {Message} from './session-schema.ts';
import {SettledPrefix} from './settled-prefix.ts';

/** How much in one file follows from one cause: sessions that begin with it, its tasks, and messages between agents. */
export interface Caused {
  sessions: number;
  tasks: number;
  messages: number;
}

/** Counts of sessions, tasks and messages by cause; `causeName` names a cause. */
export type CausedBy = Record<string, Caused>;

/** Causes that the facts of a file name. Of a file with more, the newest: older causes have long ended. */
const MOST_CAUSES = 100;

export const NOTHING_CAUSED: Readonly<Caused> = {sessions: 0, tasks: 0, messages: 0};

/** Messages of settled parts of long conversations, by cause. */
const settled = new SettledPrefix<Map<string, number>>(() => new Map(), count);

function count(counts: Map<string, number>, {role, chain}: Message): void {
  if (role !== 'user' || chain === undefined) return;
  const name = causeName(chain);
  const before = counts.get(name) ?? 0;
  // The newest last.
  counts.delete(name);
  counts.set(name, before + 1);
}

/** Count the session and its messages by cause. `begins`: the file holds the first messages of the session. */
export function causedInSession(messages: readonly Message[], begins: boolean): CausedBy | undefined {
  const {state, count: from} = settled.of(messages);
  const counts = new Map(state);
  for (let i = from; i < messages.length; i++) count(counts, messages[i] as Message);
  const first = begins ? messages[0]?.chain : undefined;
  const firstName = first === undefined ? undefined : causeName(first);
  const found: CausedBy = {};
  for (const [name, number] of [...counts].slice(-MOST_CAUSES))
    found[name] = {sessions: name === firstName ? 1 : 0, tasks: 0, messages: number};
  return counts.size > 0 ? found : undefined;
}

/** Count the tasks of a file by cause. `chains`: the causes of its tasks. */
export function causedInTasks(chains: Iterable<string>): CausedBy | undefined {
  const found: CausedBy = {};
  for (const chain of chains) {
    const name = causeName(chain);
    found[name] = {sessions: 0, tasks: (found[name]?.tasks ?? 0) + 1, messages: 0};
  }
  return Object.keys(found).length > 0 ? found : undefined;
}
