export interface Workspace {
  home: string;
  agent: string;
  /** Name of the home in author addresses; defaults to the name of its folder. */
  name?: string | undefined;
}

/** `workspace:` of a template: the repository to clone, the agent's branch, and whether it has a repository of its own. */
export interface CloneOrigin {
  clone?: string | undefined;
  branch?: string | undefined;
  /** `own`: the agent has a repository of its own in the sandbox. */
  git?: 'own' | undefined;
}

export interface CallCommit {
  session: string;
  call: string;
  approval?: string | undefined;
  /** Short description: `write_file notes.md`. */
  words: string;
  /** The call could write the git-dir: what is staged meanwhile belongs to it. */
  unconfined?: boolean | undefined;
}

export interface CommitResult {
  /** Set if something differed. */
  commit?: string;
  /** Notes for a person: files left out, a `.git` moved aside, a delayed commit. */
  notes: readonly string[];
}
