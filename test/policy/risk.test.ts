import {describe, expect, test} from 'vitest';
import {judge} from '../../src/policy/judge.ts';
import {type RiskLevel, riskOf, riskOfTool} from '../../src/policy/risk.ts';
import {policyOf} from './policy-of.ts';

const policy = policyOf({
  allow: ['ls *', {match: 'uptime', sandbox: 'host'}],
  deny: ['shutdown *'],
});

describe('riskOf', () => {
  test.each<[string, RiskLevel, string]>([
    ['ls -la', 'LOW', 'ls only reads'],
    ['git log', 'LOW', 'git only reads'],
    ['mkdir x', 'MEDIUM', 'mkdir writes files'],
    ['unheard-of x', 'MEDIUM', 'unheard-of is not a known command'],
    ['ls > x', 'MEDIUM', 'it may do more than it shows: the line redirects input or output'],
    ['sort -o x y', 'MEDIUM', '`sort -o` is not known to be harmless'],
    ['docker ps', 'MEDIUM', 'docker asks a service of the host'],
    ['docker rm x', 'HIGH', 'docker controls services of the host'],
    ['curl http', 'HIGH', 'curl reaches other machines'],
    ['rm x', 'HIGH', 'rm deletes or stops things'],
    ['env rm x', 'HIGH', 'rm deletes or stops things'],
    ['sudo ls', 'CRITICAL', 'sudo acts as another user or on the whole machine'],
    ["sh -c 'sudo ls'", 'CRITICAL', 'sudo acts as another user or on the whole machine'],
    ['mkfs.ext4 x', 'CRITICAL', 'mkfs.ext4 acts as another user or on the whole machine'],
    ['shutdown now', 'CRITICAL', 'the policy denies it'],
    ['uptime', 'HIGH', 'runs outside the sandbox'],
    ['', 'MEDIUM', 'it may do more than it shows: the line has no command'],
  ])('%j is %s: %s', (line, level, factor) => {
    const risk = riskOf(judge(line, policy));
    expect([risk.level, risk.factors]).toEqual([level, expect.arrayContaining([factor])]);
  });
});

test.each<[string, RiskLevel]>([
  ['read_file', 'LOW'],
  ['write_file', 'MEDIUM'],
  ['slack_send', 'HIGH'],
  ['mcp__x__y', 'HIGH'],
])('tool %s is %s', (name, level) => {
  expect(riskOfTool(name).level).toBe(level);
});
