import {fieldOf, type Task} from '../task/task.ts';
import type {Message} from './session-schema.ts';

/** How many messages and tasks between agents led here, without a person in between, and which was the first. */
export interface Chain {
  chain: string;
  hops: number;
}

/** What a message says that is sent now: one more than what the session is answering. `first`: if nothing led to it. */
export function chainOf(messages: readonly Message[], first: string): Chain {
  const {chain = first, hops = 0} = longestChain(messages) ?? {};
  return {chain, hops: hops + 1};
}

/** Of what the session answers just now: what came since its last word to anybody. A person's message ends every chain. */
export function longestChain(messages: readonly Message[]): Chain | undefined {
  let longest: Chain | undefined;
  let heard = false;
  for (let i = messages.length - 1; i >= 0; i--) {
    const {role, from, chain, hops, tool_calls, delivery} = messages[i] as Message;
    // The answer before: what led to that is over.
    if (heard && role === 'assistant' && !tool_calls?.length) break;
    if (role !== 'user' || (from === 'system' && !delivery?.startsWith('schedule/'))) continue;
    heard = true;
    if (chain === undefined || hops === undefined) return undefined;
    if (!longest || hops > longest.hops) longest = {chain, hops};
  }
  return longest;
}

/** What led to a task, as its file says: `chain: 3 boss-1#c0`. One that an agent made, and that says nothing, is the first. */
export function chainOfTask(task: Task): Chain | undefined {
  const said = chainIn(fieldOf(task, 'chain'));
  const by = fieldOf(task, 'created_by')?.replace(/^@/, '') ?? 'human';
  return said ?? (by === 'human' ? undefined : {chain: `task/${fieldOf(task, 'id') ?? ''}`, hops: 1});
}

/** As the field has it. */
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
