import {mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {agentdir, environment, newHome, temporary} from './run.ts';

describe('agentdir check', () => {
  it('prints problems as a compiler does, with excerpt, caret and remedy, and exits 4', async () => {
    const home = await newHome({'sessions/s.session.yaml': 'agent_id: planner-001\nstatus: actve\nmessages: []\n'});
    const {code, stdout} = await agentdir(home, ['check']);
    expect(code).toBe(4);
    expect(
      stdout,
    ).toBe(`sessions/s.session.yaml:2:9: error BAD_STATUS: status: expected active | waiting | sleeping | paused | completed | error, got "actve"
  1 | agent_id: planner-001
  2 | status: actve
    |         ^
  = did you mean "active"?

1 error in 1 file (19 checked)
`);
  });

  it('exits 0 with warnings only', async () => {
    const home = await newHome({
      'templates/x.agent.md': '## Description\nx\n## Allowed Tools\n- read\n- raed_file\n## System Prompt\nx\n',
    });
    const {code, stdout} = await agentdir(home, ['check']);
    expect(code).toBe(0);
    expect(stdout).toContain('templates/x.agent.md:5:3: warning UNKNOWN_TOOL');
    expect(stdout).toContain('did you mean "read_file"?');
    expect(stdout).toContain('1 warning in 1 file');
  });

  it('finds what is wrong across files', async () => {
    const home = await newHome({
      'tasks/a.task.md':
        '## TODO\n\n- [ ] @planner-01 "One"\n  id: one\n  depends_on: two, nope\n- [ ] @human "Two"\n  id: two\n  depends_on: three\n',
      'tasks/b.task.md':
        '## TODO\n\n- [ ] @human "Three"\n  id: three\n  depends_on: one\n- [ ] @human "Again"\n  id: one\n',
      'sessions/x.session.yaml':
        'agent_id: nobody\nmessages:\n  - role: tool_result\n    tool_call_id: c\n    content: x\n',
      'allowlist.yaml': 'version: 1\ncommands: {allow: ["ls *"]}\ntests:\n  - {run: "ls; rm x", expect: allow}\n',
      'tasks/approvals.task.md': '# Approvals\n',
      'approvals/pending/a-1.approval.md': '# Approval Request: a-1\n\n## Review\n\n**Decision:**\n',
    });
    const {code, stdout} = await agentdir(home, ['check', '--json']);
    expect(code).toBe(4);
    const {problems} = JSON.parse(stdout) as {problems: {code: string; file: string; line: number; message: string}[]};
    const seen = problems.map(p => `${p.file}:${p.line} ${p.code}`);
    expect(seen).toEqual([
      'allowlist.yaml:4 ALLOWLIST_TEST_FAILED',
      'approvals/pending/a-1.approval.md:1 ORPHANED_APPROVAL',
      'sessions/x.session.yaml:1 MISSING_TEMPLATE',
      'sessions/x.session.yaml:4 STRAY_RESULT',
      'tasks/a.task.md:3 UNKNOWN_AGENT',
      'tasks/a.task.md:5 DEPENDENCY_CYCLE',
      'tasks/a.task.md:5 UNKNOWN_DEPENDENCY',
      'tasks/b.task.md:7 DUPLICATE_ID',
    ]);
    expect(problems.find(p => p.code === 'DEPENDENCY_CYCLE')?.message).toContain('one → two → three → one');
    for (const problem of problems)
      expect(Object.keys(problem)).toEqual(['code', 'severity', 'file', 'line', 'column', 'message', 'hint']);
  });

  it('checks some files only, named from anywhere', async () => {
    const home = await newHome({'sessions/s.session.yaml': 'agent_id: planner-001\nstatus: actve\n'});
    expect((await agentdir(home, ['check', 'agentdir.yaml', 'templates'])).code).toBe(0);
    expect((await agentdir(join(home, 'sessions'), ['check', 's.session.yaml'])).code).toBe(4);
    expect((await agentdir('/', ['check', '--home', home, join(home, 'sessions')])).code).toBe(4);
    expect(await agentdir(home, ['check', 'schemas'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('nothing to check'),
    });
    expect(await agentdir(home, ['check', 'nope.yaml'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('does not exist'),
    });
    expect(await agentdir(home, ['check', '.gitignore'])).toMatchObject({code: 2});
  });

  it('says so for bytes that are not UTF-8, and for leftovers of editors nothing', async () => {
    const home = await newHome({
      'sessions/.s.session.yaml.swp': 'x',
      'sessions/s.session.yaml~': 'x: [',
      'sessions/4913': '',
      'tasks/#a.task.md#': '- [y] x',
    });
    expect((await agentdir(home, ['check'])).code).toBe(0);
    const {writeFileSync} = await import('node:fs');
    writeFileSync(join(home, 'tasks/latin.task.md'), Buffer.from('## TODO\n- [ ] caf\xe9\n', 'latin1'));
    const {code, stdout} = await agentdir(home, ['check']);
    expect(code).toBe(4);
    expect(stdout).toContain('tasks/latin.task.md:2:1: error NOT_UTF8');
  });
});

describe('agentdir', () => {
  it('says which home it uses if AGENTDIR_HOME is not the home in the current folder', async () => {
    const [here, other] = await Promise.all([newHome(), newHome()]);
    const env = {...environment, AGENTDIR_HOME: other};
    const used = await agentdir(join(here, 'tasks'), ['status', '--json'], env);
    expect(JSON.parse(used.stdout)).toMatchObject({home: other});
    expect(used.stderr).toBe(
      `using ${other} because AGENTDIR_HOME is set. For the home in this folder: --home ${here}\n`,
    );
    expect((await agentdir(here, ['status'], {...environment, AGENTDIR_HOME: here})).stderr).toBe('');
    expect((await agentdir(here, ['status', '--home', other], env)).stderr).toBe('');
    expect((await agentdir(temporary(), ['status'], env)).stderr).toBe('');
  });

  it('finds the home above, by --home and by AGENTDIR_HOME, and says what to do if there is none', async () => {
    const home = await newHome();
    mkdirSync(join(home, 'workspaces/deep/er'), {recursive: true});
    expect((await agentdir(join(home, 'workspaces/deep/er'), ['check'])).code).toBe(0);
    const away = temporary();
    expect((await agentdir(away, ['check'], {...environment, AGENTDIR_HOME: home})).code).toBe(0);
    expect(await agentdir(away, ['check'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('agentdir init'),
    });
    expect(await agentdir(away, ['check', '--home', join(away, 'nope')])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('does not exist'),
    });
  });

  it('explains wrong usage with exit 2, help and version with 0', async () => {
    const dir = temporary();
    expect(await agentdir(dir, ['chek'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean check?'),
    });
    expect((await agentdir(dir, ['check', '--nope'])).code).toBe(2);
    expect((await agentdir(dir, ['--help'])).stdout).toContain('Start here:');
    expect((await agentdir(dir, ['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect((await agentdir(dir, [])).code).toBe(2);
  });

  it('writes no colours into a pipe', async () => {
    const home = await newHome({'sessions/s.session.yaml': 'agent_id: 1\n'});
    // biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence is what must not be there
    expect((await agentdir(home, ['check'])).stdout).not.toMatch(/\u001b/);
  });
});
