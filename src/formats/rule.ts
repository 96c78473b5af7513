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

/** A rule of the list form of `tools:`. */
export interface ToolRule {
  /** A tool's name or alias, or a glob over names. */
  match: string;
  verdict: Verdict;
  /** Globs over paths, relative to the workspace; all paths if missing. */
  paths?: readonly string[];
  /** Globs over agent ids; all agents if missing. */
  agents?: readonly string[];
  place: Place;
}

/** A rule for `commands: allow:`, an address for `network: allow:`, or a rule for `tools:` that allows some paths. */
export type NewRule =
  | {match: string; sandbox?: 'host'; network?: true; agents?: readonly string[]}
  | {address: string}
  | {tool: string; paths: readonly string[]; agents: readonly string[]};

export interface PolicyTest {
  /** The command line; for a call of a tool, its name and path. */
  run: string;
  /** The test is about a call of this tool. */
  tool?: string;
  path?: string;
  expect: Verdict;
  agent?: string;
  place: Place;
}

/** Whether agents may change tasks that wait for a person, and tasks that a person created; `deny` if left out. */
export interface TaskRules {
  /** Change title, prompt, assignee and conditions of a task that a person created. */
  change_human?: 'allow' | 'deny' | undefined;
  /** Change, start or end a task whose start waits for a person. */
  change_waiting?: 'allow' | 'deny' | undefined;
}

/** Content of allowlist.yaml, in either form. */
export interface Policy {
  rules: readonly Rule[];
  /** The map form of `tools:`. */
  tools: Readonly<Record<string, Verdict>>;
  /** The list form of `tools:`. Of the rules that match a call, the strictest counts. */
  toolRules?: readonly ToolRule[];
  network: {allow: readonly string[]};
  tasks?: TaskRules;
  tests: readonly PolicyTest[];
}

export const emptyPolicy: Policy = {rules: [], tools: {}, network: {allow: []}, tests: []};
