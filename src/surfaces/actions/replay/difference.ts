/** A difference found by replay. */
export interface Difference {
  kind: DifferenceKind;
  /** One sentence, without the place. */
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
  /** The current value, or the value by the engine. */
  replayed: string;
  /** Where it was recorded. */
  commit: string | undefined;
  /** Who changed it. */
  changed: {commit: string | undefined; author: string; time: string} | undefined;
  /** Sort order. */
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
