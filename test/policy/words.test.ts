import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {Verdict} from '../../src/formats/rule.ts';
import {denies} from '../../src/policy/command/deny.ts';
import {isFor, literalWords, looseMatch, matches} from '../../src/policy/command/words.ts';
import {cpu} from '../cpu.ts';
import {ruleOf} from './policy-of.ts';

describe('an allow rule', () => {
  test.each([
    ['ls *', 'ls', true],
    ['ls *', 'ls -la x', true],
    ['ls *', 'lsof', false],
    ['ls', 'ls -l', false],
    ['git status', 'git status', true],
    ['git status', 'git push --force', false],
    ['git status', 'git', false],
    ['cat *.txt', 'cat a.txt', true],
    ['cat *.txt', 'cat .txt', false],
    ['cat *.txt', 'cat a/b.txt', false],
    ['cat *.txt', 'cat -b.txt', false],
    ['cat src/*', 'cat src/.env', false],
    ['cat a?', 'cat ab', true],
    ['cat [ab]', 'cat a', true],
    ['cat {a,b}', 'cat a', false],
    ['cat !a', 'cat b', false],
    ['cat #a', 'cat #a', true],
    ['cat +(a)', 'cat aa', false],
    ['docker * ls', 'docker -H ls', false],
    ['docker * ls', 'docker volume ls', true],
  ])('%s for %s: %s', (rule, command, expected) => {
    expect(matches(ruleOf('allow', rule), command.split(' '))).toBe(expected);
  });
});

test('an ask rule takes its globs loosely', () => {
  expect(matches(ruleOf('ask', 'cat *.env'), ['cat', 'a/.env'])).toBe(true);
});

test('literal words are counted', () => {
  expect(['git *', 'git log *', 'cat *.txt', 'git log -5'].map(rule => literalWords(ruleOf('allow', rule)))).toEqual([
    1, 2, 1, 3,
  ]);
});

describe('a deny rule', () => {
  test.each([
    ['rm -rf *', 'rm -rf x', true],
    ['rm -rf *', 'rm -rf', true],
    ['rm -rf *', 'rm -fr x', true],
    ['rm -rf *', 'rm -r -f x', true],
    ['rm -rf *', 'rm -r x -f', true],
    ['rm -rf *', 'rm x -vRf', true],
    ['rm -rf *', 'rm --recursive --force x', true],
    ['rm -rf *', 'rm --recurs -f x', true],
    ['rm -rf *', 'rm -r x', false],
    ['rm -rf *', 'rm -f x', false],
    ['rm -rf *', 'rm -- -rf', false],
    ['rm -rf *', 'rmdir -rf', false],
    ['rm -rf *', '/bin/rm -rf x', true],
    ['rm -rf *', '../RM -rf x', true],
    ['rm --recursive --force *', 'rm -rf x', true],
    ['git push --force *', 'git push -f', true],
    ['git push --force *', 'git push origin --force', true],
    ['git push --force *', 'git -C x push --force', true],
    ['git push --force *', 'git commit -m push --force', false],
    ['git push --force *', 'git commit push --force', false],
    ['git push --force *', 'git push --force-with-lease', false],
    ['git push', 'git push', true],
    ['git push', 'git push --tags', false],
    ['git push', 'git push origin', false],
    ['dd of=/dev/*', 'dd if=x bs=1M of=/dev/sda', true],
    ['dd of=/dev/*', 'dd if=/dev/sda of=x', false],
    ['find * -delete *', 'find . -name x -delete', true],
    ['find * -delete *', 'find . -depth -empty -ls -type l', false],
    ['curl --output=/etc/* *', 'curl x --output /etc/y', true],
    ['curl --output=/etc/* *', 'curl x --output y', false],
    ['mkfs.* *', 'mkfs.ext4 /dev/sda', true],
    ['kill -9 -1', 'kill -9 -1', true],
    ['kill -9 -1', 'kill -19 44', false],
    ['chmod -R 777 *', 'chmod 777 -R x', true],
    ['chmod -R 777 *', 'chmod -Rv 0777 x', false],
    ['docker system prune *', 'docker --context prod system prune -a', true],
    ['cat *secret*', 'cat a/.secret/b', true],
  ])('%s for %s: %s', (rule, command, expected) => {
    expect(denies(ruleOf('deny', rule), command.split(' '))).toBe(expected);
  });

  test('holds in whatever order and grouping its options come', () => {
    const operands = fc.array(fc.stringMatching(/^[a-z/.]{1,5}$/), {maxLength: 3});
    const flags = fc.constantFrom(['-rf'], ['-fr'], ['-r', '-f'], ['-vRf'], ['--recursive', '-f'], ['-r', '--force']);
    fc.assert(
      fc.property(operands, flags, fc.infiniteStream(fc.nat()), (names, options, random) => {
        const args = [...names, ...options]
          .map(word => ({word, key: random.next().value}))
          .sort((a, b) => a.key - b.key)
          .map(({word}) => word);
        expect(denies(ruleOf('deny', 'rm -rf *'), ['rm', ...args])).toBe(true);
      }),
    );
  });
});

test('a rule that asks or denies holds for agents of workflows by their own name; one that allows names them in full', () => {
  const holds = (verdict: Verdict, agents: string[]) => isFor({verdict, agents}, 'coder@pr-1');
  for (const agents of [['coder'], ['c*'], ['coder@*'], ['*']])
    expect([agents, holds('ask', agents), holds('deny', agents)]).toEqual([agents, true, true]);
  expect([['coder'], ['c*'], ['coder@pr-1'], ['coder@*'], ['*']].map(agents => holds('allow', agents))).toEqual([
    ...[false, false],
    ...[true, true, true],
  ]);
  expect(isFor({verdict: 'deny', agents: ['pr-1']}, 'coder@pr-1')).toBe(false);
  expect(isFor({verdict: 'allow', agents: ['c*']}, 'coder')).toBe(true);
});

test('looseMatch is what a regular expression says, without its cost', () => {
  const pattern = fc.stringMatching(/^[ab*?]{0,6}$/);
  fc.assert(
    fc.property(pattern, fc.stringMatching(/^[ab]{0,8}$/), (glob, text) => {
      const regular = new RegExp(`^${glob.replaceAll('?', '.').replaceAll('*', '.*')}$`);
      expect(looseMatch(glob, text)).toBe(regular.test(text));
    }),
    {numRuns: 1000},
  );
  const start = cpu();
  looseMatch(`${'*a'.repeat(200)}b`, 'a'.repeat(20_000));
  expect(cpu() - start).toBeLessThan(3000);
});
