import fc from 'fast-check';
import {describe, expect, it, test} from 'vitest';
import {problemsWithin} from '../../src/check/problems-within.ts';
import {parseAllowlist} from '../../src/formats/allowlist.ts';
import {addRules} from '../../src/formats/allowlist-edit.ts';
import type {Policy} from '../../src/formats/rule.ts';
import {judge, judgeTool, runPolicyTests} from '../../src/policy/judge.ts';
import {narrowestToolRule} from '../../src/policy/narrowest-rule.ts';
import {runs} from '../arbitrary.ts';

const policyIn = (tools: string, rest = ''): Policy => {
  const {policy, problems} = parseAllowlist(`version: 1\ntools:\n${tools}${rest}`);
  expect(problems).toEqual([]);
  return policy;
};
const EDIT = '  - {match: edit_file, paths: ["src/**"], agents: [coder], verdict: allow}\n';
const verdict = (policy: Policy, tool: string, path?: string, agent = 'coder') =>
  judgeTool(tool, policy, {agent, path}).verdict;

describe('a rule for a tool that names paths and agents', () => {
  const policy = policyIn(EDIT);

  test.each([
    ['src/a.ts', 'allow'],
    ['./src//deep/./b.ts', 'allow'],
    ['src', 'ask'],
    ['lib/a.ts', 'ask'],
    ['srcs/a.ts', 'ask'],
    ['SRC/a.ts', 'ask'],
    ['src/../lib/a.ts', 'ask'],
    ['lib/../src/a.ts', 'ask'],
    ['/src/a.ts', 'ask'],
    ['~/src/a.ts', 'ask'],
    ['src\\a.ts', 'ask'],
    ['src/a\n.ts', 'ask'],
    ['src/.env', 'ask'],
    ['src/.hidden/a.ts', 'ask'],
    ['', 'ask'],
  ])('of the path %j says %s', (path, wanted) => {
    expect(verdict(policy, 'edit_file', path)).toBe(wanted);
  });

  it('holds for its agents and its tool only, by each of its names', () => {
    expect(verdict(policy, 'edit_file', 'src/a.ts', 'other')).toBe('ask');
    expect(judgeTool('edit_file', policy, {path: 'src/a.ts'}).verdict).toBe('ask');
    expect(verdict(policy, 'write_file', 'src/a.ts')).toBe('ask');
    expect(verdict(policy, 'Edit', 'src/a.ts')).toBe('allow');
    expect(verdict(policyIn('  - {match: Edit, paths: [a], verdict: allow}\n'), 'edit_file', 'a')).toBe('allow');
    expect(judgeTool('edit_file', policy, {agent: 'coder', path: 'src/a.ts'}).reason).toContain('src/** of coder');
  });

  it('gives way to stricter ones: deny over ask over allow, wherever they stand', () => {
    const ask = '  - {match: "*_file", paths: ["src/gen"], verdict: ask}\n';
    const deny = '  - {match: edit_file, paths: ["**/secret*"], verdict: deny}\n';
    for (const rules of [EDIT + ask + deny, deny + ask + EDIT]) {
      const all = policyIn(rules);
      expect(verdict(all, 'edit_file', 'src/a.ts')).toBe('allow');
      expect(verdict(all, 'edit_file', 'src/gen/a.ts')).toBe('ask');
      expect(verdict(all, 'edit_file', 'src/gen/secret.ts')).toBe('deny');
      // What a deny rule names covers all below it, and what leaves doubt.
      expect(verdict(all, 'edit_file', 'src/secrets/deep/a')).toBe('deny');
      expect(verdict(all, 'edit_file', 'x/../y')).toBe('deny');
    }
    expect(verdict(policyIn(`${EDIT}  - {match: edit_file, verdict: ask}\n`), 'edit_file', 'src/a.ts')).toBe('ask');
  });

  it('that denies a path denies searches that may show it', () => {
    const closed = policyIn('  - {match: "*", paths: ["keys/**"], verdict: deny}\n');
    expect(verdict(closed, 'read_file', 'keys/a')).toBe('deny');
    expect(verdict(closed, 'read_file', 'src/a')).toBe('allow');
    for (const tool of ['grep', 'glob', 'search_files', 'list_directory']) {
      expect([tool, verdict(closed, tool)]).toEqual([tool, 'deny']);
      expect([tool, verdict(closed, tool, '.')]).toEqual([tool, 'deny']);
      expect([tool, verdict(closed, tool, 'keys')]).toEqual([tool, 'deny']);
      expect([tool, verdict(closed, tool, 'src')]).toEqual([tool, 'allow']);
    }
  });

  it('judges commands by agent: a deny rule for execute_command denies all of them', () => {
    const policy = policyIn('  - {match: bash, agents: ["co*"], verdict: deny}\n', 'commands: {allow: ["ls *"]}\n');
    expect(judge('ls', policy, {agent: 'coder'}).verdict).toBe('deny');
    expect(judge('ls', policy, {agent: 'other'}).verdict).toBe('allow');
  });

  it('never allows a path outside of what it names, whatever is written', () => {
    const part = fc.constantFrom('src', 'lib', '..', '.', '', 'a.ts', '.git', '~', 'src ', 'Src', '*', '[s]rc', '**');
    fc.assert(
      fc.property(fc.array(part, {maxLength: 6}), parts => {
        const path = parts.join('/');
        if (verdict(policy, 'edit_file', path) !== 'allow') return;
        const real = path.split('/').filter(each => each !== '' && each !== '.');
        expect([real[0], real.includes('..'), path.startsWith('/'), real.length > 1]).toEqual([
          'src',
          false,
          false,
          true,
        ]);
      }),
      runs(2_000),
    );
  });
});

describe('the file', () => {
  it('has embedded tests for calls of tools', () => {
    const tests = 'tests:\n  - {tool: edit_file, path: src/a.ts, agent: coder, expect: allow}\n';
    expect(runPolicyTests(policyIn(EDIT, tests))).toEqual([]);
    const wrong = policyIn(EDIT, tests.replace('allow', 'deny'));
    expect(runPolicyTests(wrong)).toMatchObject([{test: {run: 'edit_file src/a.ts'}, got: {verdict: 'allow'}}]);
  });

  test.each([
    ['  - {match: edit_file, paths: ["../x"], verdict: allow}\n', 'BAD_RULE'],
    ['  - {match: edit_file, paths: ["/etc/**"], verdict: allow}\n', 'BAD_RULE'],
    ['  - {match: fetch, paths: ["src/**"], verdict: allow}\n', 'BAD_RULE'],
    ['  - {match: edit_fil, verdict: allow}\n', 'UNKNOWN_TOOL'],
  ])('says what is wrong with %j', (tools, code) => {
    const file = parseAllowlist(`version: 1\ntools:\n${tools}`);
    const problems = [...file.problems, ...problemsWithin({kind: 'policy', path: 'allowlist.yaml', file})];
    expect(problems.map(problem => problem.code)).toEqual([code]);
  });

  it('gets the narrowest rule for a call, which allows this path and no other', () => {
    for (const path of ['src/a.ts', './src/[id].ts', 'a b/*.md']) {
      const before = policyIn('  []\n');
      const found = narrowestToolRule('edit_file', path, before, 'coder');
      if ('none' in found) throw new Error(found.none);
      const text = addRules('version: 1\n# mine\ntools: []\n', found.rules, 'approval x');
      const {policy, problems} = parseAllowlist(text);
      expect(problems).toEqual([]);
      expect(text).toContain('# mine');
      expect(verdict(policy, 'edit_file', path)).toBe('allow');
      expect(verdict(policy, 'edit_file', path, 'other')).toBe('ask');
      for (const other of ['src/b.ts', 'src/i.ts', 'a b/x.md', `${path}/x`])
        expect([other, verdict(policy, 'edit_file', other)]).toEqual([other, 'ask']);
    }
  });

  it('of the map form, or with a rule that asks, offers none and says why', () => {
    const map = parseAllowlist('version: 1\ntools: {edit_file: ask}\n').policy;
    expect(narrowestToolRule('edit_file', 'a', map, 'coder')).toEqual({none: expect.stringContaining('is a map')});
    const asks = policyIn('  - {match: edit_file, verdict: ask}\n');
    expect(narrowestToolRule('edit_file', 'a', asks, 'coder')).toEqual({
      none: expect.stringContaining('edit_file: ask'),
    });
  });
});
