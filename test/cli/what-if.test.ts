import {rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {agentdir, git, newHome, put, startAgentdir} from './run.ts';

interface Call {
  id: string;
  name: string;
  args: Record<string, unknown>;
}

const bash = (id: string, command: string, name = 'execute_command'): Call => ({id, name, args: {command}});

function session(agent: string, calls: readonly Call[], updated = '2026-01-02T03:04:05.000Z'): string {
  const messages = calls.map(
    ({id, name, args}, i) =>
      `  - timestamp: 2026-01-02T03:04:${String(10 + i)}.000Z\n    role: assistant\n    content: null\n    tool_calls:\n      - id: ${id}\n        type: function\n        function:\n          name: ${name}\n          arguments: ${JSON.stringify(JSON.stringify(args))}\n`,
  );
  return `agent_id: ${agent}\nupdated: ${updated}\nmessages:\n  - role: user\n    content: Go\n${messages.join('')}`;
}

const policy = `version: 1
commands:
  allow: ["ls *", "git log *", {match: "docker ps *", sandbox: host}]
  deny: ["rm -rf *"]
tools: {write_file: ask, slack_read: allow}
network: {allow: ["https://docs.example.com/**"]}
`;
const next = `version: 1
commands:
  allow: ["ls *", "make test", "docker ps *", {match: "npm test", agents: ["coder-*"]}]
  deny: ["rm -rf *", "git log -p *"]
tools: {write_file: allow, slack_read: allow}
network: {allow: ["https://docs.example.com/**", "https://api.example.com/**"]}
tests:
  - {run: "ls", expect: allow}
`;

interface Result {
  commands: number;
  calls: number;
  changed: {
    command: string;
    agent: string;
    session: string;
    call: string;
    count: number;
    before: string;
    after: string;
    rule: string | null;
    reasons: string[];
    grants?: object;
  }[];
  tools: {tool: string; before: string; after: string; count: number}[];
  tests: {tests: number; failed: unknown[]};
}

async function result(home: string, ...args: string[]): Promise<Result> {
  const {stdout, stderr, code} = await agentdir(home, [
    'policy',
    'what-if',
    '--allowlist',
    'new.yaml',
    '--json',
    ...args,
  ]);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Result;
}

const commit = async (home: string): Promise<void> => {
  await git(home, 'add', '-A', 'sessions', 'allowlist.yaml');
  await git(home, 'commit', '-qm', 'by hand');
};

describe('agentdir policy what-if', () => {
  it('re-judges what sessions hold, held once, or had in files now gone', async () => {
    const home = await newHome({'allowlist.yaml': policy, 'new.yaml': next});
    const grown = [bash('g1', 'ls -la'), bash('g2', 'make test'), bash('g3', 'make test', 'Bash')];
    for (let i = 1; i <= grown.length; i++) {
      put(home, {
        'sessions/grown.session.yaml': session('coder-001', grown.slice(0, i), `2026-01-02T03:05:0${i}.000Z`),
      });
      await commit(home);
    }
    put(home, {
      'sessions/cut.session.yaml': session('coder-001', [bash('c1', 'git log -3'), bash('c2', 'npm test')]),
      'sessions/gone.session.yaml': session('planner-001', [bash('d1', 'npm test'), bash('d2', 'git log -p')]),
      'sessions/archive/old.1.session.yaml': session('planner-001', [bash('a1', 'docker ps')]),
    });
    await commit(home);
    put(home, {'sessions/cut.session.yaml': session('coder-001', [bash('c2', 'npm run test')])});
    rmSync(join(home, 'sessions/gone.session.yaml'));
    await commit(home);
    // Not committed, with a message less; and one that git does not know.
    put(home, {
      'sessions/grown.session.yaml': session('coder-001', [...grown.slice(0, 2), bash('g4', 'make test')]),
      'sessions/new.session.yaml': session('planner-001', [
        bash('n1', 'rm -rf x'),
        bash('n2', 'echo \u001b[31m\u202ex; make test'),
        {id: 'n3', name: 'Write', args: {path: 'a', content: 'b'}},
        {id: 'n4', name: 'write_file', args: {path: 'a', content: 'b'}},
        {id: 'n5', name: 'fetch', args: {url: 'https://api.example.com/x'}},
        {id: 'n6', name: 'fetch', args: {url: 'https://other.example.com/x'}},
        {id: 'n7', name: 'slack_read', args: {}},
        {id: 'n8', name: 'bash', args: {no: 'command'}},
      ]),
    });
    const {commands, calls, changed, tools, tests} = await result(home);
    const rows = changed.map(({command, agent, count, before, after}) => [command, agent, count, before, after]);
    expect(rows).toEqual([
      ['make test', 'coder-001', 3, 'ask', 'allow'],
      ['npm test', 'coder-001', 1, 'ask', 'allow'],
      ['docker ps', 'planner-001', 1, 'allow', 'allow'],
      ['git log -3', 'coder-001', 1, 'allow', 'ask'],
      ['git log -p', 'planner-001', 1, 'allow', 'deny'],
    ]);
    expect(changed[0]).toMatchObject({
      session: 'grown',
      call: 'g3',
      rule: 'make test',
      reasons: [expect.stringContaining('make test')],
    });
    expect(changed[2]).toMatchObject({session: 'old', grants: {before: 'sandbox: host', after: ''}});
    expect([commands, calls]).toEqual([10, 12]);
    expect(tools.map(({tool, before, after, count}) => [tool, before, after, count])).toEqual([
      ['write_file', 'ask', 'allow', 2],
      ['fetch', 'ask', 'allow', 1],
    ]);
    expect(tests).toEqual({tests: 1, failed: []});
    expect((await result(home, '--agent', 'coder-001')).changed.map(({command}) => command)).toEqual([
      'make test',
      'npm test',
      'git log -3',
    ]);

    const human = await agentdir(home, ['policy', 'what-if', '--allowlist', 'new.yaml']);
    expect(human.code).toBe(0);
    expect(human.stdout).toMatch(/^ask → allow: 2 commands, 4 calls\n/);
    expect(human.stdout).toMatch(/│ make test +│ coder-001 +│ 3 +│ grown, .*│ make test +│/);
    expect(human.stdout).toContain('allow (sandbox: host) → allow: 1 command, 1 call');
    expect(human.stdout).toMatch(/│ write_file +│ ask +│ allow +│ 2 /);
    expect(human.stdout).toContain('10 commands in the journal (12 calls): 5 would change, 5 would not');
    expect(human.stdout).toContain('1 test, 0 failed');
    const count = Number(await git(home, 'rev-list', '--count', 'HEAD'));
    expect(human.stdout).toContain(`looked at 5 sessions, in the files and in ${count} commits of HEAD's history`);

    // What another branch has is not looked at, and the report does not hide it.
    await git(home, 'checkout', '-q', '--orphan', 'empty');
    rmSync(join(home, 'sessions'), {recursive: true});
    expect(await result(home)).toMatchObject({commands: 0, sessions: 0, commits: 0});
  });

  it('reads the version before one with errors, and a side branch that a merge dropped', async () => {
    const home = await newHome({'allowlist.yaml': policy, 'new.yaml': next});
    const text = session('coder-001', [bash('e1', 'make test')]);
    put(home, {'sessions/e.session.yaml': text});
    await commit(home);
    await git(home, 'checkout', '-qb', 'side');
    put(home, {'sessions/side.session.yaml': session('coder-001', [bash('s1', 'npm test')])});
    await commit(home);
    await git(home, 'checkout', '-q', '-');
    put(home, {'sessions/e.session.yaml': text.replace('messages:', 'status: actve\nmessages:')});
    await commit(home);
    await git(home, 'merge', '-q', '--no-ff', '-s', 'ours', '-m', 'merged', 'side');
    const {changed} = await result(home);
    expect(changed.map(({command, session}) => [command, session]).sort()).toEqual([
      ['make test', 'e'],
      ['npm test', 'side'],
    ]);
  });

  it('shows nothing raw that could move the cursor or reorder the text', async () => {
    const home = await newHome({
      'allowlist.yaml': policy,
      'new.yaml': 'version: 1\ncommands: {deny: ["ls *"]}\n',
      'sessions/odd.session.yaml': session('coder-001', [bash('o1', 'ls \u001b[2J\u202e\u0007\nls')]),
    });
    const out = ['policy', 'what-if', '--allowlist', 'new.yaml'];
    for (const args of [
      out,
      [...out, '--json'],
      ['policy', 'explain', 'ls \u001b[2J\u202e', '--json'],
      ['policy', 'explain', 'ls \u001b[2J\u202e'],
    ]) {
      const {stdout, code} = await agentdir(home, args);
      expect(code).toBe(0);
      expect(stdout).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
      expect(stdout).toMatch(/202e/i);
    }
  });

  it('a new file with errors, with failing tests, from standard input, or not there', async () => {
    const home = await newHome({'bad.yaml': 'version: 1\ncommands: {allow: ["* x"]}\n'});
    const bad = await agentdir(home, ['policy', 'what-if', '--allowlist', 'bad.yaml']);
    expect(bad).toMatchObject({code: 4, stdout: expect.stringMatching(/^bad\.yaml:2:\d+: error BAD_RULE: /)});
    const json = await agentdir(home, ['policy', 'what-if', '--allowlist', 'bad.yaml', '--json']);
    expect([json.code, JSON.parse(json.stdout)]).toEqual([
      4,
      {problems: [expect.objectContaining({code: 'BAD_RULE', file: 'bad.yaml'})]},
    ]);
    const failing = startAgentdir(
      home,
      ['policy', 'what-if', '--allowlist', '-'],
      'version: 1\ntests: [{run: ls, expect: allow}]\n',
    );
    expect(await failing.ended).toMatchObject({code: 4, stdout: expect.stringContaining('1 test, 1 failed')});
    const none = await agentdir(home, ['policy', 'what-if', '--allowlist', 'none.yaml']);
    expect(none).toMatchObject({code: 1, stderr: expect.stringContaining('none.yaml does not exist\n  make one')});
    expect((await agentdir(home, ['policy', 'what-if'])).code).toBe(2);
  });
});

describe('agentdir policy explain', () => {
  it('takes a line, the words of a command, or standard input, and tells what is granted', async () => {
    const home = await newHome();
    const explained = async (...words: string[]) =>
      JSON.parse((await agentdir(home, ['policy', 'explain', ...words, '--json'])).stdout) as {
        verdict: string;
        segments: Record<string, unknown>[];
      };
    expect(await explained('ls', '-la', "it's", 'a b')).toMatchObject({
      verdict: 'allow',
      segments: [{argv: ['ls', '-la', "it's", 'a b']}],
    });
    expect((await explained('docker ps')).segments[0]).toMatchObject({verdict: 'allow', sandbox: 'host'});
    expect((await explained('ls -la')).segments[0]).not.toHaveProperty('sandbox');
    expect((await agentdir(home, ['policy', 'explain', 'docker ps'])).stdout).toContain('sandbox: host');
    writeFileSync(
      join(home, 'allowlist.yaml'),
      'version: 1\ncommands: {allow: [{match: "curl *", network: true, agents: ["executor-*"]}]}\n',
    );
    const read = startAgentdir(home, ['policy', 'explain', '-', '--agent', 'executor-01'], 'curl x | curl y\n');
    expect(await read.ended).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^allow {2}curl x \| curl y\n[\s\S]*network: true/),
      stderr: expect.stringContaining('there is no agent "executor-01"; did you mean executor-001?'),
    });
    expect((await agentdir(home, ['policy', 'explain', 'curl x', '--agent', 'planner-001'])).stdout).toMatch(/^ask /);
  });
});
