import {afterAll, describe, expect, test} from 'vitest';
import {readPlain} from '../../src/policy/command/plain.ts';
import {judge} from '../../src/policy/judge.ts';
import {startBash} from '../fuzz/bash-run.ts';
import {corpus} from '../fuzz/corpus.ts';
import {fuzz, type Judge, tryLines} from '../fuzz/fuzz.ts';
import {generous} from '../fuzz/generous.ts';

const bash = startBash();
afterAll(() => bash?.close());

/** `npm run fuzz` looks longer, and at other lines each time. */
const lines = Math.ceil(1000 * Number(process.env.FUZZ ?? (process.env.TESTS === 'all' ? 5 : 1)));

/** Allows whatever the plain reader makes of a line, doubts or not. */
const credulous: Judge = line => ({
  verdict: 'allow',
  segments: readPlain(line).segments.map(segment => ({...segment, verdict: 'allow', reason: ''})),
  reasons: [],
  doubts: [],
});

describe.skipIf(!bash)('what bash runs is what the policy said', () => {
  if (!bash) return;

  test('on generated lines', () => {
    const outcome = fuzz({bash, policy: generous, judge, lines, seed: 5});
    expect(outcome.violations).toEqual([]);
    expect(outcome.lines).toBe(lines);
    // What is never allowed proves nothing.
    expect(outcome.allowed).toBeGreaterThan(lines * 0.15);
    expect(outcome.commands).toBeGreaterThan(outcome.allowed);
  });

  test('on known lines', () => {
    const allowed = corpus.filter(line => judge(line, generous).verdict === 'allow');
    expect(allowed.length).toBeGreaterThan(20);
    expect(tryLines(corpus, {bash, policy: generous, judge})).toEqual([]);
  });

  test.each([
    ['a {b,c}', 'other commands'],
    ["eval 'b c'", 'other commands'],
    ['. /dev/null', 'other commands'],
    ['exec b', 'ended bash'],
    ['exit', 'ended bash'],
    ['command b', 'other commands'],
    ['builtin echo b', 'other commands'],
    ['printf -v b x', 'other commands'],
    ['read b', 'other commands'],
    ['a=b', 'other commands'],
    ['a > b', 'wrote a file'],
    ['a;[[ b ]]', 'other commands'],
    ['a b # c', 'other commands'],
    ['if a; then b; fi', 'other commands'],
    ['a $(b)', 'other commands'],
    ['a & b', 'in the background'],
    ['! a1 && b', 'other commands'],
    ['env b c', 'other commands'],
    ['timeout 5 b', 'other commands'],
    ["sh -c 'zap x'", 'a rule denies'],
    ["find . -exec b ';'", 'other commands'],
    ['r\\\nm -rf x', 'a rule denies'],
    ['../bin/c $x', 'other commands'],
  ])('a policy that allowed %s would be found out', (line, why) => {
    expect(tryLines([line], {bash, policy: generous, judge: credulous})[0]?.why).toContain(why);
  });

  test.each(["a 'b c' | b; a || c", 'a1 && b || c; false || echo x', '../bin/c "a b"', "test -z ''; pwd", 'true;:a'])(
    'and nothing is held against %s',
    line => {
      expect(tryLines([line], {bash, policy: generous, judge: credulous})).toEqual([]);
    },
  );

  test('a violation is told by a short line', () => {
    const outcome = fuzz({bash, policy: generous, judge: credulous, lines: 100, seed: 1});
    expect(outcome.violations.length).toBeGreaterThan(0);
    for (const {line} of outcome.violations) expect(line.length).toBeLessThan(12);
  });
});
