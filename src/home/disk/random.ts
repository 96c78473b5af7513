import {randomBytes} from 'node:crypto';

/** Where names come from that nobody can guess. The simulator makes them from its seed. */
export interface Random {
  bytes: (length: number) => Buffer;
  /** From 0 to 1, without 1. */
  fraction: () => number;
}

export const systemRandom: Random = {bytes: randomBytes, fraction: Math.random};
