import {describe, expect, it} from 'vitest';
import {thorough} from '../cli/run.ts';
import {simulate} from './simulate.ts';

/** The daemon dies at one in so many of its steps; `npm run simulate -- --every 1` tries all. */
const STRIDE = thorough ? 3 : 12;

describe('a simulated home', () => {
  it('keeps every invariant wherever its daemon dies', {timeout: 900_000}, async () => {
    const {out, code} = await simulate('--every', `${STRIDE}`);
    expect(code, out).toBe(0);
    expect(out).toMatch(/a daemon killed at one in \d+ of \d{3} steps/);
  });

  const faults = ['no sync', 'no write-ahead', 'publish out of order', 'mark before delivering', 'run before marking'];
  it.each([...faults, ...(thorough ? ['merge from the wrong base'] : [])])(
    'shows a fault that was put in on purpose: %s',
    {timeout: 600_000},
    async what => {
      const {out, code} = await simulate('--seeds', '120', '--break', what);
      expect(code, out).toBe(1);
      expect(out).toMatch(/seed \d+ fails/);
    },
  );
});
