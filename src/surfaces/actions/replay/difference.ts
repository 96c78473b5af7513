/** What a replay finds to be another than it was recorded, or than the engine would do. */
export interface Difference {
  kind: DifferenceKind;
  /** In one sentence, without the place. */
  what: string;
  /** File of the message, and its number there, from 1. */
  path: string;
  message: number | undefined;
  /** In the file as it is on disk. */
  line: number | undefined;
  role: string | undefined;
  call: string | undefined;
  tool: string | undefined;
  field: string;
  recorded: string;
  /** What is there now, or what the engine makes of the same. */
  replayed: string;
  /** Where it was recorded. */
  commit: string | undefined;
  /** Who made it another, unless the engine would. */
  changed: {commit: string | undefined; author: string; time: string} | undefined;
  /** Its place in the order of things. */
  order: number;
}

export const differenceKinds = {
  changed: 'what was recorded is another now; see: git show COMMIT',
  missing: 'what was recorded is not there any more, and what follows was said with it in sight; see: git show COMMIT',
  added: 'nobody recorded it, and what follows was said without it; see: git show COMMIT',
  moved: 'what was recorded stands elsewhere now; see: git show COMMIT',
  step: 'the daemon of that time did something else than this version would; see: git show COMMIT',
  verdict: 'see: agentdir policy explain; agentdir verify says what ran without a decision',
} as const;
type DifferenceKind = keyof typeof differenceKinds;
