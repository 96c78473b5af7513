import {describe, expect, it} from 'vitest';
import {thorough} from '../cli/run.ts';
import {simulate} from './simulate.ts';

/** The daemon dies at one in so many of its steps; `npm run simulate -- --every 1` tries all. Odd: at odd steps recovery is interrupted, too. */
const STRIDE = thorough ? 9 : 29;

describe('a simulated home', () => {
  it('keeps every invariant wherever its daemon dies', {timeout: 900_000}, async () => {
    const {out, code} = await simulate('--every', `${STRIDE}`);
    expect(code, out).toBe(0);
    expect(out).toMatch(/a daemon killed at one in \d+ of \d{3} steps/);
  });

  const faults = [
    {what: 'no write-ahead', from: 1},
    {what: 'no sync', from: 1},
    {what: 'publish out of order', from: 1},
    {what: 'mark before delivering', from: 1},
    // The first seeds that find these.
    {what: 'run before marking', from: 22},
    {what: 'merge from the wrong base', from: 90},
  ];
  it.each(thorough ? faults : faults.slice(0, 1))(
    'shows a fault that was put in on purpose: $what',
    {timeout: 600_000},
    async ({what, from}) => {
      const {out, code} = await simulate('--from', `${from}`, '--seeds', '40', '--break', what);
      expect(code, out).toBe(1);
      expect(out).toMatch(/seed \d+ fails/);
    },
  );
});
