import {describe, expect, it} from 'vitest';
import {merge} from '../../src/formats/merge/merge.ts';
import {fieldOf, type Task} from '../../src/formats/task/task.ts';
import {addTask, type TaskChange, updateTask} from '../../src/formats/task/task-edit.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';

const NOW = '2026-11-16T10:00:00.000Z';

const base = `# Redis

Notes of mine.

## TODO

- [ ] A @executor-001 "Is Redis up?"
  id: task-1

- [ ] "Restart it"
  id: task-2
  prompt: |
    Only if it is down.

- [ ] "Tell the team"
  <!-- on Slack -->
`;

/** The daemon's edit of the task with this title. */
function daemon(text: string, title: string, change: TaskChange): string {
  const file = parseTasks(text);
  return updateTask(file, taskIn(text, title, file.tasks), change);
}

function taskIn(text: string, title: string, tasks: readonly Task[] = parseTasks(text).tasks): Task {
  const task = tasks.find(one => one.title === title);
  if (!task) throw new Error(`no task "${title}" in\n${text}`);
  return task;
}

function merged(person: string, later: string, from = base): string {
  const {text, conflicts} = merge('tasks', from, person, later);
  expect(conflicts).toEqual([]);
  return text;
}

const started = daemon(base, 'Is Redis up?', {box: '/', fields: {assigned: 'executor-001', started: NOW}});

describe('a stale task file saved over the daemon’s', () => {
  it('keeps both: fields of the daemon’s, and another task that the person ticked', () => {
    const person = base.replace('- [ ] "Restart it"', '- [x] "Restart it"   ');
    expect(merged(person, started)).toBe(started.replace('- [ ] "Restart it"', '- [x] "Restart it"   '));
  });

  it('keeps both in one task: the person’s title, field and comment, the daemon’s box and fields', () => {
    const person = base.replace(
      '- [ ] A @executor-001 "Is Redis up?"\n  id: task-1\n',
      '- [ ] B @executor-001 #urgent "Is Redis up on b?"\n  due: 2026-12-01\n  id: task-1\n  <!-- asap -->\n',
    );
    const text = merged(person, started);
    expect(text).toContain(
      '- [/] B @executor-001 #urgent "Is Redis up on b?"\n  due: 2026-12-01\n  id: task-1\n  assigned: executor-001\n',
    );
    expect(text).toContain('  <!-- asap -->\n');
    expect(fieldOf(taskIn(text, 'Is Redis up on b?'), 'started')).toBe(NOW);
  });

  it('finds a task that had no id yet, moved, retitled or beside new ones of the same title', () => {
    const later = daemon(base, 'Tell the team', {fields: {id: 'task-3', created: NOW}});
    const rest = base.slice(base.indexOf('- [ ] A'), base.indexOf('- [ ] "Tell'));
    const moved = base.replace(rest, '').replace('  <!-- on Slack -->\n', `  <!-- on Slack -->\n\n${rest}`);
    expect(merged(moved, later)).toContain('- [ ] "Tell the team"\n  id: task-3\n');
    const retitled = base.replace('Tell the team', 'Tell the whole team');
    expect(merged(retitled, later)).toBe(later.replace('Tell the team', 'Tell the whole team'));
    const doubled = base.replace('- [ ] "Restart it"', '- [ ] "Tell the team"\n\n- [ ] "Restart it"');
    const both = parseTasks(merged(doubled, later)).tasks.filter(task => task.title === 'Tell the team');
    expect(both).toHaveLength(2);
    expect(both.filter(task => fieldOf(task, 'id') === 'task-3')).toHaveLength(1);
  });

  it('tells equal titles apart by what stands around them', () => {
    const from = '## TODO\n- [ ] a\n- [ ] same\n- [ ] b\n- [ ] same\n- [ ] c\n- [ ] same\n';
    const file = parseTasks(from);
    const later = updateTask(file, file.tasks[3] as Task, {fields: {id: 'second'}});
    const person = '## TODO\n- [ ] a\n- [ ] b\n- [ ] same\n- [ ] c\n- [ ] same\n';
    expect(merged(person, later, from)).toBe(
      '## TODO\n- [ ] a\n- [ ] b\n- [ ] same\n  id: second\n- [ ] c\n- [ ] same\n',
    );
  });

  it('takes in tasks that the daemon added, at the end and below others', () => {
    const grown = addTask(parseTasks(base), {title: 'Write it up', fields: {id: 'task-9'}});
    const file = parseTasks(grown);
    const later = addTask(file, {title: 'Ask ops', fields: {id: 'task-8'}}, taskIn(grown, 'Restart it', file.tasks));
    const person = base
      .replace('    Only if it is down.\n', '    Only if it is down.\n  - [ ] "Stop it first"\n')
      .concat('\n- [ ] "Mine"\n');
    const tasks = parseTasks(merged(person, later)).tasks;
    expect(tasks.map(task => task.title)).toEqual([
      'Is Redis up?',
      'Restart it',
      'Stop it first',
      'Ask ops',
      'Tell the team',
      'Mine',
      'Write it up',
    ]);
    expect(tasks.find(task => task.title === 'Ask ops')?.parent?.title).toBe('Restart it');
  });

  it('takes in notes, below those that the person wrote', () => {
    const note = (text: string, time = NOW) => ({note: {time, who: 'executor-001', text}});
    const from = daemon(base, 'Restart it', note('first'));
    const later = daemon(daemon(from, 'Restart it', note('second\nof two lines')), 'Restart it', note('third'));
    const person = from.replace('executor-001: first\n', 'executor-001: first\n    - 2026-11-16T11:00:00Z @me: mine\n');
    const task = taskIn(merged(person, later, from), 'Restart it');
    expect(task.notes.map(one => one.text)).toEqual(['first', 'mine', 'second\nof two lines', 'third']);
  });

  it('removes what the daemon removed, unless the person changed it', () => {
    const from = started;
    const later = daemon(from, 'Is Redis up?', {box: ' ', fields: {started: undefined, assigned: undefined}});
    expect(merged(from.replace('Notes of mine.', 'Notes.'), later, from)).toBe(
      base.replace('Notes of mine.', 'Notes.'),
    );
    const archived = base.replace('- [ ] "Restart it"\n  id: task-2\n  prompt: |\n    Only if it is down.\n\n', '');
    expect(merged(base.replace('Notes of mine.', 'Notes.'), archived)).toBe(
      archived.replace('Notes of mine.', 'Notes.'),
    );
  });

  it('keeps CRLF, a BOM and tabs', () => {
    const from = `\ufeff${base.replaceAll('\n', '\r\n')}`;
    const later = daemon(daemon(from, 'Restart it', {box: 'x'}), 'Tell the team', {fields: {id: 'task-3'}});
    const person = from.replace('"Restart it"\r\n', '"Restart it"\r\n\tmy words\r\n');
    const text = merged(person, later, from);
    expect(text).toBe(
      person
        .replace('- [ ] "Restart it"', '- [x] "Restart it"')
        .replace('"Tell the team"\r\n', '"Tell the team"\r\n  id: task-3\r\n'),
    );
  });

  it('keeps what another person wrote around and below the tasks meanwhile', () => {
    const later = started.replace('Notes of mine.', 'Notes of hers.').replace('on Slack', 'by mail');
    const person = `${base.replace('- [ ] "Restart it"', '- [x] "Restart it"')}\n- [ ] "Mine"\n`;
    const text = merged(person, later);
    expect(text).toContain('Notes of hers.');
    expect(text).toContain('- [x] "Restart it"');
    expect(text).toContain('"Tell the team"\n  <!-- by mail -->');
    expect(text).toContain('"Mine"');
    expect(text).toContain(`started: ${NOW}`);
  });
});

describe('where both changed one thing of a task', () => {
  it('what must not be undone stays as the daemon wrote it, the rest as the person did', () => {
    const later = daemon(base, 'Restart it', {fields: {result: 'down', due: '2026-12-01'}});
    const person = base.replace('  id: task-2\n', '  id: task-2\n  result: up\n  due: 2026-12-24\n');
    const {text, conflicts} = merge('tasks', base, person, later);
    expect(fieldOf(taskIn(text, 'Restart it'), 'result')).toBe('down');
    expect(fieldOf(taskIn(text, 'Restart it'), 'due')).toBe('2026-12-24');
    expect(conflicts).toEqual([
      'task "Restart it": result was changed on both sides; "down" stays, not "up"',
      'task "Restart it": due was changed on both sides; "2026-12-24" is kept, not "2026-12-01"',
    ]);
  });

  it.each(['x', '-', '!'])('a person’s [%s] stands, though its agent began meanwhile', box => {
    const {text, conflicts} = merge('tasks', base, base.replace('[ ] A', `[${box}] A`), started);
    expect(text).toBe(started.replace('[/] A', `[${box}] A`));
    expect(conflicts).toEqual([]);
  });

  it.each([
    ['x', '!', 'x', 0],
    ['-', '!', '-', 0],
    ['-', 'x', 'x', 1],
    ['!', 'x', 'x', 1],
    ['x', '-', '-', 1],
  ] as const)(
    'a person’s [%s] and an agent’s [%s] are [%s]: what is over stays over',
    (own, later, expected, conflicts) => {
      const merged = merge('tasks', base, base.replace('[ ] A', `[${own}] A`), base.replace('[ ] A', `[${later}] A`));
      expect(merged.text).toContain(`[${expected}] A`);
      expect(merged.conflicts).toHaveLength(conflicts);
    },
  );

  const queue =
    '## TODO\n\n- [_] A @human #approval "Approve command: ls"\n  id: ap-1\n  approval_type: terminal_command\n  status: pending\n';
  it.each([
    ['expired meanwhile', {box: '!'}, '[x]', '[x]'],
    ['approved on its page', {box: 'x', fields: {status: 'approved', approved_by: 'ann'}}, '[-]', '[-]'],
    ['rejected on its page', {box: '-', fields: {status: 'rejected', rejected_by: 'ann'}}, '[x]', '[-]'],
    ['run meanwhile', {box: 'x', fields: {status: 'approved', executed_at: NOW}}, '[-]', '[x]'],
  ] as const)('an approval %s: no decision of the person’s is lost before it runs', (_, change, box, expected) => {
    const later = daemon(queue, 'Approve command: ls', change);
    const {text, conflicts} = merge('tasks', queue, queue.replace('[_]', box), later);
    expect(text).toContain(`- ${expected} A @human`);
    expect(conflicts).toHaveLength(1);
    for (const [key, value] of Object.entries('fields' in change ? change.fields : {}))
      expect(fieldOf(taskIn(text, 'Approve command: ls'), key)).toBe(value);
  });

  it('a task deleted by the person stays deleted if the daemon only filled it in', () => {
    const later = daemon(base, 'Tell the team', {fields: {id: 'task-3', created: NOW}});
    const person = base.replace('\n- [ ] "Tell the team"\n  <!-- on Slack -->\n', '');
    expect(merged(person, later)).toBe(person);
  });

  it('a task deleted by the person comes back, at its place, if it was started', () => {
    const person = base.replace('- [ ] A @executor-001 "Is Redis up?"\n  id: task-1\n\n', '');
    const first = merge('tasks', base, person, started);
    expect(parseTasks(first.text).tasks.map(task => task.title)).toEqual([
      'Is Redis up?',
      'Restart it',
      'Tell the team',
    ]);
    expect(first.conflicts).toEqual(['task "Is Redis up?" was deleted, but it was worked on meanwhile; it is back']);
    const later = daemon(base, 'Restart it', {fields: {started: NOW}});
    const without = base.replace(/- \[ \] "Restart it"[^<]*- \[ \] "Tell/, '- [ ] "Tell');
    const second = merge('tasks', base, without, later);
    expect(parseTasks(second.text).tasks.map(task => task.title)).toEqual([
      'Is Redis up?',
      'Restart it',
      'Tell the team',
    ]);
    expect(fieldOf(taskIn(second.text, 'Restart it'), 'prompt')).toBe('Only if it is down.');
  });

  it('a parent that comes back does not bring a child that the person kept', () => {
    const from = '## TODO\n\n- [ ] parent\n  id: p\n  - [ ] kept\n    id: k\n  - [ ] gone\n    id: g\n';
    const later = daemon(from, 'parent', {fields: {started: NOW}});
    const {text, conflicts} = merge('tasks', from, '## TODO\n\n- [ ] kept\n  id: k\n', later);
    expect(conflicts).toHaveLength(1);
    expect(
      parseTasks(text)
        .tasks.map(task => fieldOf(task, 'id'))
        .sort(),
    ).toEqual(['g', 'k', 'p']);
  });
});

describe('a task that both have and the base has not', () => {
  it('is one task, with the id it was given', () => {
    const given = '- [ ] a\n  id: 1\n- [ ] @x "b"\n  id: 2\n  created: t\n';
    const {text, conflicts} = merge('tasks', '- [ ] a\n  id: 1\n', '- [ ] a\n  id: 1\n- [x] @x "b"\n', given);
    expect(text).toBe('- [ ] a\n  id: 1\n- [x] @x "b"\n  id: 2\n  created: t\n');
    expect(conflicts).toEqual([]);
  });
});

describe('a task file with errors', () => {
  it('is merged by lines if those go together, else stays as the daemon wrote it', () => {
    const broken = base.replace('"Tell the team"', '"Tell the team"\n  id: task-1');
    const {text, conflicts} = merge('tasks', base, broken, started);
    expect(text).toContain('"Tell the team"\n  id: task-1');
    expect(text).toContain(`started: ${NOW}`);
    expect(conflicts).toEqual([]);
    const torn = merge('tasks', base, base.replace('- [ ] A @executor-001 "Is Redis up?"', '- [?] A'), started);
    expect(torn.text).toBe(started);
    expect(torn.conflicts).toHaveLength(1);
  });
});

it('lines that both put between the same two all stay', () => {
  const put = (lines: string) => base.replace('Notes of mine.\n', `Notes of mine.\n${lines}`);
  const {text, conflicts} = merge('tasks', base, put('early\n'), put('late\nlater\n'));
  expect(conflicts).toEqual([]);
  expect(text).toBe(put('late\nlater\nearly\n'));
});
