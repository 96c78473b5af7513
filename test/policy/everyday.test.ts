import {createHash} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {parseAllowlist} from '../../src/formats/allowlist.ts';
import {runPolicyTests} from '../../src/policy/judge.ts';
import {SHIPPED_POLICY} from '../../src/policy/shipped-policy.ts';

const text = readFileSync(new URL('../../allowlist.yaml', import.meta.url), 'utf8');
const {policy} = parseAllowlist(text);

test('the shipped policy, whose tests a home does not run again, is this one', () => {
  expect(SHIPPED_POLICY).toBe(createHash('sha256').update(text).digest('hex'));
});

test('the shipped policy allows more than 400 read-only lines of a developer’s day, each listed once', () => {
  const lines = policy.tests.filter(({expect}) => expect === 'allow').map(({run}) => run);
  expect(lines.length).toBeGreaterThan(400);
  expect(lines.filter((line, i) => lines.indexOf(line) !== i)).toEqual([]);
  expect(runPolicyTests(policy)).toEqual([]);
});

test('without the rule that allows it, each of these lines fails its test', () => {
  // Reading a file of the workspace needs no rule.
  const tests = policy.tests.filter(({expect, tool}) => expect === 'allow' && tool !== 'read_file');
  expect(tests.length).toBeGreaterThan(400);
  expect(runPolicyTests({...policy, rules: [], tests})).toHaveLength(tests.length);
});
