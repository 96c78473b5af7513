/** Why there are no vectors. `input`: because of the texts, others may work. */
export interface EmbedFailure {
  failed: string;
  input?: boolean;
}

/** Texts → vectors of their meaning. */
export interface Embedder {
  /** What its vectors can be compared with: those of the same name. */
  name: string;
  /** How many texts at a time, so that a question need not wait long. */
  batch: number;
  /** Never throws. One for each text, all of one length, each of length 1. What waits for them keeps no process alive. */
  embed: (texts: readonly string[], signal: AbortSignal) => Promise<Float32Array[] | EmbedFailure>;
}
