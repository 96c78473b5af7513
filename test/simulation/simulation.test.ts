import {describe, expect, it} from 'vitest';
import {thorough} from '../cli/run.ts';
import {simulate} from './simulate.ts';

const SEEDS = thorough ? 200 : 25;

describe('a simulated home', () => {
  it(`keeps every invariant in ${SEEDS} histories`, {timeout: 900_000}, async () => {
    const {out, code} = await simulate('--seeds', `${SEEDS}`);
    expect(code, out).toBe(0);
  });
});
