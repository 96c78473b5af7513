import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {Verdict} from '../../src/formats/rule.ts';
import {judge, judgeTool} from '../../src/policy/judge.ts';
import {riskOf} from '../../src/policy/risk.ts';
import {runs} from '../arbitrary.ts';
import {policyOf} from './policy-of.ts';

const policy = policyOf({
  allow: [
    'ls *',
    'cat *',
    'git status',
    'git log *',
    'docker ps *',
    'sort *',
    'sort -o out.txt *',
    'find *',
    'env *',
    'timeout *',
    'timeout 5 ls',
    'sh *',
    'sh',
    'cd *',
    'echo *',
    'cat /var/log/*',
    './run.sh *',
    '/usr/bin/tool *',
    '*/bad *',
  ],
  ask: ['docker *', 'echo *secret*'],
  deny: ['rm -rf *', 'sudo *'],
});

describe('judge', () => {
  test.each<[string, Verdict]>([
    // the seeds' own allowlist got these wrong
    ['git status', 'allow'],
    ['git push --force', 'ask'],
    ['ls', 'allow'],
    ['lsof', 'ask'],
    ['ls; unknown', 'ask'],
    ['ls & rm -rf x', 'deny'],
    ['echo x > /etc/passwd', 'ask'],
    ['/tmp/evil/ls', 'ask'],
    ['ls $(curl x)', 'ask'],
    ['ls; curl http://x', 'ask'],
    // the worst of the line
    ['ls && ls | cat', 'allow'],
    ['ls; sudo ls', 'deny'],
    ['ls $(sudo ls)', 'deny'],
    ['unknown; sudo ls', 'deny'],
    // precedence
    ['docker ps -a', 'allow'],
    ['docker rm x', 'ask'],
    ['echo hello', 'allow'],
    ['echo mysecret', 'ask'],
    // risky options
    ['sort x', 'allow'],
    ['sort -o out.txt x', 'allow'],
    ['sort -o other x', 'ask'],
    ['sort x -o out.txt', 'ask'],
    ["find . -name '*.ts'", 'allow'],
    ['find . -delete', 'ask'],
    ["find . -exec rm -rf x ';'", 'deny'],
    // wrappers
    ['env', 'allow'],
    ['env ls', 'ask'],
    ['env rm -rf x', 'deny'],
    ['timeout 5 cat x', 'ask'],
    ['timeout 5 ls', 'allow'],
    ['sh', 'ask'],
    ['ls | sh', 'ask'],
    ["sh -c 'ls'", 'ask'],
    ["sh -c 'sudo ls'", 'deny'],
    ['cd x', 'ask'],
    // paths
    ['cat x/y', 'allow'],
    ['cat /etc/passwd', 'ask'],
    ['cat a/../../b', 'ask'],
    ['cat ..', 'ask'],
    ['cat a..b', 'allow'],
    ['ls --ignore=/x', 'ask'],
    ['ls -I/x', 'ask'],
    ['ls -C..', 'ask'],
    ['cat a:/etc/x', 'ask'],
    ['cat /var/log/syslog', 'allow'],
    ['cat /var/log/../x', 'ask'],
    ['cat /var/log/a/b', 'ask'],
    // command names
    ['./run.sh x', 'ask'],
    ['./other.sh', 'ask'],
    ['/usr/bin/tool x', 'ask'],
    ['x/bad', 'ask'],
    ['/usr/bin/sudo x', 'deny'],
    ['', 'ask'],
    ['\0', 'ask'],
  ])('%j: %s', (line, verdict) => {
    const got = judge(line, policy);
    expect([got.verdict, got.reasons]).toEqual([verdict, got.reasons]);
    expect(got.reasons.length).toBeGreaterThan(0);
  });

  test('says which rule decided each command, and why', () => {
    const got = judge('ls; docker rm x; sudo ls', policy);
    expect(got.segments.map(({argv, verdict, rule}) => [argv[0], verdict, rule])).toEqual([
      ['ls', 'allow', 'ls *'],
      ['docker', 'ask', 'docker *'],
      ['sudo', 'deny', 'sudo *'],
    ]);
    expect(got.reasons).toEqual([
      '`docker rm x`: asked by ask rule `docker *`',
      '`sudo ls`: denied by deny rule `sudo *`',
    ]);
    expect(judge("env sh -c 'rm -r -f y'", policy).reasons[0]).toContain('(it would run `rm -r -f y`)');
  });

  test('any_options covers what no row knows, but no wrapper and no path outside', () => {
    const any = policyOf({
      allow: ['gcc *', 'sort *', 'env *', './run.sh *'].map(match => ({match, anyOptions: true as const})),
      deny: ['rm -rf *'],
    });
    for (const line of ['gcc -O2 -o x x.c', 'sort -o out in', './run.sh x'])
      expect([line, judge(line, any).verdict]).toEqual([line, 'allow']);
    for (const line of ['gcc /etc/x.c', 'gcc ../x.c', 'env ls', '/tmp/run.sh', './other.sh'])
      expect([line, judge(line, any).verdict]).toEqual([line, 'ask']);
    expect(judge('env rm -rf x', any).verdict).toBe('deny');
  });

  test('says which option is not known, and what to write', () => {
    const some = policyOf({allow: ['sort *', 'cc *', 'cc -c x.c', 'git *']});
    const reason = (line: string) => judge(line, some).reasons[0];
    expect(reason('sort -uo out in')).toBe(
      '`sort -uo out in`: allow rule `sort *` does not cover this: `sort -o` is not known to be harmless; write a rule with these very words, or {match: "sort *", any_options: true} to allow any use in the sandbox',
    );
    expect(reason('sort --outp=out in')).toContain('`--outp` is not an option of `sort` that is known to be harmless;');
    expect(reason('cc x.c')).toContain('no use of `cc` is known to be harmless;');
    expect(reason('git push')).toContain('`git push` is not known to only read;');
    expect(judge('cc -c x.c', some).verdict).toBe('allow');
  });

  test('a rule that spells a mode of tar covers files of the workspace only', () => {
    const spelled = policyOf({allow: ['tar czf *', 'tar --create *']});
    expect(judge('tar czf a.tgz src', spelled).verdict).toBe('allow');
    for (const line of ['tar czf a.tgz /etc/hostname', 'tar czf a.tgz ../out', 'tar --create --file a.tar ../x'])
      expect([line, judge(line, spelled).verdict]).toEqual([line, 'ask']);
  });

  test('a tie between different verdicts asks', () => {
    expect(judge('a b', policyOf({allow: ['a *'], ask: ['a *']})).verdict).toBe('ask');
    expect(judge('a b', policyOf({allow: ['a b'], ask: ['a *']})).verdict).toBe('allow');
    expect(judge('a b', policyOf({allow: ['a *'], ask: ['a b']})).verdict).toBe('ask');
    expect(judge('a b', policyOf({allow: ['a b'], deny: ['a *']})).verdict).toBe('deny');
  });

  test('rules for some agents are for those only', () => {
    const some = policyOf({allow: [{match: 'ls *', agents: ['executor-*']}], deny: [{match: 'a *', agents: ['b*']}]});
    expect(judge('ls', some, {agent: 'executor-001'}).verdict).toBe('allow');
    expect(judge('ls', some, {agent: 'planner-001'}).verdict).toBe('ask');
    expect(judge('ls', some).verdict).toBe('ask');
    expect(judge('a', some, {agent: 'buildbox/coder'}).verdict).toBe('deny');
    expect(judge('a', some, {agent: 'coder'}).verdict).toBe('ask');
  });

  test('what a rule grants is handed on', () => {
    const host = policyOf({allow: [{match: 'docker ps *', sandbox: 'host', network: true}, 'ls *']});
    const [docker, ls] = judge('docker ps | ls', host).segments;
    expect(docker).toMatchObject({verdict: 'allow', sandbox: 'host', network: true});
    expect(ls).not.toHaveProperty('sandbox');
  });

  test('patterns of the flat form deny and ask, and never allow', () => {
    const flat = (verdict: Verdict, wholeLine?: true) =>
      policyOf({
        allow: ['ls *', 'cat *'],
        [verdict]: [
          ...(verdict === 'allow' ? ['cat *'] : []),
          {match: '/x/', pattern: /\bxy+/g, ...(wholeLine && {wholeLine})},
        ],
      });
    expect(judge('xyy', flat('allow')).verdict).toBe('ask');
    for (let i = 0; i < 3; i++) expect(judge('ls xyy', flat('deny')).verdict).toBe('deny');
    expect(judge('ls xyy', flat('ask')).verdict).toBe('ask');
    expect(judge('ls; cat xyy', flat('deny', true)).verdict).toBe('deny');
    expect(judge('ls z; cat z', flat('deny', true)).verdict).toBe('allow');
  });

  test('a whole-line rule allows a single command only', () => {
    const whole = policyOf({allow: [{match: 'ls *', wholeLine: true}, 'cat *']});
    expect(judge('ls -l', whole).verdict).toBe('allow');
    expect(judge('ls -l | cat', whole).verdict).toBe('ask');
  });

  test('a rule for execute_command holds for every command', () => {
    expect(judge('ls', {...policy, tools: {execute_command: 'ask'}}).verdict).toBe('ask');
    expect(judge('ls', {...policy, tools: {bash: 'deny'}}).verdict).toBe('deny');
    expect(judge('unknown', {...policy, tools: {execute_command: 'allow'}}).verdict).toBe('ask');
  });
});

describe('properties of judge', () => {
  const piece = fc.constantFrom(
    ...[
      'ls',
      'cat x',
      'rm -rf x',
      'sudo ls',
      'unknown',
      '; ',
      ' && ',
      ' | ',
      ' & ',
      '\n',
      '$(',
      ')',
      '`',
      "'",
      '"',
      ' ',
    ],
    ...[
      '{',
      '}',
      '> x',
      'env ',
      "sh -c '",
      'eval ',
      '$x',
      '\\',
      '~',
      '*',
      '((',
      'if ',
      'then ',
      'fi',
      '<<E\n',
      '#',
      ' -o x',
    ],
  );
  const line = fc.oneof(
    fc.array(piece, {maxLength: 12}).map(pieces => pieces.join('')),
    fc.string({unit: 'binary', maxLength: 80}),
  );

  test('never throws; allows only without doubts and with every command allowed', () => {
    fc.assert(
      fc.property(line, text => {
        const got = judge(text, policy);
        if (got.verdict === 'allow') {
          expect(got.doubts).toEqual([]);
          expect(got.segments.length).toBeGreaterThan(0);
          expect(got.segments.every(segment => segment.verdict === 'allow')).toBe(true);
        }
        if (got.segments.some(segment => segment.verdict === 'deny')) expect(got.verdict).toBe('deny');
      }),
      runs(4000),
    );
  });

  test('a denied command appended to any complete line is denied', () => {
    const complete = fc.array(fc.constantFrom('ls', 'cat x', 'unknown', 'git status', "echo 'a b'"), {
      minLength: 1,
      maxLength: 6,
    });
    const joints = fc.constantFrom('; ', ' && ', ' || ', ' | ', ' & ', '\n');
    const denied = fc.constantFrom(
      'rm -fr x',
      'sudo ls',
      'env sudo ls',
      'sh -c "rm -r -f x"',
      'echo $(rm -rf x)',
      '/bin/rm -rf x',
    );
    fc.assert(
      fc.property(complete, joints, denied, fc.nat(), (commands, joint, bad, at) => {
        const all: string[] = [...commands];
        all.splice(at % (all.length + 1), 0, bad);
        expect(judge(all.join(joint), policy).verdict).toBe('deny');
      }),
    );
  });

  test('adding a deny or ask rule never makes a verdict milder', () => {
    const rank = {allow: 0, ask: 1, deny: 2};
    const rule = fc.constantFrom('ls *', 'ls', 'cat x', 'git *', 'unknown *', '*', 'env *');
    fc.assert(
      fc.property(line, rule, fc.constantFrom('ask', 'deny'), (text, match, verdict) => {
        const more = {...policy, rules: [...policy.rules, ...policyOf({[verdict]: [match]}).rules]};
        expect(rank[judge(text, more).verdict]).toBeGreaterThanOrEqual(rank[judge(text, policy).verdict]);
      }),
      runs(1000),
    );
  });

  test.each([
    `git ${'-c a=b '.repeat(140_000)}`,
    `ssh h '${'ls;'.repeat(140_000)}'`,
    `tee ${'x '.repeat(140_000)}`,
    `${'('.repeat(200_000)}`,
    `ls ${'$('.repeat(8000)}`,
    `ls ${'a'.repeat(500_000)}`,
  ])('does not throw on a huge line (%#)', line => {
    const got = judge(line, policyOf({allow: ['git *', 'find *', 'tee *', 'ls *']}));
    expect(got.verdict).toBe('ask');
    expect(riskOf(got).level).not.toBe('LOW');
  });

  test('judges every one of thousands of commands', () => {
    expect(judge(`${'ls;'.repeat(4000)}rm -rf x`, policy).verdict).toBe('deny');
    expect(judge(`${'ls;'.repeat(40_000)}rm -rf x`, policy).verdict).toBe('deny');
    expect(judge('ls;'.repeat(4000), policy).verdict).toBe('allow');
    expect(judge('ls;'.repeat(6000), policy).verdict).toBe('ask');
  });
});

describe('judgeTool', () => {
  test.each<[string, Record<string, Verdict>, Verdict]>([
    ['read_file', {}, 'allow'],
    ['Read', {}, 'allow'],
    ['write_file', {}, 'ask'],
    ['write_file', {write_file: 'allow'}, 'allow'],
    ['Write', {write_file: 'deny'}, 'deny'],
    ['write_file', {Write: 'deny', write_file: 'allow'}, 'deny'],
    ['slack_send', {}, 'ask'],
    ['execute_command', {}, 'ask'],
    ['execute_command', {execute_command: 'allow'}, 'ask'],
    ['bash', {execute_command: 'deny'}, 'deny'],
    ['mcp__github__read', {}, 'ask'],
    ['mcp__github__read', {'mcp__github__*': 'allow'}, 'allow'],
    ['mcp__github__read', {'mcp__github__*': 'allow', mcp__github__read: 'deny'}, 'deny'],
    ['read_file', {'*': 'deny'}, 'deny'],
    ['read_file', {'*': 'deny', Read: 'allow'}, 'allow'],
    ['write_file', {'*_file': 'allow'}, 'allow'],
    ['no_such_tool', {}, 'ask'],
    ['constructor', {}, 'ask'],
  ])('%s with %j: %s', (name, rules, verdict) => {
    expect(judgeTool(name, {...policy, tools: rules}).verdict).toBe(verdict);
  });
});

describe('what the fuzzer found', () => {
  const open = policyOf({allow: ['printf *', 'test *', 'help *', 'break *', 'continue *'], deny: ['rm -rf *']});

  test.each(['printf -v x y', 'printf -vx y', "test -v 'a[b]'", "test -R 'a[b]'", 'help x', 'break', 'continue 2'])(
    'asks about %s, which acts on the shell itself',
    line => {
      expect(judge(line, open).verdict).toBe('ask');
    },
  );

  test.each(['printf %s v', 'test -f v', 'test a = v'])('allows %s', line => {
    expect(judge(line, open).verdict).toBe('allow');
  });

  test.each(['{', '$(', '"$(', '<('])('still denies beside thousands of %s', bracket => {
    expect(judge(`rm -rf x; a ${bracket.repeat(8000)}`.slice(0, 16_000), open).verdict).toBe('deny');
    expect(judge(`a ${bracket.repeat(100)}; rm -rf x`, open).verdict).not.toBe('allow');
  });

  test('a policy that replaces another is not judged by what was found out of that', () => {
    expect(judge('printf x', open).verdict).toBe('allow');
    expect(judge('printf x', {...open, rules: []}).verdict).toBe('ask');
    const some = policyOf({allow: [{match: 'ls *', agents: ['coder-*']}]});
    expect([judge('ls', some, {agent: 'coder-1'}).verdict, judge('ls', some).verdict]).toEqual(['allow', 'ask']);
  });
});
