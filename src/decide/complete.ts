/** A new version of a file, and its journal text. */
export interface CompletedStep {
  text: string;
  words: string;
  /** Ids of the changed tasks. */
  tasks: readonly string[];
  /** The agent that made the change, if any. */
  agent?: string;
}

/** A file version that the daemon writes. */
export interface CompletedFile extends CompletedStep {
  /** Earlier changes, in order. Each gets a commit, but only the last text is written. */
  before?: readonly CompletedStep[];
  /** Ids of the changed requests. */
  approvals?: readonly string[];
  /** The requests that this change decides. */
  decided?: readonly {id: string; state: string; by: string | undefined; what: string}[];
  /** The change shares the commit of a change before it: of the step that it belongs to, or of the last one. */
  joins?: 'step' | 'last';
  /** Called once the file is written. */
  written?: () => void;
}
