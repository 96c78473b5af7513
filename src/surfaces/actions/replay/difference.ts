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
  changed: 'the recorded content has changed; see: git show COMMIT',
  missing: 'a recorded message is missing, but later messages depend on it; see: git show COMMIT',
  added: 'it was never recorded, and later messages were written without it; see: git show COMMIT',
  moved: 'a recorded message has moved; see: git show COMMIT',
  step: 'this version of the daemon would act differently; see: git show COMMIT',
  verdict: 'see: agentdir policy explain, agentdir verify',
} as const;
type DifferenceKind = keyof typeof differenceKinds;
