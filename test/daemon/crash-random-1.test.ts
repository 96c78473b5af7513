import {it} from 'vitest';
import {killAtRandom} from './kill-at-random.ts';
import {homes} from './sound.ts';

const newHome = homes();
const SEED = process.env.FUZZ ? Date.now() + 1 : 20261111;
const KILLS = Math.ceil(25 * Number(process.env.FUZZ ?? 1));

// With crash-random-2.test.ts, 200 kills in all; two files, so that they run side by side.
it.each([0, 1])(
  'killed 50 times at random moments, in two homes: nothing is lost (%i)',
  async round => {
    const seeds = [0, 1].map(i => SEED + 1000 * round + 100 * i);
    const results = await Promise.allSettled(seeds.map(seed => killAtRandom(newHome(), seed, KILLS)));
    for (const [i, result] of results.entries())
      if (result.status === 'rejected') throw new Error(`seed ${seeds[i]}: ${result.reason}`, {cause: result.reason});
  },
  120_000 * Math.max(1, Number(process.env.FUZZ ?? 1)),
);
