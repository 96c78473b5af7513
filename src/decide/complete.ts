/** A file with what is added to it, and what that is, in words for the journal. */
export interface CompletedStep {
  text: string;
  words: string;
  /** Ids of the tasks it concerns. */
  tasks: readonly string[];
  /** Whose doing it is, if an agent's. */
  agent?: string;
}

/** What the daemon writes into a file. */
export interface CompletedFile extends CompletedStep {
  /** What others did to the file before that, in order: each is in the journal, and only the last text is written. */
  before?: readonly CompletedStep[];
  /** Ids of requests it concerns. */
  approvals?: readonly string[];
  /** Of these, those that are decided by it. */
  decided?: readonly {id: string; state: string; by: string | undefined; what: string}[];
  /** Once it is in the file. */
  written?: () => void;
}
