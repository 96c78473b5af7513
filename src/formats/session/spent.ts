import {type Chain, longestChain, workSince} from './chain.ts';
import type {Message} from './session-schema.ts';
import {SettledPrefix} from './settled-prefix.ts';

/** Where the daemon records the cost of the day. */
export const SPEND_FILE = 'state/spend.yaml';

export interface Spent {
  turns: number;
  input_tokens: number;
  output_tokens: number;
  /** Of the tokens whose price is known. */
  cost_usd: number;
  /** Tokens of models without a price: what they cost is unknown. */
  unpriced_tokens: number;
}

export interface DaySpent extends Spent {
  day: string;
}

/** Usage of one model call, as far as reported. */
export type Usage = {[K in Exclude<keyof Spent, 'turns' | 'unpriced_tokens'>]?: number | undefined};

/** Limits beyond which a person is asked. */
export interface SpendLimits {
  turns?: number;
  tokens?: number;
  cost_usd?: number;
  /** Messages between agents that lead to one another without a person. */
  hops?: number;
  /** Requests that wait for a person at a time. */
  requests?: number;
  /** Turns for one piece of work, where the template says nothing. */
  turns_per_work?: number;
  /** Limits on sessions, tasks and messages that follow from one cause. */
  sessions?: number;
  tasks?: number;
  messages?: number;
}

export const NOTHING_SPENT: Readonly<Spent> = {
  turns: 0,
  input_tokens: 0,
  output_tokens: 0,
  cost_usd: 0,
  unpriced_tokens: 0,
};

export function addSpent(a: Spent, b: Spent): Spent {
  return {
    turns: a.turns + b.turns,
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cost_usd: money(a.cost_usd + b.cost_usd),
    unpriced_tokens: a.unpriced_tokens + b.unpriced_tokens,
  };
}

/** Maximum of each: neither of two accounts of a day may be lost. */
export function largerSpent(a: Spent, b: Spent): Spent {
  return {
    turns: Math.max(a.turns, b.turns),
    input_tokens: Math.max(a.input_tokens, b.input_tokens),
    output_tokens: Math.max(a.output_tokens, b.output_tokens),
    cost_usd: Math.max(a.cost_usd, b.cost_usd),
    unpriced_tokens: Math.max(a.unpriced_tokens, b.unpriced_tokens),
  };
}

export function oneTurn(usage: Usage = {}): Spent {
  const {input_tokens = 0, output_tokens = 0, cost_usd = 0} = usage;
  return {turns: 1, input_tokens, output_tokens, cost_usd, unpriced_tokens: unpricedTokens(usage)};
}

function unpricedTokens({input_tokens = 0, output_tokens = 0, cost_usd}: Usage): number {
  return cost_usd === undefined ? input_tokens + output_tokens : 0;
}

/** `$1.20`, or that the cost is unknown. Empty if no tokens were used, as by the playbook. */
export function costWords({input_tokens, output_tokens, cost_usd, unpriced_tokens}: Omit<Spent, 'turns'>): string {
  if (input_tokens + output_tokens === 0) return '';
  const known = `$${cost_usd.toFixed(cost_usd > 0 && cost_usd < 0.01 ? 4 : 2)}`;
  if (unpriced_tokens === 0) return known;
  const unknown = `cost of ${grouped(unpriced_tokens)} tokens unknown`;
  return cost_usd > 0 ? `${known}, ${unknown}` : 'cost unknown';
}

/** Round to a billionth of a dollar, to keep sums readable. */
function money(usd: number): number {
  return Math.round(usd * 1e9) / 1e9;
}

/** Day (UTC) of a time in a file; a time without a zone is UTC. */
export function dayOf(time: string): string {
  if (time.length === 10 || time.endsWith('Z')) return time.slice(0, 10);
  const iso = time.replace(' ', 'T');
  const at = Date.parse(/[+-]\d\d:?\d\d$/.test(iso.slice(10)) ? iso : `${iso}Z`);
  return Number.isNaN(at) ? time.slice(0, 10) : new Date(at).toISOString().slice(0, 10);
}

/** Usage on the newest day among messages. */
type Newest = DaySpent & {since: string};

/** Usage of settled messages of long conversations. Forked conversations are summed up each time. */
const settled = new SettledPrefix<Newest>(() => nothingSince(''), spend);

function nothingSince(since: string): Newest {
  return {since, day: '', ...NOTHING_SPENT};
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
  sum.unpriced_tokens += unpricedTokens(usage ?? {});
}

/** Usage on a session's newest day, if any. `since`: older usage belongs to the session it was forked from. */
export function spentIn(messages: readonly Message[], since = ''): DaySpent | undefined {
  const {state, count} = since === '' ? settled.of(messages) : {state: nothingSince(since), count: 0};
  const sum = {...state};
  for (let i = count; i < messages.length; i++) spend(sum, messages[i] as Message);
  const {since: _, ...spent} = sum;
  return spent.turns === 0 ? undefined : {...spent, cost_usd: money(spent.cost_usd)};
}

/** A piece of work: what an agent does about a message until the next one arrives. */
export interface Work {
  /** Time of that message, or its position without one. */
  since: string;
  turns: number;
  /** Messages between agents that led to it, if any. */
  chain?: Chain;
}

/** Current work of the session. The cost depends on that work only, not on the whole session. */
export function workIn(messages: readonly Message[]): Work {
  const chain = longestChain(messages);
  return {...workSince(messages), ...(chain && {chain})};
}

/** Whether the agent still has to answer something. */
export function awaitsAnswer(messages: readonly Message[]): boolean {
  const last = messages.findLastIndex(({role}) => role === 'assistant');
  return messages.slice(last + 1).some(({role}) => role === 'user' || role === 'tool_result');
}

/** A whole number with commas: 1,234,567. `toLocaleString` loads the data of all languages first. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
