import type {ApprovalState} from '../formats/approval/approval-state.ts';
import {isId} from '../formats/common/values.ts';
import type {Caused} from '../formats/session/causes.ts';
import {causeFrom} from '../formats/session/chain.ts';
import type {SpendLimits, Spent, Work} from '../formats/session/spent.ts';

/** One piece of work in a session, one agent per day, all agents per day, one chain of messages, or one cause. */
type LimitScope = 'work' | 'agent' | 'home' | 'chain' | 'cause';

/** Default limit for a chain of messages between agents. */
const MOST_HOPS = 40;
/** Default limit for turns in one piece of work. */
const MOST_TURNS = 100;
/** Default limits for what follows from one cause. */
const MOST_CAUSED: Readonly<Caused> = {sessions: 100, tasks: 100, messages: 300};
/** Default limit for requests that wait for a person at a time. */
const MOST_REQUESTS = 200;

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
  /** Count the sessions, tasks and messages that follow from a cause. */
  caused: (cause: string) => Caused;
  /** For a session that wants to ask a person: the number of open requests, and whether the session waits already until there are fewer. */
  requests?: {open: number; waits: boolean};
  /** The state of a request to raise a limit; undefined if there is none. */
  stateOf: (id: string) => ApprovalState | undefined;
}

/** A limit that is reached, and the request to raise it. */
export interface ReachedLimit {
  /** Id of the request. All sessions at the limit share it until it is decided. */
  id: string;
  scope: LimitScope;
  what: keyof SpendLimits;
  /** The configured limit, and whether the agent's template has it. */
  limit: number;
  inTemplate: boolean;
  /** The limit including granted raises. */
  allowed: number;
  used: number;
  /** The cause that the limit is about, if its scope is `cause`. */
  cause?: string;
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
    const limit = limitOf(scope, what, own, home);
    // Look up granted raises only beyond the configured limit.
    if (limit === undefined || used < limit) return [];
    const {approved, next} = granted(`${prefix()}-${what}`, input.stateOf);
    const allowed = allowedBy(limit, approved);
    const inTemplate = scope === 'agent' || (scope === 'work' && own?.turns !== undefined);
    return used < allowed ? [] : [{id: next, scope, what, limit, inTemplate, allowed, used, session, agent, day}];
  };
  const ofAgent = () => `budget-${part(agent)}-${day}`;
  const ofHome = () => `budget-${day}`;
  yield* found('work', 'turns', work.turns, () => `budget-${part(session)}-${stamp(work.since)}`);
  const {chain} = work;
  if (chain) yield* found('chain', 'hops', chain.hops - 1, () => `budget-${part(chain.chain)}`);
  const cause = causeOfWork(session, work);
  const caused = input.caused(cause);
  // One more than the limit shows that more is wanted.
  for (const each of causedThings)
    for (const limit of found('cause', each, caused[each] - 1, () => `budget-${part(cause)}`)) yield {...limit, cause};
  yield* found('agent', 'tokens', tokens(spent.agent), ofAgent);
  yield* found('agent', 'cost_usd', spent.agent.cost_usd, ofAgent);
  yield* found('home', 'turns', spent.all.turns, ofHome);
  yield* found('home', 'tokens', tokens(spent.all), ofHome);
  yield* found('home', 'cost_usd', spent.all.cost_usd, ofHome);
  if (input.requests) yield* tooManyRequests(input, input.requests);
  return undefined;
}

const causedThings = ['sessions', 'tasks', 'messages'] as const;

/** The cause of a piece of work: what led to it, or the work itself. */
function causeOfWork(session: string, {chain, since}: Pick<Work, 'chain' | 'since'>): string {
  return chain?.chain ?? causeFrom(session, since);
}

/** How many more of these may follow from the cause. One more than the limit: see `allReachedLimits`. */
export function leftForCause(
  cause: string,
  what: keyof Caused,
  {home, caused, stateOf}: Pick<LimitInput, 'home' | 'caused' | 'stateOf'>,
): {limit: number; left: number} {
  const limit = home?.[what] ?? MOST_CAUSED[what];
  const {approved} = granted(`budget-${part(cause)}-${what}`, stateOf);
  return {limit, left: allowedBy(limit, approved) + 1 - caused(cause)[what]};
}

function limitOf(
  scope: LimitScope,
  what: keyof SpendLimits,
  own: SpendLimits | undefined,
  home: SpendLimits | undefined,
): number | undefined {
  switch (scope) {
    case 'work':
      return own?.turns ?? home?.turns_per_work ?? MOST_TURNS;
    case 'chain':
      return home?.hops ?? MOST_HOPS;
    case 'cause':
      return home?.[what] ?? MOST_CAUSED[what as keyof Caused];
    case 'home':
      return home?.[what];
    case 'agent':
      return own?.[what];
  }
}

/** The id of the request to raise the number of open requests: `budget-2026-11-18-requests-1`. */
export function isRequestLimit(id: string): boolean {
  return /^budget-.+-requests-\d+$/.test(id);
}

/**
 * The limit of open requests, if it is reached. Sessions that wait go on together when half of the requests are decided:
 * otherwise all of them would go on and wait again at each decision.
 */
function tooManyRequests(
  {home, day, session, agent, stateOf}: LimitInput,
  {open, waits}: NonNullable<LimitInput['requests']>,
): ReachedLimit[] {
  const limit = home?.requests ?? MOST_REQUESTS;
  if (open <= (waits ? limit / 2 : limit - 1)) return [];
  const {approved, next} = granted(`budget-${day}-requests`, stateOf);
  const allowed = allowedBy(limit, approved);
  if (open <= (waits ? allowed / 2 : allowed - 1)) return [];
  const of = {session, agent, day};
  return [{id: next, scope: 'home', what: 'requests', limit, inTemplate: false, allowed, used: open, ...of}];
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
