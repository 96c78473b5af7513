/** Who wrote a commit: one of the agents, the daemon, or somebody else. */
export type Writer = 'agent' | 'daemon' | 'person';

/** As the daemon signs commits: `coder <coder@home>`. */
export function writerOf(
  {name, email}: {name: string; email: string},
  isAgent: (name: string) => boolean,
  homes: ReadonlySet<string>,
): Writer {
  if (!email.startsWith(`${name}@`) || !homes.has(email.slice(name.length + 1))) return 'person';
  if (name === 'agentdir') return 'daemon';
  return isAgent(name) ? 'agent' : 'person';
}

/** Where and when a person said yes. */
export interface GivenApproval {
  commit: string;
  time: string;
}

/** A commit, as far as it matters for decisions. */
export interface DecisionCommit {
  commit: string;
  time: string;
  writer: Writer;
  /** The trailer. */
  cause: string;
}
