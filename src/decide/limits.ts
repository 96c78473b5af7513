import type {ApprovalState} from '../formats/approval/approval-state.ts';
import {isId} from '../formats/common/values.ts';
import type {SpendLimits, Spent, Work} from '../formats/session/spent.ts';

/** Of one piece of work of a session, of an agent in a day, of all agents in a day, or of messages that led to one another. */
type LimitScope = 'work' | 'agent' | 'home' | 'chain';

/** So many messages between agents may lead to one another before a person is asked, unless the settings say otherwise. */
const MOST_HOPS = 40;

/** All that decides whether a session may ask its model once more. */
export interface LimitInput {
  session: string;
  agent: string;
  /** Today, in UTC. */
  day: string;
  work: Work;
  /** Of the agent's template: turns for a piece of work, tokens and cost for a day. */
  own: SpendLimits | undefined;
  /** Of the settings: what all agents together may use in a day. */
  home: SpendLimits | undefined;
  spent: {agent: Spent; all: Spent};
  /** What became of a request for more; undefined if there is none of that id. */
  stateOf: (id: string) => ApprovalState | undefined;
}

/** A limit that is reached, and the request to go on beyond it. */
export interface ReachedLimit {
  /** Of the request: the same whoever meets the limit and how often, until the request is decided. */
  id: string;
  scope: LimitScope;
  what: keyof SpendLimits;
  /** As it is set. */
  limit: number;
  /** With what was granted so far. */
  allowed: number;
  used: number;
  session: string;
  agent: string;
  day: string;
}

/** The first limit that is reached. */
export function firstReachedLimit(input: LimitInput): ReachedLimit | undefined {
  return allReachedLimits(input).next().value;
}

/** Every limit that is reached: those of the session first. */
export function* allReachedLimits(input: LimitInput): Generator<ReachedLimit, undefined> {
  const {own, home, work, spent, day, agent, session} = input;
  const found = (scope: LimitScope, what: keyof SpendLimits, used: number, prefix: () => string) => {
    const limit = scope === 'chain' ? (home?.hops ?? MOST_HOPS) : (scope === 'home' ? home : own)?.[what];
    // What was granted matters only beyond the limit itself.
    if (limit === undefined || used < limit) return [];
    const {approved, next} = granted(`${prefix()}-${what}`, input.stateOf);
    const allowed = allowedBy(limit, approved);
    return used < allowed ? [] : [{id: next, scope, what, limit, allowed, used, session, agent, day}];
  };
  const ofAgent = () => `budget-${part(agent)}-${day}`;
  const ofHome = () => `budget-${day}`;
  yield* found('work', 'turns', work.turns, () => `budget-${part(session)}-${stamp(work.since)}`);
  const {chain} = work;
  if (chain) yield* found('chain', 'hops', chain.hops - 1, () => `budget-${part(chain.chain)}`);
  yield* found('agent', 'tokens', tokens(spent.agent), ofAgent);
  yield* found('agent', 'cost_usd', spent.agent.cost_usd, ofAgent);
  yield* found('home', 'turns', spent.all.turns, ofHome);
  yield* found('home', 'tokens', tokens(spent.all), ofHome);
  yield* found('home', 'cost_usd', spent.all.cost_usd, ofHome);
  return undefined;
}

/** Each approval grants the limit once more. More of nothing would still be nothing, so there it lifts the limit. */
function allowedBy(limit: number, approved: number): number {
  if (limit === 0) return approved > 0 ? Number.POSITIVE_INFINITY : 0;
  return limit * (1 + approved);
}

/** How many requests were approved, and the id of the first that is not decided. */
function granted(prefix: string, stateOf: LimitInput['stateOf']): {approved: number; next: string} {
  let approved = 0;
  for (let n = 1; ; n++) {
    const state = stateOf(`${prefix}-${n}`);
    if (state === undefined || state === 'pending') return {approved, next: `${prefix}-${n}`};
    if (state === 'approved') approved++;
  }
}

function tokens({input_tokens, output_tokens}: Spent): number {
  return input_tokens + output_tokens;
}

/** 2026-11-16T10:05:23.000Z → 20261116T100523000Z: without dashes, so that what stands before it ends where it ends. */
function stamp(since: string): string {
  const time = since.replace(/[-:.\s]/g, '');
  return /^[0-9A-Za-z]+$/.test(time) ? time : hash(since);
}

const MAX_ID = 64;

/** A name as part of an id. What has to be changed for that stays different from others by its hash. */
function part(name: string): string {
  if (isId(name) && name.length <= MAX_ID) return name;
  return `${name.slice(0, MAX_ID).replace(/[^A-Za-z0-9._-]/g, '_')}.${hash(name)}`;
}

/** FNV-1a, twice. */
function hash(text: string): string {
  const half = (seed: number) => {
    let value = seed;
    for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
    return (value >>> 0).toString(16).padStart(8, '0');
  };
  return half(0x811c9dc5) + half(0x1b873593);
}
