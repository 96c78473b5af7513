import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {parseAllowlist} from '../../src/formats/allowlist.ts';
import type {Policy, Verdict} from '../../src/formats/rule.ts';
import {judge} from '../../src/policy/judge.ts';
import {policyOf} from '../policy/policy-of.ts';

/** A line, the verdict it must have, and who published it or what it would do. */
export type Case = readonly [line: string, verdict: Verdict, why?: string];

/** The policy of a new home, by the reader that the daemon uses. */
export const shipped: Policy = parseAllowlist(
  readFileSync(new URL('../../allowlist.yaml', import.meta.url), 'utf8'),
).policy;

/** The shipped denials beside allow rules that a careless person may write. */
export function careless(...allow: string[]): Policy {
  return {...shipped, rules: [...policyOf({allow}).rules, ...shipped.rules.filter(rule => rule.verdict === 'deny')]};
}

export function cases(name: string, policy: Policy, rows: readonly Case[]): void {
  describe(name, () => {
    test.each(rows.map(([line, verdict, why = '']) => ({line, verdict, why})))(
      '$verdict: $line',
      ({line, verdict, why}) => {
        const got = judge(line, policy);
        expect([got.verdict, why, got.reasons]).toEqual([verdict, why, got.reasons]);
      },
    );
  });
}
