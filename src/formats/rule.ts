import type {Place} from './common/diagnostic.ts';

export type Verdict = 'allow' | 'ask' | 'deny';

/** A rule about commands. Words are matched against the arguments of a simple command. */
export interface Rule {
  verdict: Verdict;
  /** As written. */
  match: string;
  /** Words without a final lone `*`. */
  words: readonly string[];
  /** Ended with a lone `*`: any further arguments. */
  open: boolean;
  /** A `/…/` pattern of the flat form: it can deny or ask, never allow. */
  pattern?: RegExp;
  /** `matchCommandLine` of the flat form: applies only if the line is a single simple command. */
  wholeLine?: true;
  sandbox?: 'host';
  network?: true;
  /** `any_options`: covers any use of the command in the sandbox, not only what is known to be harmless. */
  anyOptions?: true;
  /** Globs over agent ids; all agents if missing. */
  agents?: readonly string[];
  place: Place;
}

/** A rule for `commands: allow:`, or an address for `network: allow:`. */
export type NewRule = {match: string; sandbox?: 'host'; network?: true; agents?: readonly string[]} | {address: string};

export interface PolicyTest {
  run: string;
  expect: Verdict;
  agent?: string;
  place: Place;
}

/** Whether agents may change tasks that wait for a person, and tasks that a person created; `deny` if left out. */
export interface TaskRules {
  /** Change prompt, assignee and conditions of a task that a person created. */
  change_human?: 'allow' | 'deny' | undefined;
  /** Change, start or end a task whose start waits for a person. */
  change_waiting?: 'allow' | 'deny' | undefined;
}

/** Content of allowlist.yaml, in either form. */
export interface Policy {
  rules: readonly Rule[];
  tools: Readonly<Record<string, Verdict>>;
  network: {allow: readonly string[]};
  tasks?: TaskRules;
  tests: readonly PolicyTest[];
}

export const emptyPolicy: Policy = {rules: [], tools: {}, network: {allow: []}, tests: []};
