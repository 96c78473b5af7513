import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, it} from 'vitest';
import {parseHome} from '../../src/check/home.ts';
import {checkHome} from '../../src/check/index.ts';
import {namesOf} from '../../src/check/names.ts';
import {taskRows} from '../../src/check/rows.ts';
import {parseApproval, stringifyApproval} from '../../src/formats/approval/approval.ts';
import {setReview} from '../../src/formats/approval/approval-edit.ts';
import {readApprovalItems} from '../../src/formats/approval/approval-item.ts';
import {kindOf} from '../../src/formats/common/key.ts';
import {parseSession, sessionText} from '../../src/formats/session/session.ts';
import {fieldOf, parentId, stringifyTasks, type Task, type TaskFile} from '../../src/formats/task/task.ts';
import {addTask, appendNote, updateTask} from '../../src/formats/task/task-edit.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {parseTemplate, stringifyTemplate} from '../../src/formats/template.ts';

const fixtures = fileURLToPath(new URL('../fixtures/seed-002/', import.meta.url));
const seeds = fileURLToPath(new URL('../../../shared/seeds/', import.meta.url));

function read(name: string): string {
  return readFileSync(join(fixtures, name), 'utf8');
}

/** Everything a task's author wrote, in one value. */
function seen(task: Task) {
  return {
    line: task.line,
    box: task.box,
    state: task.state,
    priority: task.priority,
    names: task.names,
    tags: task.tags,
    title: task.title,
    fields: Object.fromEntries(task.fields.map(({key, value}) => [key, value])),
    parent: task.parent?.line,
    children: task.children.map(child => child.line),
  };
}

function taskNamed(file: TaskFile, title: string | RegExp): Task {
  const found = file.tasks.find(task => (typeof title === 'string' ? task.title === title : title.test(task.title)));
  if (!found) throw new Error(`no task ${title}`);
  return found;
}

describe('the fixtures are the document', () => {
  const copied = readdirSync(fixtures).filter(name => name !== 'todo-tool.task.md');

  it.skipIf(!existsSync(seeds)).each(copied)('%s stands in it, byte for byte', name => {
    const seed = readdirSync(seeds).find(file => file.startsWith('002'));
    expect(readFileSync(join(seeds, seed ?? '002'), 'utf8')).toContain(`\n${read(name)}`);
  });

  it('names the folders of the home as the seed draws them', () => {
    const drawn = {
      'templates/planner-001.agent.yaml': 'template',
      'sessions/planner-001-abc123.session.yaml': 'session',
      'tasks/approvals.task.md': 'tasks',
      'tasks/research.task.md': 'tasks',
      'approvals/pending/exec-20251004-001.approval.md': 'approval',
      'inbox/slack-messages.jsonl': 'inbox',
      'memory/team-prefs.md': 'memory',
    };
    expect(Object.fromEntries(Object.keys(drawn).map(path => [path, kindOf(path)]))).toEqual(drawn);
  });
});

describe('the agent template', () => {
  const text = read('planner-001.agent.yaml');

  it('is read whole, the prompt with its trailing space, the times as text', () => {
    const file = parseTemplate(text, 'planner-001');
    expect(file.problems).toEqual([]);
    expect(file.value).toEqual({
      id: 'planner-001',
      type: 'planner',
      model: 'claude-sonnet-4.5',
      system_prompt:
        'You are a task planning agent. Your role is to decompose high-level \n' +
        'objectives into structured, actionable sub-tasks...\n',
      capabilities: ['create_task', 'query_tasks', 'send_message', 'read_file'],
      metadata: {version: '1.0', created: '2025-10-04T10:00:00Z'},
    });
    expect(file.capabilities.map(({line, column}) => [line, column])).toEqual([
      [8, 5],
      [9, 5],
      [10, 5],
      [11, 5],
    ]);
    expect(stringifyTemplate(file)).toBe(text);
  });
});

describe('the session', () => {
  const text = read('planner-001-abc123.session.yaml');

  it('is read whole', () => {
    const session = parseSession(text);
    expect(session.problems).toEqual([]);
    expect(session.header).toEqual({
      session_id: 'planner-001-abc123',
      agent_id: 'planner-001',
      agent_type: 'planner',
      model: 'claude-sonnet-4.5',
      system_prompt: 'You are a task planning agent...\n',
      created: '2025-10-04T10:00:00Z',
      updated: '2025-10-04T10:05:00Z',
      status: 'active',
      metadata: {},
    });
    expect(session.messages).toEqual([
      {
        timestamp: '2025-10-04T10:05:23.000Z',
        role: 'user',
        content: 'A message arrived from Slack: "Can you check if Redis is running?"',
      },
      {
        timestamp: '2025-10-04T10:05:45.000Z',
        role: 'assistant',
        content: 'I will break this down into steps...',
        tool_calls: [
          {
            id: 'call_123',
            type: 'function',
            function: {
              name: 'create_task',
              arguments: '{"file":"tasks/redis-check.task.md","content":"..."}',
            },
          },
        ],
      },
      {
        timestamp: '2025-10-04T10:05:47.000Z',
        role: 'tool_result',
        content: '{"success": true, "task_ids": ["task-abc123"]}',
        tool_call_id: 'call_123',
      },
    ]);
    expect(sessionText(session)).toBe(text);
  });

  it('is cut at its messages, with metadata below them', () => {
    const session = parseSession(text);
    expect(session.items).toHaveLength(3);
    expect(session.foot).toBe('metadata: {}\n');
  });
});

const description = `Approval Request: terminal_command
Risk Level: MEDIUM
Risk Factors:
  - System-modifying command: docker

Details:
  Command: docker ps

To approve: Update this task:
  1. Change [_] to [x]
  2. Add: approved_by: <your-name>
  3. Add: approved_at: <timestamp>

To reject: Update this task:
  1. Change [_] to [-]
  2. Add: rejected_by: <your-name>
  3. Add: rejection_reason: <reason>`;

describe('the item in approvals.task.md', () => {
  const text = read('approvals.task.md');
  const itemOf = (edited: string) => {
    const file = parseTasks(edited);
    const {items, problems} = readApprovalItems(file);
    expect([...file.problems, ...problems]).toEqual([]);
    expect(items).toHaveLength(1);
    const [item] = items;
    if (!item) throw new Error('no item');
    return item;
  };

  it('waits, with every field and the block as it stands', () => {
    const {task, ...item} = itemOf(text);
    expect(item).toEqual({
      id: 'approval-1759622866331-8228eefd',
      type: 'terminal_command',
      agent: 'executor-001',
      status: 'pending',
      decision: undefined,
      by: undefined,
      at: undefined,
      reason: undefined,
      always: false,
    });
    expect(seen(task)).toEqual({
      line: 3,
      box: '_',
      state: 'pending',
      priority: 'A',
      names: ['human'],
      tags: ['approval'],
      title: 'Approve command: docker ps',
      fields: {
        id: 'approval-1759622866331-8228eefd',
        type: 'approval_request',
        approval_type: 'terminal_command',
        agent: 'executor-001',
        created: '2025-10-05T00:07:46.331Z',
        risk: 'MEDIUM',
        status: 'pending',
        description,
      },
      parent: undefined,
      children: [],
    });
    expect(parseTasks(text).tasks).toHaveLength(1);
    expect(stringifyTasks(parseTasks(text))).toBe(text);
  });

  it('is approved by [x] and approved_by, as the seed tells the person', () => {
    const edited = text
      .replace('- [_]', '- [x]')
      .replace('  status: pending\n', '  status: pending\n  approved_by: yourname\n  approved_at: 2025-10-05 00:09\n');
    expect(itemOf(edited)).toMatchObject({decision: 'approved', by: 'yourname', at: '2025-10-05 00:09'});
  });

  it('is approved by the same lines added below the block', () => {
    const edited = `${text.replace('- [_]', '- [x]')}  approved_by: yourname\n`;
    const item = itemOf(edited);
    expect(item).toMatchObject({decision: 'approved', by: 'yourname'});
    expect(fieldOf(item.task, 'description')).toBe(description);
  });

  it('is rejected by [-] and rejection_reason', () => {
    const edited = `${text.replace('- [_]', '- [-]')}  rejected_by: me\n  rejection_reason: not now: "later"\n`;
    expect(itemOf(edited)).toMatchObject({decision: 'rejected', by: 'me', reason: 'not now: "later"'});
  });

  it('the box alone decides: a name or a status without it decides nothing', () => {
    const edited = `${text.replace('status: pending', 'status: approved')}  approved_by: yourname\n`;
    expect(itemOf(edited)).toMatchObject({decision: undefined, status: 'approved'});
    expect(itemOf(text.replace('- [_]', '- [ ]')).decision).toBeUndefined();
    expect(itemOf(text.replace('- [_]', '- [X]')).decision).toBe('approved');
  });

  it.each(['/', '!'])('[%s] is unclear and decides nothing', mark => {
    const file = parseTasks(text.replace('[_]', `[${mark}]`));
    const {items, problems} = readApprovalItems(file);
    expect(items[0]?.decision).toBeUndefined();
    expect(problems).toMatchObject([{code: 'UNCLEAR_DECISION', line: 3, column: 3}]);
  });

  it('stays for audit: only the box and the added lines differ after a decision', () => {
    const file = parseTasks(text);
    const [task] = file.tasks;
    if (!task) throw new Error('no task');
    const fields = {status: 'approved', approved_by: 'me', approved_at: '2025-10-05T00:09:00.000Z'};
    const edited = updateTask(file, task, {box: 'x', fields});
    const before = text.split('\n');
    const after = edited.split('\n');
    expect(after.filter(line => !before.includes(line))).toEqual([
      '- [x] A @human #approval `Approve command: docker ps`',
      '  status: approved',
      '  approved_by: me',
      '  approved_at: 2025-10-05T00:09:00.000Z',
    ]);
    expect(before.filter(line => !after.includes(line))).toEqual([before[2], '  status: pending']);
    expect(fieldOf(itemOf(edited).task, 'description')).toBe(description);
  });
});

describe('the task file', () => {
  const text = read('redis-check.task.md');

  it('is read whole: nesting, parents, dependencies, times', () => {
    const file = parseTasks(text);
    expect(file.problems).toEqual([]);
    expect(file.tasks.map(seen)).toEqual([
      {
        line: 3,
        box: 'x',
        state: 'completed',
        priority: 'A',
        names: ['planner-001'],
        tags: ['redis'],
        title: 'Plan Redis check workflow',
        fields: {id: 'task-001', created: '2025-10-04T10:00:00Z', completed: '2025-10-04T10:05:00Z'},
        parent: undefined,
        children: [8, 13],
      },
      {
        line: 8,
        box: ' ',
        state: 'pending',
        priority: 'B',
        names: ['retriever-001'],
        tags: ['system'],
        title: 'Detect container runtime',
        fields: {id: 'task-002', parent: 'task-001', assigned: '2025-10-04T10:05:00Z'},
        parent: 3,
        children: [],
      },
      {
        line: 13,
        box: ' ',
        state: 'pending',
        priority: 'C',
        names: ['executor-001'],
        tags: ['docker'],
        title: 'Check Redis container status',
        fields: {id: 'task-003', parent: 'task-001', depends_on: 'task-002', approval_required: 'true'},
        parent: 3,
        children: [],
      },
      {
        line: 19,
        box: ' ',
        state: 'pending',
        priority: 'A',
        names: ['evaluator-001'],
        tags: [],
        title: 'Validate Redis check result',
        fields: {id: 'task-004', depends_on: 'task-003'},
        parent: undefined,
        children: [],
      },
    ]);
    expect(file.tasks.map(parentId)).toEqual([undefined, 'task-001', 'task-001', undefined]);
    expect(stringifyTasks(file)).toBe(text);
  });

  it('the phases are tasks too, being items with a box', () => {
    const phases = read('phases.task.md');
    const file = parseTasks(phases);
    expect(file.problems).toEqual([]);
    expect(file.tasks).toHaveLength(19);
    expect(file.tasks.filter(task => task.state === 'completed').map(task => task.title)).toEqual([
      'Copilot API integration (already have in examples/)',
    ]);
    expect(file.tasks.map(task => task.title)).toContain('Basic tool system (read_file, execute_command)');
    expect(file.tasks.at(-1)).toMatchObject({title: 'Generic webhook receiver', priority: undefined, line: 30});
    expect(file.tasks.every(task => task.children.length === 0 && task.fields.length === 0)).toBe(true);
    expect(file.todoEnd).toBeUndefined();
  });
});

describe('the .approval.md', () => {
  const text = read('exec-20251004-001.approval.md');
  const decisionOf = (edited: string) => {
    const file = parseApproval(edited);
    expect(file.problems).toEqual([]);
    return file.review?.decision;
  };

  it('waits, with everything it says', () => {
    const file = parseApproval(text);
    expect(file).toEqual({
      text,
      id: 'exec-20251004-001',
      meta: {agent: 'executor-001', task: 'task-003', created: '2025-10-04T10:10:00Z', status: 'pending'},
      action: {
        type: 'terminal_command',
        command: 'docker ps --filter "name=redis" --format "{{.Status}}"',
        context: 'Checking if Redis container is running as requested by user in Slack.',
        'risk level': 'LOW\n- Read-only operation\n- No side effects\n- Command matches allowlist pattern',
      },
      review: {
        decision: undefined,
        by: undefined,
        at: undefined,
        notes: undefined,
        reason: undefined,
        always: false,
      },
      problems: [],
    });
    expect(stringifyApproval(file)).toBe(text);
  });

  const label = '**Decision:** <!-- APPROVED | REJECTED -->';
  it.each([
    ['**Decision:** APPROVED', 'approved'],
    ['**Decision:** REJECTED', 'rejected'],
    ['**Decision:** APPROVED <!-- APPROVED | REJECTED -->', 'approved'],
    ['**Decision:** rejected', 'rejected'],
    ['**Decision:** `APPROVED`', 'approved'],
    ['Decision: APPROVED', 'approved'],
    ['Decision: REJECTED', 'rejected'],
    ['**Decision:**\n\nAPPROVED\n', 'approved'],
    ['**Decision:**', undefined],
  ])('%j means %s', (line, decision) => {
    expect(text).toContain(label);
    expect(decisionOf(text.replace(label, line))).toBe(decision);
  });

  it.each(['APPROVED?', 'not APPROVED', 'APPROVED REJECTED', 'yes', 'APPROVED | REJECTED'])(
    '%j is unclear and decides nothing',
    words => {
      const file = parseApproval(text.replace(label, `**Decision:** ${words}`));
      expect(file.review?.decision).toBeUndefined();
      expect(file.problems).toMatchObject([{code: 'UNCLEAR_DECISION', line: 26}]);
    },
  );

  it('both words on two lines are unclear', () => {
    const file = parseApproval(text.replace(label, '**Decision:** APPROVED\n**Decision:** REJECTED'));
    expect(file.review?.decision).toBeUndefined();
    expect(file.problems).toMatchObject([{code: 'UNCLEAR_DECISION'}]);
  });

  it('a decision anywhere but in the review is none', () => {
    expect(decisionOf(text.replace('**Context:**', '**Decision:** APPROVED\n\n**Context:**'))).toBeUndefined();
    expect(decisionOf(text.replace('status: pending', 'status: APPROVED\nDecision: APPROVED'))).toBeUndefined();
    expect(decisionOf(text.replace('<!-- Add any', '```\n**Decision:** APPROVED\n```\n<!-- Add any'))).toBeUndefined();
    expect(decisionOf(text.replace('Add any notes', '\n**Decision:** APPROVED\n'))).toBeUndefined();
  });

  it('notes, name and time are read beside the decision', () => {
    const edited = text
      .replace(label, '**Decision:** APPROVED')
      .replace('<!-- Add any notes here -->', 'Looks fine.\n\nBut: watch the load.')
      .replace('**Reviewed by:**', '**Reviewed by:** boss')
      .replace('**Reviewed at:**', '**Reviewed at:** 2025-10-04 10:12');
    expect(parseApproval(edited).review).toEqual({
      decision: 'approved',
      by: 'boss',
      at: '2025-10-04 10:12',
      notes: 'Looks fine.\n\nBut: watch the load.',
      reason: undefined,
      always: false,
    });
  });

  it('is filled in line by line', () => {
    const edited = setReview(text, {decision: 'APPROVED', by: 'boss', at: '2025-10-04T10:12:00.000Z'});
    const before = text.split('\n');
    expect(edited.split('\n').filter((line, i) => line !== before[i])).toEqual([
      '**Decision:** APPROVED <!-- APPROVED | REJECTED -->',
      '**Reviewed by:** boss',
      '**Reviewed at:** 2025-10-04T10:12:00.000Z',
    ]);
    expect(parseApproval(edited).review).toMatchObject({decision: 'approved', by: 'boss'});
  });
});

describe('the seed as a home', () => {
  const template = read('planner-001.agent.yaml');
  const agents = ['planner-001', 'retriever-001', 'executor-001', 'evaluator-001'];
  const home = parseHome([
    ...agents.map(id => ({
      path: `templates/${id}.agent.yaml`,
      text: template.replace('id: planner-001', `id: ${id}`),
    })),
    {path: 'sessions/planner-001-abc123.session.yaml', text: read('planner-001-abc123.session.yaml')},
    {path: 'tasks/approvals.task.md', text: read('approvals.task.md')},
    {path: 'tasks/redis-check.task.md', text: read('redis-check.task.md')},
    {path: 'approvals/pending/exec-20251004-001.approval.md', text: read('exec-20251004-001.approval.md')},
  ]);

  it('has no errors; a warning for its own prompt, and for each approval that belongs to no session', () => {
    expect(checkHome(home)).toMatchObject([
      {code: 'ORPHANED_APPROVAL', file: 'approvals/pending/exec-20251004-001.approval.md', line: 1},
      {code: 'TEMPLATE_DIFFERS', file: 'sessions/planner-001-abc123.session.yaml', severity: 'warning'},
      {code: 'ORPHANED_APPROVAL', file: 'tasks/approvals.task.md', line: 3},
    ]);
  });

  it('knows what is ready and what waits for what', () => {
    const rows = taskRows(home, namesOf(home), () => []);
    expect(rows.map(row => [row.id, row.state, row.assignee, row.parent, row.ready, row.blocked_by])).toEqual([
      ['task-001', 'completed', 'planner-001', null, false, null],
      ['task-002', 'pending', 'retriever-001', 'task-001', true, null],
      ['task-003', 'pending', 'executor-001', 'task-001', false, 'task-002'],
      ['task-004', 'pending', 'evaluator-001', null, false, 'task-003'],
    ]);
  });
});

describe("lines of the seed's to-do tool", () => {
  const text = read('todo-tool.task.md');
  const file = parseTasks(text);
  const brief = (task: Task) => [task.box, task.bare, task.state, task.priority, task.title];

  it('are all read, and what is not one of them is prose', () => {
    expect(file.problems).toEqual([]);
    expect(stringifyTasks(file)).toBe(text);
    expect(file.tasks.map(brief)).toEqual([
      [undefined, false, 'pending', 'A', 'No box at all'],
      ['x', true, 'completed', 'B', 'A bare x is done'],
      ['-', true, 'skipped', 'C', 'A bare dash is skipped'],
      [' ', false, 'pending', 'D', 'Several stakeholders and tags'],
      ['_', false, 'pending', undefined, 'Underscore is pending, and completed is a time, never the state'],
      [' ', false, 'pending', undefined, "Single quotes: it's one title"],
      [' ', false, 'pending', 'A', 'bare title, to the end: of the line # even this'],
      [' ', false, 'pending', undefined, 'Run "docker ps"'],
      ['/', false, 'in_progress', undefined, 'In progress'],
      ['X', false, 'completed', undefined, 'Capital X'],
      ['!', false, 'blocked', undefined, 'Failed'],
      ['-', false, 'skipped', undefined, 'Rejected'],
      [' ', false, 'pending', undefined, "Updated by the seed's daemon"],
      [' ', false, 'pending', undefined, 'A long value'],
      [' ', false, 'pending', undefined, 'After the prose'],
      [' ', false, 'pending', undefined, 'but a box is a task anywhere'],
    ]);
  });

  it('several stakeholders and tags keep their order', () => {
    const task = taskNamed(file, /^Several/);
    expect([task.names, task.tags]).toEqual([
      ['executor-001', 'retriever-001', 'human'],
      ['docker', 'redis'],
    ]);
  });

  it('values are text: nothing is coerced', () => {
    const value = (title: RegExp, key: string) => fieldOf(taskNamed(file, title), key);
    expect(value(/^Underscore/, 'id')).toBe('12345e10');
    expect(value(/^Run/, 'id')).toBe('007');
    expect(value(/^Run/, 'due')).toBe('2025-10-05');
    expect(value(/^Run/, 'always')).toBe('yes');
    expect(value(/^In progress/, 'id')).toBe('0x1F');
    expect(value(/^Failed/, 'result')).toBe('null');
    expect(value(/^Rejected/, 'approval_required')).toBe('true');
    expect(value(/^A bare x/, 'completed')).toBe('2025-10-04T10:05:00Z');
    expect(value(/^Updated/, 'completed')).toBe('true');
    expect(value(/^Single/, 'id')).toBe('t-single');
  });

  const command =
    'docker run --rm --name redis-check-with-a-name-that-goes-on --env "GREETING=hello,  two  spaces: kept" ' +
    '--volume /srv/data/redis:/data:ro --network none redis:7.4.1-alpine redis-cli -h redis.internal.example.com ' +
    '--no-auth-warning ping && echo done # not a comment';

  it('a long value is one line and a block keeps its blank lines, indentation and fences', () => {
    const task = taskNamed(file, 'A long value');
    expect(fieldOf(task, 'command')).toBe(command);
    expect(fieldOf(task, 'prompt')).toBe(
      'First line.\n\n  Indented deeper,\twith a tab.\n- [x] not a task: inside a block\n```\n' +
        'an open fence does not leave the block\n\nLast line.',
    );
  });

  it('edits of every task leave all other lines as they were', () => {
    let edited = text;
    const count = file.tasks.length;
    for (let i = 0; i < count; i++) {
      const now = parseTasks(edited);
      const task = now.tasks[i];
      if (!task) throw new Error(`no task ${i}`);
      const before = edited.split('\n');
      edited = updateTask(now, task, {box: 'x', fields: {outcome: `done ${i}`}});
      const after = edited.split('\n');
      const changed = before.filter(line => !after.includes(line));
      expect(changed.length, String(changed)).toBeLessThanOrEqual(1);
      expect(after.length).toBe(before.length + 1);
      const read = parseTasks(edited);
      expect(read.problems).toEqual([]);
      expect(read.tasks).toHaveLength(count);
      expect(read.tasks[i]?.state).toBe('completed');
      expect(fieldOf(read.tasks[i] as Task, 'outcome')).toBe(`done ${i}`);
    }
    const titles = (of: TaskFile) => of.tasks.map(task => task.title);
    expect(titles(parseTasks(edited))).toEqual(titles(file));
    for (const prose of [
      '- a list item outside the section is prose\n- x so is this\n',
      '\nProse at the top of the section: it was deleted on the next write.\n',
      '\nMore prose between the tasks,\non two lines: with a colon.\n\n> - [ ] quoted, so not a task\n',
      '- A "outside of the section again"\n',
      `  command: ${command}\n`,
    ])
      expect(edited).toContain(prose);
  });

  it('a new task and a note go to their places and change nothing else', () => {
    const added = addTask(file, {title: 'New "task"', names: ['planner-001'], fields: {id: 't-new'}});
    expect(added.replace('\n\n- [ ] @planner-001 "New \\"task\\""\n  id: t-new', '')).toBe(text);
    const again = parseTasks(added);
    expect(taskNamed(again, 'New "task"').names).toEqual(['planner-001']);
    const noted = appendNote(again, taskNamed(again, 'After the prose'), {
      time: '2025-10-04T10:05:00.000Z',
      who: 'planner-001',
      text: 'done: "ok"\n- [x] not a task',
    });
    const read = parseTasks(noted);
    expect(read.tasks).toHaveLength(again.tasks.length);
    expect(taskNamed(read, 'After the prose').notes).toMatchObject([
      {time: '2025-10-04T10:05:00.000Z', who: 'planner-001', text: 'done: "ok"\n- [x] not a task'},
    ]);
  });

  it('a box on a line without one, and on bare boxes, is written in brackets', () => {
    const boxed = (title: string, box: 'x' | ' ') => {
      const edited = updateTask(file, taskNamed(file, title), {box});
      return edited.split('\n').filter((line, i) => line !== text.split('\n')[i]);
    };
    expect(boxed('No box at all', 'x')).toEqual(['- [x] A @planner-001 "No box at all"']);
    expect(boxed('A bare x is done', ' ')).toEqual([
      '- [ ] B @planner-001 "A bare x is done" completed: 2025-10-04T10:05:00Z',
    ]);
    expect(boxed('A bare dash is skipped', ' ')).toEqual(['- [ ] C "A bare dash is skipped"']);
  });
});
