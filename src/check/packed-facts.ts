import type {Place} from '../formats/common/diagnostic.ts';
import {stemOf} from '../formats/common/key.ts';
import type {CausedBy} from '../formats/session/causes.ts';
import type {DaySpent} from '../formats/session/spent.ts';
import type {CopiedFact} from './copied.ts';
import type {Facts} from './facts.ts';
import type {SessionFact} from './session-facts.ts';

/**
 * Facts in the cache. A common session, of which there are thousands, is packed into a short list; the rest follows from
 * the path. Other facts are stored unchanged.
 */
export type PackedFacts = Facts | PackedSession;

type PackedSession = [
  messages: number,
  agent: string,
  status: SessionFact['status'],
  created: string | null,
  updated: string | null,
  idLine: number,
  idColumn: number,
  agentLine: number,
  agentColumn: number,
  copied: CopiedFact,
  causes: CausedBy | 0,
  ...spent: PackedSpent,
];

/** Empty if no model has answered in the session. */
type PackedSpent =
  | []
  | [day: string, turns: number, inputTokens: number, outputTokens: number, costUsd: number, unpricedTokens: number];

/** Without `causes`. */
const FACTS_KEYS = 6;
/** Without `spent`. */
const SESSION_KEYS = 12;

export function packFacts(path: string, facts: Facts): PackedFacts {
  const {session, counts} = facts;
  return session && isUsual(path, facts, session)
    ? [
        counts.messages ?? 0,
        session.agent,
        session.status,
        session.created,
        session.updated,
        session.idAt.line,
        session.idAt.column,
        session.agentAt.line,
        session.agentAt.column,
        session.copied,
        facts.causes ?? 0,
        ...packSpent(session.spent),
      ]
    : facts;
}

function packSpent(spent: DaySpent | undefined): PackedSpent {
  if (!spent) return [];
  const {day, turns, input_tokens, output_tokens, cost_usd, unpriced_tokens} = spent;
  return [day, turns, input_tokens, output_tokens, cost_usd, unpriced_tokens];
}

function unpackSpent(packed: PackedSpent): {spent?: DaySpent} {
  if (packed.length === 0) return {};
  const [day, turns, input_tokens, output_tokens, cost_usd, unpriced_tokens] = packed;
  return {spent: {day, turns, input_tokens, output_tokens, cost_usd, unpriced_tokens}};
}

/** Whether `unpackFacts` would restore everything that the list does not hold. */
function isUsual(path: string, facts: Facts, session: SessionFact): boolean {
  const {problems, needs, counts, defines} = facts;
  const {segments, waits, segment, shared, id} = session;
  if (problems.length + needs.length + segments.length + waits.length > 0 || segment || shared) return false;
  if (facts.kind !== 'session' || counts.sessions !== 1 || counts.messages === undefined) return false;
  const keys = session.spent ? SESSION_KEYS + 1 : SESSION_KEYS;
  const factsKeys = facts.causes ? FACTS_KEYS + 1 : FACTS_KEYS;
  if (Object.keys(facts).length !== factsKeys || Object.keys(session).length !== keys) return false;
  return (
    Object.keys(counts).length === 2 && id === stemOf(path) && defines.length === 1 && defines[0] === `session/${id}`
  );
}

/** Shared between thousands of facts. Safe, because facts are immutable. */
const NONE: never[] = [];
const places = new Map<number, Place>();

export function unpackFacts(path: string, packed: PackedFacts): Facts {
  if (!Array.isArray(packed)) return packed;
  const [
    messages,
    agent,
    status,
    created,
    updated,
    idLine,
    idColumn,
    agentLine,
    agentColumn,
    copied,
    causes,
    ...spent
  ] = packed;
  const id = stemOf(path);
  return {
    kind: 'session',
    problems: NONE,
    defines: [`session/${id}`],
    needs: NONE,
    counts: {sessions: 1, messages},
    session: {
      id,
      agent,
      status,
      created,
      updated,
      segment: false,
      shared: false,
      segments: NONE,
      idAt: placeAt(idLine, idColumn),
      agentAt: placeAt(agentLine, agentColumn),
      waits: NONE,
      copied,
      ...unpackSpent(spent),
    },
    ...(causes !== 0 && {causes}),
  };
}

function placeAt(line: number, column: number): Place {
  const small = column < 1_000 && line < 1_000;
  const key = line * 1_000 + column;
  const known = small ? places.get(key) : undefined;
  if (known) return known;
  const place = {line, column};
  if (small) places.set(key, place);
  return place;
}
