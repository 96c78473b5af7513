import {type Chain, longestChain} from './chain.ts';
import type {Message} from './session-schema.ts';
import {SettledPrefix} from './settled-prefix.ts';

/** Where the daemon writes down what the day has cost so far. */
export const SPEND_FILE = 'state/spend.yaml';

/** What model calls came to. */
export interface Spent {
  turns: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
}

/** The same, of one day (UTC). */
export interface DaySpent extends Spent {
  day: string;
}

/** What one model call came to, as far as its server said. */
export type Usage = {[K in Exclude<keyof Spent, 'turns'>]?: number | undefined};

/** How much may be used before a person is asked. */
export interface SpendLimits {
  turns?: number;
  tokens?: number;
  cost_usd?: number;
  /** Messages between agents that lead to one another without a person. */
  hops?: number;
}

export const NOTHING_SPENT: Readonly<Spent> = {turns: 0, input_tokens: 0, output_tokens: 0, cost_usd: 0};

export function addSpent(a: Spent, b: Spent): Spent {
  return {
    turns: a.turns + b.turns,
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cost_usd: money(a.cost_usd + b.cost_usd),
  };
}

/** Of each the larger: neither of two accounts of the same day may be forgotten. */
export function largerSpent(a: Spent, b: Spent): Spent {
  return {
    turns: Math.max(a.turns, b.turns),
    input_tokens: Math.max(a.input_tokens, b.input_tokens),
    output_tokens: Math.max(a.output_tokens, b.output_tokens),
    cost_usd: Math.max(a.cost_usd, b.cost_usd),
  };
}

/** One model call. */
export function oneTurn({input_tokens = 0, output_tokens = 0, cost_usd = 0}: Usage = {}): Spent {
  return {turns: 1, input_tokens, output_tokens, cost_usd};
}

/** A billionth of a dollar is enough, and sums stay readable. */
function money(usd: number): number {
  return Math.round(usd * 1e9) / 1e9;
}

/** The day (UTC) of a time as it stands in a file; a time without a zone is UTC. */
export function dayOf(time: string): string {
  if (time.length === 10 || time.endsWith('Z')) return time.slice(0, 10);
  const iso = time.replace(' ', 'T');
  const at = Date.parse(/[+-]\d\d:?\d\d$/.test(iso.slice(10)) ? iso : `${iso}Z`);
  return Number.isNaN(at) ? time.slice(0, 10) : new Date(at).toISOString().slice(0, 10);
}

/** What the newest day among messages came to. */
type Newest = DaySpent & {since: string};

/** Of the messages of a long conversation that do not change any more. Conversations that were forked are summed up each time. */
const settled = new SettledPrefix<Newest>(() => nothingSince(''), spend);

function nothingSince(since: string): Newest {
  return {since, day: '', turns: 0, input_tokens: 0, output_tokens: 0, cost_usd: 0};
}

function spend(sum: Newest, {role, timestamp, usage}: Message): void {
  if (role !== 'assistant' || timestamp === undefined || timestamp < sum.since) return;
  const day = dayOf(timestamp);
  if (day < sum.day) return;
  if (day > sum.day) Object.assign(sum, nothingSince(sum.since), {day});
  sum.turns++;
  sum.input_tokens += usage?.input_tokens ?? 0;
  sum.output_tokens += usage?.output_tokens ?? 0;
  sum.cost_usd += usage?.cost_usd ?? 0;
}

/**
 * What the newest day of a session came to; undefined if no model has answered in it. `since`: what is older was spent in
 * the session that it was forked from.
 */
export function spentIn(messages: readonly Message[], since = ''): DaySpent | undefined {
  const {state, count} = since === '' ? settled.of(messages) : {state: nothingSince(since), count: 0};
  const sum = {...state};
  for (let i = count; i < messages.length; i++) spend(sum, messages[i] as Message);
  const {since: _, ...spent} = sum;
  return spent.turns === 0 ? undefined : {...spent, cost_usd: money(spent.cost_usd)};
}

/** A piece of work: what an agent does about a message, until the next one comes. */
export interface Work {
  /** The time of that message, or its place if it has none. */
  since: string;
  turns: number;
  /** The messages between agents that led to it, if they did. */
  chain?: Chain;
}

/** Whether a message is work: what the daemon itself says is none, but for what a person has it say at fixed times. */
export function isWork({role, from, delivery}: Message): boolean {
  return role === 'user' && (from !== 'system' || delivery?.startsWith('schedule/') === true);
}

/** What the session works on. Costs what was done about it, not the whole session. */
export function workIn(messages: readonly Message[]): Work {
  let turns = 0;
  for (let index = messages.length - 1; index >= 0; index--) {
    const {role, timestamp} = messages[index] as Message;
    if (role === 'assistant') turns++;
    else if (isWork(messages[index] as Message)) {
      const chain = longestChain(messages);
      return {since: timestamp ?? `message ${index + 1}`, turns, ...(chain && {chain})};
    }
  }
  return {since: 'start', turns};
}
