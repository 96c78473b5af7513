export interface Workspace {
  home: string;
  agent: string;
  /** Of the home, after the `@` of authors; its folder's name if not given. */
  name?: string | undefined;
}

/** Of the template: where the files come from at first, and on which branch the agent works. */
export interface CloneOrigin {
  clone?: string | undefined;
  branch?: string | undefined;
}

/** What the commit of a call says. */
export interface CallCommit {
  session: string;
  call: string;
  approval?: string | undefined;
  /** The call in a few words: `write_file notes.md`. */
  words: string;
  /** It runs where it could write the git-dir: what is staged meanwhile is its own. */
  unconfined?: boolean | undefined;
}

/** What became of files that were to be committed. */
export interface CommitResult {
  /** There if something differed. */
  commit?: string;
  /** What a person should know: files left out, a `.git` moved aside, a commit that must wait. */
  notes: readonly string[];
}
