import type {ApprovalState} from '../formats/approval/approval-state.ts';
import {isId} from '../formats/common/values.ts';
import type {SpendLimits, Spent, Work} from '../formats/session/spent.ts';

/** One piece of work in a session, one agent per day, all agents per day, or one chain of messages. */
type LimitScope = 'work' | 'agent' | 'home' | 'chain';

/** Default limit for a chain of messages between agents. */
const MOST_HOPS = 40;

/** Everything that decides whether a session may ask its model again. */
export interface LimitInput {
  session: string;
  agent: string;
  /** Today, in UTC. */
  day: string;
  work: Work;
  /** Limits in the agent's template: turns per piece of work, tokens and cost per day. */
  own: SpendLimits | undefined;
  /** Limits in the settings: usage of all agents per day. */
  home: SpendLimits | undefined;
  spent: {agent: Spent; all: Spent};
  /** The state of a request to raise a limit; undefined if there is none. */
  stateOf: (id: string) => ApprovalState | undefined;
}

/** A limit that is reached, and the request to raise it. */
export interface ReachedLimit {
  /** Id of the request. All sessions at the limit share it until it is decided. */
  id: string;
  scope: LimitScope;
  what: keyof SpendLimits;
  /** The configured limit. */
  limit: number;
  /** The limit including granted raises. */
  allowed: number;
  used: number;
  session: string;
  agent: string;
  day: string;
}

export function firstReachedLimit(input: LimitInput): ReachedLimit | undefined {
  return allReachedLimits(input).next().value;
}

/** All reached limits, those of the session first. */
export function* allReachedLimits(input: LimitInput): Generator<ReachedLimit, undefined> {
  const {own, home, work, spent, day, agent, session} = input;
  const found = (scope: LimitScope, what: keyof SpendLimits, used: number, prefix: () => string) => {
    const limit = scope === 'chain' ? (home?.hops ?? MOST_HOPS) : (scope === 'home' ? home : own)?.[what];
    // Look up granted raises only beyond the configured limit.
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

/** Each approval grants the limit once more. An approval of a limit of 0 removes the limit. */
function allowedBy(limit: number, approved: number): number {
  if (limit === 0) return approved > 0 ? Number.POSITIVE_INFINITY : 0;
  return limit * (1 + approved);
}

/** The number of approved requests, and the id of the first undecided one. */
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

/** 2026-11-16T10:05:23.000Z → 20261116T100523000Z: without dashes, so that the id stays unambiguous. */
function stamp(since: string): string {
  const time = since.replace(/[-:.\s]/g, '');
  return /^[0-9A-Za-z]+$/.test(time) ? time : hash(since);
}

const MAX_ID = 64;

/** A name as part of an id. A changed name gets a hash, to stay unique. */
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
