import {it} from 'vitest';
import {thorough} from '../cli/run.ts';
import {WORKER} from './answering.ts';
import {killAtRandom} from './kill-at-random.ts';
import {homes} from './sound.ts';

const newHome = homes(WORKER);
const SEED = process.env.FUZZ ? Date.now() + 1 : 20261111;
/** In each home. */
const KILLS = Math.ceil((thorough ? 50 : 6) * Number(process.env.FUZZ ?? 1));

// With crash-random-2.test.ts, 200 kills in all in the gate; two files, so that they run side by side.
it(
  `killed ${2 * KILLS} times at random moments, in two homes with fifty sessions: nothing is lost, nothing is done twice`,
  async () => {
    const seeds = [SEED, SEED + 100];
    const results = await Promise.allSettled(seeds.map(seed => killAtRandom(newHome(), seed, KILLS)));
    for (const [i, result] of results.entries())
      if (result.status === 'rejected') throw new Error(`seed ${seeds[i]}: ${result.reason}`, {cause: result.reason});
  },
  180_000 * Math.max(1, Number(process.env.FUZZ ?? 1)),
);
