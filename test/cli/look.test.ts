import {describe, expect, it} from 'vitest';
import {agentdir, newHome} from './run.ts';

const redis = `# Redis

## TODO

- [x] A @planner-001 #redis "Plan Redis check workflow"
  id: task-001
  created: 2025-10-04T10:00:00Z
  completed: 2025-10-04T10:05:00Z

  - [ ] B @retriever-001 #system #docker "Detect container runtime"
    id: task-002
    assigned: 2025-10-04T10:05:00Z

  - [ ] C @executor-001 @human "Check Redis container status"
    id: task-003
    depends_on: task-002, task-001

- [ ] @human "Look at it"
- [/] bare title
`;

describe('agentdir tasks', () => {
  it('--json prints the rows of FORMATS', async () => {
    const home = await newHome({'tasks/redis.task.md': redis});
    const {code, stdout} = await agentdir(home, ['tasks', '--json']);
    expect(code).toBe(0);
    const rows = JSON.parse(stdout) as Record<string, unknown>[];
    expect(rows).toHaveLength(5);
    expect(rows[0]).toEqual({
      id: 'task-001',
      file: 'tasks/redis.task.md',
      line: 5,
      title: 'Plan Redis check workflow',
      state: 'completed',
      priority: 'A',
      assignee: 'planner-001',
      tags: 'redis',
      parent: null,
      depends_on: null,
      ready: false,
      blocked_by: null,
      created: '2025-10-04T10:00:00Z',
      created_by: null,
      assigned: null,
      started: null,
      completed: '2025-10-04T10:05:00Z',
      due: null,
    });
    expect(rows[1]).toMatchObject({id: 'task-002', parent: 'task-001', ready: true, tags: 'system docker'});
    expect(rows[2]).toMatchObject({
      id: 'task-003',
      assignee: 'executor-001 human',
      depends_on: 'task-002 task-001',
      blocked_by: 'task-002',
      ready: false,
    });
    expect(rows[3]).toMatchObject({id: null, assignee: 'human', ready: false, state: 'pending'});
    expect(rows[4]).toMatchObject({state: 'in_progress', title: 'bare title'});
  });

  it('shows the tree, and why a task does not move', async () => {
    const home = await newHome({'tasks/redis.task.md': redis});
    const {stdout} = await agentdir(home, ['tasks']);
    expect(stdout).toBe(`tasks/redis.task.md
  [x] A @planner-001 #redis Plan Redis check workflow task-001
    [ ] B @retriever-001 #system #docker Detect container runtime task-002  ready
    [ ] C @executor-001 @human Check Redis container status task-003  waits for task-002 (pending)
  [ ] @human Look at it  waits for you
  [/] bare title

5 tasks, 1 ready, 1 in progress, 1 completed, 0 blocked
`);
  });

  it('says all that is in the way of each', async () => {
    const home = await newHome({
      'tasks/a.task.md': `## TODO
- [x] @planner-001 "done"
  id: done
- [/] @planner-001 "under way"
  id: way
- [-] @planner-001 "not done"
  id: not
- [ ] @planner-001 "a"
  depends_on: done, way, not
- [ ] @planner-001 @human "b"
  approval_required: true
- [ ] "c"
- [!] @planner-001 "d"
  notes:
    - 2025-10-04T10:00:00Z @planner-001: the disk is full
- [!] @human "e"
- [ ] "f"
  assign: new:general-purpose
- [ ] @human @planner-001 "i"
- [ ] @buildbox/planner-001 "j"
- [/] @planner-001 "k"
  id: elsewhere
  assigned: 2025-10-04T10:05:00Z
`,
      'tasks/b.task.md':
        '## TODO\n- [ ] @planer-001 "g"\n  depends_on: nothing\n- [ ] "h"\n  assign: new:nobody-here\n',
    });
    const {stdout} = await agentdir(home, ['tasks']);
    const why = Object.fromEntries(
      [...stdout.matchAll(/ ([a-k])(?: elsewhere)? {2}(.*)$/gm)].map(([, title, words]) => [title, words]),
    );
    expect(why).toEqual({
      a: 'waits for way (in progress), not (skipped, so forever)',
      b: 'ready; needs your approval before it starts',
      c: 'nobody is assigned',
      d: 'blocked: the disk is full',
      e: 'blocked without a reason; waits for you',
      f: 'ready',
      i: 'waits for you',
      j: '@buildbox/planner-001 is in another home, and agentdir.yaml names no NATS server, so nothing gets there',
      g: '@planer-001 is not an agent; listed under people?; waits for nothing (no such task)',
      h: 'there is no template nobody-here',
      k: 'begun elsewhere: no session of this home works on it; to deliver it: agentdir task reopen elsewhere',
    });
  });

  it('nothing in a file with errors is ready; an error of one task concerns that one', async () => {
    const home = await newHome({
      'tasks/a.task.md': '## TODO\n- [ ] @planner-001 "a"\n```\n',
      'tasks/b.task.md': '## TODO\n- [ ] @planner-001 "b"\n- [ ] @nobody "c"\n- [ ] @planner-001 "d"\n  parent: x\n',
    });
    const rows = JSON.parse((await agentdir(home, ['tasks', '--json'])).stdout) as {ready: boolean}[];
    expect(rows.map(row => row.ready)).toEqual([false, true, false, false]);
    const {stdout} = await agentdir(home, ['tasks']);
    expect(stdout).toContain('has errors, so its tasks are not processed');
    expect(stdout).toContain('d  has an error: agentdir check');
  });

  it('tells a newcomer what to write, and leaves approvals out', async () => {
    const home = await newHome();
    const {stdout} = await agentdir(home, ['tasks']);
    expect(stdout).toContain('No tasks. Write one into tasks/NAME.task.md');
  });
});

describe('agentdir agent', () => {
  it('draws the table with ✓ ✗ ⚠', async () => {
    const home = await newHome({
      'templates/broken.agent.md': '## Description\nx\n',
      'templates/odd.agent.md': '---\nname: odd\ndescription: Odd one\ntools: Read, Teleport\n---\nBe odd.\n',
    });
    const {stdout} = await agentdir(home, ['agent']);
    expect(stdout).toMatch(/│ Name +│ Description +│ Tools │ Status │/);
    expect(stdout).toMatch(/│ planner-001 +│ .+│ 11 +│ ✓ +│/);
    expect(stdout).toMatch(/│ broken +│ +│ 0 +│ ✗ +│/);
    expect(stdout).toMatch(/│ odd +│ Odd one +│ 2 +│ ⚠ +│/);
    const widths = new Set(
      stdout
        .split('\n')
        .filter(line => /^[┌│├└]/.test(line))
        .map(line => [...line].length),
    );
    expect(widths.size).toBe(1);
  });

  it('shows one agent, by any unique part of its name', async () => {
    const home = await newHome();
    const {stdout} = await agentdir(home, ['agent', '@general']);
    expect(stdout).toContain('┌─ general-purpose ─');
    expect(stdout).toMatch(/│ Allowed Tools: read, list, fetch, grep, glob, search_files, ask_human +│/);
    expect(stdout).toMatch(/│ Status: ✓ Valid +│/);
    expect(stdout).toContain('File: templates/general-purpose.agent.md');
    expect(await agentdir(home, ['agent', '001'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('could be'),
    });
    expect(await agentdir(home, ['agent', 'planer-001'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean planner-001?'),
    });
  });

  it('says what is wrong with one', async () => {
    const home = await newHome({'templates/broken.agent.md': '## Description\nx\n'});
    const {stdout} = await agentdir(home, ['agent', 'broken']);
    expect(stdout).toContain('✗ Not valid');
    expect(stdout).toContain('expected a section "## System Prompt", found none');
    const json = JSON.parse((await agentdir(home, ['agent', 'broken', '--json'])).stdout) as {status: string};
    expect(json.status).toBe('error');
  });
});

describe('agentdir policy', () => {
  it('explains a verdict and runs the embedded tests of the shipped policy', async () => {
    const home = await newHome();
    const denied = JSON.parse((await agentdir(home, ['policy', 'explain', 'ls; rm -rf /', '--json'])).stdout) as {
      verdict: string;
      segments: unknown[];
    };
    expect(denied.verdict).toBe('deny');
    expect(denied.segments).toHaveLength(2);
    expect((await agentdir(home, ['policy', 'explain', 'ls -la'])).stdout).toMatch(/^allow {2}ls -la/);
    expect(await agentdir(home, ['policy', 'test'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\d\d tests, 0 failed/),
    });
  });
});
