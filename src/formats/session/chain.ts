import {fieldOf, type Task} from '../task/task.ts';
import type {Message} from './session-schema.ts';

/** Number of messages and tasks between agents that led here without a person, and the first of them. */
export interface Chain {
  chain: string;
  hops: number;
}

/** Chain of a message sent now: one more than the session's own. `first`: its start, if nothing led to it. */
export function chainOf(messages: readonly Message[], first: string): Chain {
  const {chain = first, hops = 0} = longestChain(messages) ?? {};
  return {chain, hops: hops + 1};
}

/** Longest chain of what the session answers now, since its last answer. A person's message ends a chain. */
export function longestChain(messages: readonly Message[]): Chain | undefined {
  let longest: Chain | undefined;
  let heard = false;
  for (let i = messages.length - 1; i >= 0; i--) {
    const {role, from, chain, hops, tool_calls, delivery} = messages[i] as Message;
    // The previous answer: what led to it is over.
    if (heard && role === 'assistant' && !tool_calls?.length) break;
    if (role !== 'user' || (from === 'system' && !delivery?.startsWith('schedule/'))) continue;
    heard = true;
    if (chain === undefined || hops === undefined) return undefined;
    if (!longest || hops > longest.hops) longest = {chain, hops};
  }
  return longest;
}

/** Chain of a task, from its field `chain: 3 boss-1#c0`. A task by an agent without the field starts a chain. */
export function chainOfTask(task: Task): Chain | undefined {
  const said = chainIn(fieldOf(task, 'chain'));
  const by = fieldOf(task, 'created_by')?.replace(/^@/, '') ?? 'human';
  return said ?? (by === 'human' ? undefined : {chain: `task/${fieldOf(task, 'id') ?? ''}`, hops: 1});
}

export function chainIn(text: string | undefined): Chain | undefined {
  const [, hops, chain] = /^([1-9]\d{0,5}) (\S+)$/.exec(text ?? '') ?? [];
  return hops === undefined || chain === undefined ? undefined : {chain, hops: Number(hops)};
}

export function chainText({chain, hops}: Chain): string {
  return `${hops} ${chain.replace(/\s/g, '_')}`;
}

export function longerChain(a: Chain | undefined, b: Chain | undefined): Chain | undefined {
  return a && b && a.hops >= b.hops ? a : (b ?? a);
}
