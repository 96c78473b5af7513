import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {parseAllowlist} from '../../src/formats/allowlist.ts';
import {judge, judgeTool, runPolicyTests} from '../../src/policy/judge.ts';
import {toolNamed} from '../../src/policy/tools.ts';

const text = readFileSync(new URL('../../allowlist.yaml', import.meta.url), 'utf8');
const {policy} = parseAllowlist(text);

describe('the policy of a new home', () => {
  test('names its schema', () => {
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=schemas/allowlist.json');
  });

  test('passes its own tests, and there are many', () => {
    expect(policy.tests.length).toBeGreaterThanOrEqual(25);
    expect(runPolicyTests(policy).map(({test, got}) => [test.run, test.expect, got.verdict, got.reasons])).toEqual([]);
  });

  test('a wrong test is found', () => {
    const wrong = {run: 'ls', expect: 'deny', place: {line: 1, column: 1}} as const;
    expect(runPolicyTests({...policy, tests: [wrong]}).map(({got}) => got.verdict)).toEqual(['allow']);
  });

  test('every tool it names exists', () => {
    expect(Object.keys(policy.tools).filter(name => toolNamed(name) !== name)).toEqual([]);
    expect(judgeTool('write_file', policy).verdict).toBe('ask');
  });

  test.each([
    'rm -rf /',
    'bash -lc "cd / && rm -r -f x"',
    'echo hi | xargs -0 -n 1 rm --recursive --force',
    'timeout -k 5 10 sudo ls',
    'nice -n 19 nohup rm -fr x',
    "ssh host 'rm -rf x'",
    "git -c alias.x='!rm -rf /' x",
    'busybox rm -rf x',
    'docker run -it --rm --privileged alpine',
    'kubectl exec -it pod -- rm -rf /data',
    "eval 'rm -rf x'",
    '{rm,-rf,/}',
    "$'\\x72m' -rf /",
    'r""m -rf /',
    'if true; then rm -rf x; fi',
    'cat <(rm -rf x)',
    'f() { rm -rf x; }',
    'A=$(rm -rf x)',
  ])('denies %s', line => {
    expect(judge(line, policy).verdict).toBe('deny');
  });

  test.each([
    'command -v sudo',
    'grep -rn sudo docs',
    'echo rm -rf x',
    'ls --help',
    'which sudo',
    'xargs -0 grep sudo',
    'git log --grep=push --oneline',
  ])('does not deny %s', line => {
    expect(judge(line, policy).verdict).not.toBe('deny');
  });
});
