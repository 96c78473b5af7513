import type {Place} from './common/diagnostic.ts';

export type Verdict = 'allow' | 'ask' | 'deny';

/** One rule about commands. Words are matched against the arguments of one parsed simple command. */
export interface Rule {
  verdict: Verdict;
  /** As the person wrote it. */
  match: string;
  /** Its words, a final lone `*` left out. */
  words: readonly string[];
  /** It ended with a lone `*`: any further arguments. */
  open: boolean;
  /** A pattern of the flat form written `/…/`: it can deny or ask, never allow. */
  pattern?: RegExp;
  /** `matchCommandLine` of the flat form: applies only if the line is a single simple command. */
  wholeLine?: true;
  /** Runs outside the sandbox. */
  sandbox?: 'host';
  /** Runs with network. */
  network?: true;
  /** Globs over agent ids; without it, all agents. */
  agents?: readonly string[];
  place: Place;
}

/** A rule to add to `commands: allow:`, or an address to add to `network: allow:`. */
export type NewRule = {match: string; sandbox?: 'host'; network?: true; agents?: readonly string[]} | {address: string};

export interface PolicyTest {
  run: string;
  expect: Verdict;
  agent?: string;
  place: Place;
}

/** What both forms of allowlist.yaml come to. */
export interface Policy {
  rules: readonly Rule[];
  tools: Readonly<Record<string, Verdict>>;
  network: {allow: readonly string[]};
  tests: readonly PolicyTest[];
}

export const emptyPolicy: Policy = {rules: [], tools: {}, network: {allow: []}, tests: []};
