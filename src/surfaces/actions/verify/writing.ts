/** The author of a commit. */
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

/** When and where a person approved. */
export interface GivenApproval {
  commit: string;
  time: string;
}

export interface DecisionCommit {
  commit: string;
  time: string;
  writer: Writer;
  cause: string;
}
