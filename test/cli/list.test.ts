import {describe, expect, it} from 'vitest';
import {installed, terminal} from '../daemon/terminal.ts';
import {agentdir, main, newHome} from './run.ts';

const session = `session_id: planner-001-abc
agent_id: planner-001
model: gpt-5
created: '2026-01-01T10:00:00.000Z'
updated: '2026-01-01T10:00:09.000Z'
status: sleeping
shared: true
messages:
  - timestamp: '2026-01-01T10:00:00.000Z'
    role: user
    from: human
    content: Is Redis up?
  - timestamp: '2026-01-01T10:00:05.000Z'
    role: assistant
    model: gpt-5
    usage: {input_tokens: 100, output_tokens: 5, cost_usd: 0.01}
    content: I look.
    tool_calls:
      - id: c1
        type: function
        function: {name: execute_command, arguments: '{"command": "docker ps"}'}
        started: '2026-01-01T10:00:06.000Z'
  - timestamp: '2026-01-01T10:00:07.000Z'
    role: tool_result
    tool_call_id: c1
    content: |
      line 1
      line 2
      line 3
      line 4
      line 5
      line 6
      line 7
  - timestamp: '2026-01-01T10:00:09.000Z'
    role: assistant
    content: "It is up. \\e[31m"
`;

const files = {
  'sessions/planner-001-abc.session.yaml': session,
  'sessions/x/young.session.yaml': 'agent_id: executor-001\nmessages:\n  - role: user\n    content: hi\n',
  'sessions/x/failed.session.yaml':
    "agent_id: executor-001\nstatus: error\nerror: no key\nupdated: '2026-01-02T10:00:00.000Z'\nmessages:\n  - role: user\n    content: hi\n",
  'sessions/x/bad.session.yaml': 'agent_id: executor-001\nstatus: actve\nmessages: []\n',
  'tasks/redis.task.md':
    '# Redis\n\n## TODO\n\n- [ ] @planner-001 "Check it"\n  id: task-one\n  prompt: do it\n  - [ ] "Part"\n    id: task-part\n- [ ] "Other"\n  id: task-two\n',
};

describe('agentdir list', () => {
  it('--json: agents and sessions, the latest first', async () => {
    const home = await newHome(files);
    const {code, stdout} = await agentdir(home, ['ls', '--json']);
    expect(code).toBe(0);
    const {agents, sessions} = JSON.parse(stdout) as Record<'agents' | 'sessions', Record<string, unknown>[]>;
    expect(sessions.map(({id, status}) => `${id} ${status}`)).toEqual([
      'failed error',
      'planner-001-abc sleeping',
      'bad wrong',
      'young new',
    ]);
    expect(sessions[1]).toEqual({
      id: 'planner-001-abc',
      agent: 'planner-001',
      status: 'sleeping',
      messages: 4,
      updated: '2026-01-01T10:00:09.000Z',
      shared: true,
      ephemeral: false,
      file: 'sessions/planner-001-abc.session.yaml',
      last: 'assistant: It is up. \u001b[31m',
    });
    expect(agents.find(({id}) => id === 'executor-001')).toMatchObject({error: false, sessions: {error: 1, new: 1}});
  });

  it('is a table, of one agent or status if asked', async () => {
    const home = await newHome(files);
    const {stdout} = await agentdir(home, ['list']);
    expect(stdout).toMatch(/^NAME +SOURCE +STATUS +MODEL +SESSIONS +DESCRIPTION\n/);
    expect(stdout).toMatch(/executor-001 +\(standalone\) +running +default +1 error, 1 new/);
    expect(stdout).toMatch(/│ planner-001-abc \* +│ planner-001 +│ sleeping │ 4 +│ 2026-01-01T10:00:09\.000Z │/);
    expect(stdout).not.toContain('\u001b');
    const failed = (await agentdir(home, ['list', '--status', 'error'])).stdout;
    expect(failed).toContain('failed');
    expect(failed).not.toContain('young');
    expect((await agentdir(home, ['list', '--agent', 'planner'])).stdout).not.toContain('young');
    expect(await agentdir(home, ['list', '--status', 'slepping'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean sleeping?'),
    });
    expect((await agentdir(await newHome(), ['list'])).stdout).toContain('No sessions. Start one: agentdir send');
  });

  it('what agents are for begins in one column', async () => {
    const {stdout} = await agentdir(await newHome(files), ['list']);
    const [, lines = ''] = /^NAME[^\n]*\n(.*?)\n\n/s.exec(stdout) ?? [];
    const starts = lines.split('\n').map(line => line.search(/(?<= {2})[A-Z]/));
    expect(starts.length).toBeGreaterThan(3);
    expect(new Set(starts).size, lines).toBe(1);
  });

  it.runIf(installed('script'))('fits the terminal', async () => {
    const home = await newHome(files);
    const screen = terminal(home, `sh -c 'stty cols 70; exec ${process.execPath} ${main} list'`);
    const table = await screen.shows(/┌[\s\S]*┘/);
    expect(table).toContain('│ planner-001-abc * │ sleeping │ 4 ');
    for (const line of table.split('\r\n')) expect(line.length).toBeLessThanOrEqual(70);
    expect(await screen.exited).toBe(0);
  });
});

describe('agentdir show', () => {
  it('a session as a transcript', async () => {
    const home = await newHome(files);
    const {code, stdout} = await agentdir(home, ['show', 'abc']);
    expect(code).toBe(0);
    expect(stdout).toContain('planner-001-abc @planner-001 sleeping\n  sessions/planner-001-abc.session.yaml\n');
    expect(stdout).toContain('model gpt-5, 4 messages, 100 tokens in, 5 out, $0.0100');
    expect(stdout).toMatch(/\n#1 {2}human {2}2026-01-01 \d\d:00:00\n {2}Is Redis up\?\n/);
    expect(stdout).toContain('  I look.\n  → execute_command {"command": "docker ps"}\n');
    expect(stdout).toMatch(/\n#3 {2}result of execute_command .*\n {2}line 1\n/);
    expect(stdout).toContain('line 6…');
    expect(stdout).not.toContain('line 7');
    expect(stdout).toContain('It is up. ⟨U+001B⟩[31m');
    const json = JSON.parse((await agentdir(home, ['show', 'abc', '--json'])).stdout) as {messages: unknown[]};
    expect(json).toMatchObject({kind: 'session', agent_id: 'planner-001'});
    expect(json.messages).toHaveLength(4);
  });

  it('a task with its children and its place, an approval, an agent; or says what it may be', async () => {
    const home = await newHome({
      ...files,
      'tasks/approvals.task.md': '# Approvals\n\n## TODO\n\n- [_] "Approve command: ls"\n  id: approval-7\n',
      'approvals/pending/approval-7.approval.md': '# The page\n',
    });
    expect((await agentdir(home, ['show', 'task-one'])).stdout).toBe(
      'tasks/redis.task.md:5\n- [ ] @planner-001 "Check it"\n  id: task-one\n  prompt: do it\n  - [ ] "Part"\n    id: task-part\n\npending\nthe daemon delivers it to planner-001\n',
    );
    expect((await agentdir(home, ['show', 'approval-7'])).stdout).toBe(
      'approvals/pending/approval-7.approval.md:1\n# The page\n\ntasks/approvals.task.md:5\n- [_] "Approve command: ls"\n  id: approval-7\n',
    );
    expect(JSON.parse((await agentdir(home, ['show', 'task-part', '--json'])).stdout)).toEqual({
      id: 'task-part',
      kind: 'task',
      task: expect.objectContaining({id: 'task-part', parent: 'task-one', ready: false}),
      next: ['it has no assignee: agentdir task assign task-part AGENT'],
      needed_by: [],
      places: [{file: 'tasks/redis.task.md', line: 8, text: '  - [ ] "Part"\n    id: task-part'}],
    });
    expect((await agentdir(home, ['show', 'retriever'])).stdout).toContain('┌─ retriever-001 ─');
    expect(await agentdir(home, ['show', 'task-'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is ambiguous: task-one, task-part, task-two'),
    });
    expect(await agentdir(home, ['show', 'bad'])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('sessions/x/bad.session.yaml:2'),
    });
  });
});
