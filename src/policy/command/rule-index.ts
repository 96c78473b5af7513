import type {Policy, Rule} from '../../formats/rule.ts';
import {mayDeny} from './deny.ts';
import {isFor, mayMatch} from './words.ts';

/** The rules of a policy for one agent, in order, looked up by command. */
export interface RuleIndex {
  /** Deny rules that may cover a command of this name. */
  denying: (command: string) => readonly Rule[];
  /** Allow and ask rules that may match a command of this name. */
  others: (command: string) => readonly Rule[];
  /** Regular expressions that ask or deny. */
  segmentPatterns: readonly Rule[];
  linePatterns: readonly Rule[];
}

/** Policies are immutable, so the index stays valid. */
const known = new WeakMap<Policy, Map<string | undefined, RuleIndex>>();
/** Agents choose the names, so the cache is bounded. */
const MAX_CACHED_AGENTS = 500;

export function ruleIndexOf(policy: Policy, agent: string | undefined): RuleIndex {
  const byAgent = known.get(policy) ?? new Map<string | undefined, RuleIndex>();
  known.set(policy, byAgent);
  return remember(byAgent, agent, () => makeIndex(policy.rules.filter(rule => isFor(rule, agent))));
}

function makeIndex(rules: readonly Rule[]): RuleIndex {
  const worded = rules.filter(rule => !rule.pattern);
  const denying = worded.filter(rule => rule.verdict === 'deny');
  const others = worded.filter(rule => rule.verdict !== 'deny');
  const patterns = rules.filter(rule => rule.pattern && rule.verdict !== 'allow');
  const byDenied = new Map<string, readonly Rule[]>();
  const byOther = new Map<string, readonly Rule[]>();
  return {
    denying: command => remember(byDenied, command, () => denying.filter(rule => mayDeny(rule, command))),
    others: command => remember(byOther, command, () => others.filter(rule => mayMatch(rule, command))),
    segmentPatterns: patterns.filter(rule => !rule.wholeLine),
    linePatterns: patterns.filter(rule => rule.wholeLine),
  };
}

function remember<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  if (map.size >= MAX_CACHED_AGENTS) map.clear();
  const made = make();
  map.set(key, made);
  return made;
}
