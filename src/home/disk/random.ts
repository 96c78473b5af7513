import {randomBytes} from 'node:crypto';

/** A source of random values for unguessable names. The simulator derives them from its seed. */
export interface Random {
  bytes: (length: number) => Buffer;
  /** From 0 (included) to 1 (excluded). */
  fraction: () => number;
}

export const systemRandom: Random = {bytes: randomBytes, fraction: Math.random};
