import {fieldOf, type Task} from '../task/task.ts';
import type {Message} from './session-schema.ts';

/** The cause of a message or task between agents, and how many of them led to it one after the other, itself included. */
export interface Chain {
  /** The cause: what an agent was working on when it sent the first message or created the first task. See `causeFrom`. */
  chain: string;
  hops: number;
}

/** Chain of a message sent now, or of a task created now, by this session. */
export function chainOf(messages: readonly Message[], session: string): Chain {
  const {chain, hops = 0} = longestChain(messages) ?? {};
  return {chain: chain ?? causeFrom(session, workSince(messages).since), hops: hops + 1};
}

/**
 * The name of a piece of work as a cause: `planner-001-abc#2026-11-16T10:05:23.000Z`. Everything that agents send and create
 * because of it, directly or not, carries this name.
 */
export function causeFrom(session: string, since: string): string {
  return causeName(`${session}#${since}`);
}

/** A cause as it is written in task files, without spaces. */
export function causeName(chain: string): string {
  return chain.replace(/\s/g, '_');
}

/** Whether a message is work: messages of the daemon are not, except schedules. */
export function isWork({role, from, delivery}: Message): boolean {
  return role === 'user' && (from !== 'system' || delivery?.startsWith('schedule/') === true);
}

/** The message that a session works on now: its time, or its position without one, and the answers since. */
export function workSince(messages: readonly Message[]): {since: string; turns: number} {
  let turns = 0;
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index] as Message;
    if (message.role === 'assistant') turns++;
    else if (isWork(message)) return {since: message.timestamp ?? `message ${index + 1}`, turns};
  }
  return {since: 'start', turns};
}

/** Longest chain of what the session answers now, since its last answer. A person's message ends a chain. */
export function longestChain(messages: readonly Message[]): Chain | undefined {
  let longest: Chain | undefined;
  let heard = false;
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i] as Message;
    const {role, chain, hops, tool_calls} = message;
    // The previous answer: what led to it is over.
    if (heard && role === 'assistant' && !tool_calls?.length) break;
    if (!isWork(message)) continue;
    heard = true;
    if (chain === undefined || hops === undefined) return undefined;
    if (!longest || hops > longest.hops) longest = {chain, hops};
  }
  return longest;
}

/**
 * Chain of a task, from its field `chain: 3 boss-1#2026-11-16T10:05:23.000Z`. A task by an agent without the field starts a
 * chain.
 */
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
  return `${hops} ${causeName(chain)}`;
}

export function longerChain(a: Chain | undefined, b: Chain | undefined): Chain | undefined {
  return a && b && a.hops >= b.hops ? a : (b ?? a);
}
