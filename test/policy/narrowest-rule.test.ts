import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {parseAllowlist} from '../../src/formats/allowlist.ts';
import {judge} from '../../src/policy/judge.ts';
import {type GrantedRule, narrowestRule, withRules} from '../../src/policy/narrowest-rule.ts';
import {runs} from '../arbitrary.ts';

const caller: GrantedRule = {agent: 'ops-1', host: false, network: false};

function narrowest(line: string, text = '', granted = caller) {
  const {policy} = parseAllowlist(`version: 1\n${text}`);
  return narrowestRule(line, judge(line, policy, {agent: granted.agent}), policy, granted);
}

describe('the narrowest rule', () => {
  it.each<[string, string, string[]]>([
    ['docker restart redis', 'commands: {ask: ["docker *"]}', ['docker restart redis']],
    ['ls; docker ps; docker ps', 'commands: {allow: ["ls *"]}', ['docker ps']],
    ["grep 'a b' x | wc -l", '', ["grep 'a b' x", 'wc -l']],
    ["find . -name '*.ts'", '', ['find . -name [*].ts']],
    ['cat /etc/hosts', 'commands: {allow: ["cat *"]}', ['cat /etc/hosts']],
    ["sh -c 'echo x'", '', ["sh -c 'echo x'"]],
    ["echo ''", '', ["echo ''"]],
    ['./deploy.sh', '', ['./deploy.sh']],
  ])('for %s with %s is %j', (line, text, matches) => {
    expect(narrowest(line, text)).toEqual({rules: matches.map(match => ({match, agents: ['ops-1']}))});
  });

  it('has what the call has', () => {
    expect(narrowest('uptime', '', {agent: 'a', host: true, network: true})).toEqual({
      rules: [{match: 'uptime', sandbox: 'host', network: true, agents: ['a']}],
    });
  });

  it.each([
    ['echo $HOME', '', /that uses \$ expansion/],
    ['', '', /no command/],
    ['rm x', 'commands: {deny: ["rm *"]}', /denies/],
    ['docker ps', 'commands: {ask: ["docker ps"]}', /ties with/],
    ['ls', 'tools: {execute_command: ask}', /execute_command: ask/],
    ['cd x', '', /only inside a shell/],
    ['sh', '', /sh runs what it reads/],
    ['docker ps', 'tests: [{run: "docker ps", agent: ops-1, expect: ask}]', /test of the policy expects ask/],
  ])('for %j with %s is none', (line, text, why) => {
    expect(narrowest(line, text)).toEqual({none: expect.stringMatching(why)});
  });

  it('allows these words to this agent and nothing else', () => {
    const word = fc.stringMatching(/^[a-z*?[\] "/.=-]{0,6}$/);
    fc.assert(
      fc.property(fc.array(word, {maxLength: 4}), word, fc.nat(4), (args, other, at) => {
        const quoted = (words: readonly string[]) =>
          ['tool', ...words]
            .map(each => `'${each}'`)
            .join(' ')
            .slice(0);
        const line = quoted(args).replace("'tool'", 'tool');
        const {policy} = parseAllowlist('version: 1');
        const found = narrowestRule(line, judge(line, policy, {agent: 'ops-1'}), policy, caller);
        if ('none' in found) throw new Error(found.none);
        const wider = withRules(policy, found.rules);
        expect(judge(line, wider, {agent: 'ops-1'}).verdict).toBe('allow');
        expect(judge(line, wider, {agent: 'ops-2'}).verdict).toBe('ask');
        const changed = args.toSpliced(at, 1, other);
        if (JSON.stringify(changed) !== JSON.stringify(args))
          expect(judge(quoted(changed).replace("'tool'", 'tool'), wider, {agent: 'ops-1'}).verdict).toBe('ask');
      }),
      runs(400),
    );
  });
});
