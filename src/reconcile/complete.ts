/** A file with what the daemon adds to it, and what that is, in words for the journal. */
export interface Completed {
  text: string;
  words: string;
  /** Ids of the tasks it concerns. */
  tasks: readonly string[];
}
