import {closeSync, existsSync, ftruncateSync, openSync, readFileSync, writeFileSync, writeSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {fieldOf, type Task} from '../../src/formats/task/task.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {read, serve, settled, subjects} from '../daemon/serve.ts';
import {agentdir, environment, newHome, type Run, startAgentdir, until} from './run.ts';

const REDIS = 'tasks/redis.task.md';
const OTHER = 'tasks/other.task.md';
const redis = `# Redis

Prose that stays.

## TODO

- [ ] A @planner-001 #ops  "Plan it" due: 2030-01-01
  id: redis-plan
  assigned: 2025-10-04T10:00:00.000Z
  - [ ] @executor-001 Is it up?
    id: redis-check
    depends_on: redis-plan
- [ ] no id here
`;
const other = '- [x] "Old"\r\n  id: other-old\r\n- [/] #t \'New\'\r\n  id: other-new\r\n';

const homeWith = (files: Record<string, string> = {}) => newHome({[REDIS]: redis, [OTHER]: other, ...files});
const task = (home: string, ...args: string[]): Promise<Run> => agentdir(home, ['task', ...args]);
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
const timeless = (text: string) => text.replaceAll(/(created: |- )\d{4}-[\dT:.-]+Z/g, '$1TIME');

function found(home: string, path: string, id: string): Task {
  return parseTasks(read(home, path)).tasks.find(one => fieldOf(one, 'id') === id) as Task;
}

describe('agentdir task add', () => {
  it('prints the id, makes the file, and says what comes next', async () => {
    const home = await newHome();
    const {code, stdout, stderr} = await task(home, 'add', 'Check', 'Redis', '--to', 'executor', '--priority', 'high');
    expect({code, stderr}).toEqual({
      code: 0,
      stderr: 'the daemon delivers it to executor-001\nno daemon is running: agentdir start\n',
    });
    expect(stdout).toMatch(/^task-[0-9a-hjkmnp-tv-z]{12}\n$/);
    expect(timeless(read(home, 'tasks/todo.task.md'))).toBe(`## TODO

- [ ] A @executor-001 "Check Redis"
  id: ${stdout.trim()}
  created: TIME
  created_by: @human
`);
    expect((await agentdir(home, ['check'])).code).toBe(0);
  });

  it('takes all there is to say of a task, the prompt from standard input', async () => {
    const home = await homeWith();
    const args = ['--to', '@planner-001', '--file', 'plans/redis', '--priority', 'd', '--tag', 'a', '--tag', '#b'];
    const more = ['--depends-on', 'redis-c', '--depends-on', 'other-old', '--due', '2030-01-31', '--approval'];
    const running = startAgentdir(
      home,
      ['task', 'add', 'A "title"', ...args, ...more, '--parent', 'plan', '--prompt', '-', '--description', 'why'],
      'two\nlines\n',
    );
    const {code, stdout} = await running.ended;
    expect(code).toBe(0);
    expect(timeless(read(home, 'tasks/plans/redis.task.md'))).toBe(`## TODO

- [ ] D @planner-001 #a #b "A \\"title\\""
  id: ${stdout.trim()}
  parent: redis-plan
  created: TIME
  created_by: @human
  depends_on: redis-check, other-old
  due: 2030-01-31
  approval_required: true
  description: why
  prompt: |
    two
    lines
`);
    expect((await agentdir(home, ['check'])).code).toBe(0);
  });

  it('under its parent, in its file; --json is one value', async () => {
    const home = await homeWith();
    const {code, stdout} = await task(home, 'add', 'x', '--parent', 'plan', '--assign', 'new:executor-001', '--json');
    expect(code).toBe(0);
    const value = JSON.parse(stdout) as {tasks: {id: string}[]};
    expect(value).toMatchObject({
      daemon: false,
      tasks: [{title: 'x', file: REDIS, parent: 'redis-plan', created_by: 'human', assign: 'new:executor-001'}],
      next: ['the daemon delivers it to a new executor-001'],
    });
    const made = `  - [ ] "x"\n    id: ${value.tasks[0]?.id}\n    created: TIME\n    created_by: @human\n    assign: new:executor-001\n`;
    expect(timeless(read(home, REDIS))).toBe(timeless(redis).replace('- [ ] no id', `${made}- [ ] no id`));
  });

  it.each([
    [['--to', 'exectuor-001'], 'did you mean executor-001?'],
    [['--to', 'nobody-at-all'], 'add templates/nobody-at-all.agent.yaml'],
    [['--depends-on', 'redis-chekc'], 'did you mean redis-check?'],
    [['--parent', 'redis-pln'], 'did you mean redis-plan?'],
    [['--depends-on', 'redis'], 'redis-plan, redis-check'],
    [['--assign', 'new:executr-001'], 'did you mean executor-001?'],
    [['--assign', 'executor-001'], 'new:TEMPLATE'],
    [['--assign', 'new:a/b', '--to', 'human'], 'exclude each other'],
    [['--priority', 'urgent'], 'A to D'],
    [['--due', 'tomorrow'], 'a date or time'],
    [['--tag', 'two words'], 'one word'],
    [['--file', 'approvals'], 'agentdir approve'],
    [['--file', '../../x'], 'not the name of a task file'],
    [['--file', '.hidden'], 'not the name of a task file'],
    [['--prompt', ' '], 'empty'],
  ])('%j is refused, and nothing is written', async (args, words) => {
    const home = await homeWith();
    const {code, stdout, stderr} = await task(home, 'add', 'x', ...args);
    expect({code, stdout}).toEqual({code: 2, stdout: ''});
    expect(stderr).toContain(words);
    expect([read(home, REDIS), read(home, OTHER)]).toEqual([redis, other]);
    expect(existsSync(join(home, 'tasks/todo.task.md'))).toBe(false);
  });
});

describe('agentdir task done, start, block, skip, reopen', () => {
  it.each([
    ['done', 'x', 'completed'],
    ['start', '/', 'started'],
    ['block', '!', 'blocked'],
    ['skip', '-', 'skipped'],
  ])('%s sets the box, the note and the result, and no other byte', async (command, box, word) => {
    const home = await homeWith();
    const {code, stdout} = await task(home, command, 'check', '--note', 'because', '--result', 'none');
    expect({code, stdout}).toEqual({code: 0, stdout: `${word} redis-check: Is it up?\n`});
    expect(read(home, REDIS).replaceAll(TIME, 'TIME')).toBe(
      redis
        .replace('- [ ] @executor-001', `- [${box}] @executor-001`)
        .replace(
          'depends_on: redis-plan\n',
          'depends_on: redis-plan\n    result: none\n    notes:\n      - TIME @human: because\n',
        )
        .replaceAll(TIME, 'TIME'),
    );
  });

  it('reopen: delivered again, also where only `assigned` says that it was', async () => {
    const home = await homeWith({
      [REDIS]: redis.replace('[ ] A', '[!] A').replace('[ ] @e', '[x] @e').replace('depends_on: redis-plan', 'k: v'),
    });
    const {code, stderr} = await task(home, 'reopen', 'plan', 'redis-c');
    expect(code).toBe(0);
    expect(stderr).toBe(
      'the daemon delivers it to planner-001\nthe daemon delivers it to executor-001\nno daemon is running: agentdir start\n',
    );
    expect(read(home, REDIS)).toBe(redis.replace(/ {2}assigned: .*\n/, '').replace('depends_on: redis-plan', 'k: v'));
  });

  it('several, in several files; once more changes nothing', async () => {
    const home = await homeWith();
    const {code, stderr} = await task(home, 'done', 'plan', 'other-new', 'redis-plan');
    expect({code, stderr}).toEqual({
      code: 0,
      stderr: 'the daemon delivers redis-check to executor-001\nno daemon is running: agentdir start\n',
    });
    expect(read(home, REDIS)).toBe(redis.replace('[ ] A', '[x] A'));
    expect(read(home, OTHER)).toBe(other.replace('[/]', '[x]'));
    const again = await task(home, 'done', 'plan');
    expect(again).toMatchObject({code: 0, stdout: 'was completed already: redis-plan: Plan it\n'});
    expect(read(home, REDIS)).toBe(redis.replace('[ ] A', '[x] A'));
  });

  it('says what waits for a task that is skipped', async () => {
    const home = await homeWith();
    expect((await task(home, 'skip', 'plan')).stderr).toContain('redis-check would wait forever');
  });

  it.each([
    [['done', 'redis-plan', 'nothing'], 2, 'no task "nothing"'],
    [['done', 'redis-plan', 'redis'], 2, 'is ambiguous: redis-plan, redis-check'],
    [['done', 'redis-pla', '2'], 2, 'no task "2"'],
    [['done', ''], 2, 'no task ""'],
    [['done', 'no id here'], 2, 'agentdir start adds one'],
    [['done', 'Plan it'], 2, 'by its id: redis-plan'],
    [['done', 'ask-1'], 2, 'agentdir approve ask-1'],
    [['block', 'redis-plan'], 2, '--why'],
    [['block', 'redis-plan', '--why', 'a', '--note', 'b'], 2, 'use one'],
    [['done', 'redis-plan', 'wrong-1'], 4, 'tasks/wrong.task.md:3:1'],
    [['done', 'redis-plan', 'twice'], 4, 'two tasks have the id twice'],
  ])('%j is refused as a whole', async (args, exitCode, words) => {
    const home = await homeWith({
      'tasks/approvals.task.md': '## TODO\n\n- [_] @human #approval `Approve command: ls`\n  id: ask-1\n',
      'tasks/wrong.task.md': '- [ ] "w"\n  id: wrong-1\n```\n',
      'tasks/a.task.md': '- [ ] "a"\n  id: twice\n',
      'tasks/b.task.md': '- [ ] "b"\n  id: twice\n',
    });
    const {code, stdout, stderr} = await task(home, ...args);
    expect({code, stdout}).toEqual({code: exitCode, stdout: ''});
    expect(stderr).toContain(words);
    expect(read(home, REDIS)).toBe(redis);
  });
});

describe('agentdir task note, assign; show', () => {
  it('add a note, of several lines, in the line ends of its file', async () => {
    const home = await homeWith();
    expect((await task(home, 'note', 'other-new', 'the', 'first')).stdout).toBe('noted other-new: New\n');
    const second = startAgentdir(home, ['task', 'note', 'other-new', '-'], 'a\n- [x] b\n');
    expect((await second.ended).code).toBe(0);
    expect(read(home, OTHER).replaceAll(TIME, 'TIME')).toBe(
      `${other}  notes:\r\n    - TIME @human: the first\r\n    - TIME @human: a\r\n      - [x] b\r\n`,
    );
  });

  it('assign replaces the names; what was delivered to another is delivered again', async () => {
    const home = await homeWith();
    const {code, stdout, stderr} = await task(home, 'assign', 'plan', 'executor', '@human');
    expect({code, stdout}).toEqual({code: 0, stdout: 'for @executor-001 @human: redis-plan: Plan it\n'});
    expect(stderr).toContain('the daemon delivers it to executor-001');
    expect(read(home, REDIS)).toBe(
      redis.replace('@planner-001', '@executor-001 @human').replace(/ {2}assigned: .*\n/, ''),
    );
    expect(await task(home, 'assign', 'plan', 'plannr-001')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean planner-001?'),
    });
    const begun = await task(home, 'assign', 'other-new', 'human');
    expect(begun.stderr).toContain('agentdir task reopen other-new');
    expect(read(home, OTHER)).toBe(other.replace('[/] #t', '[/] @human #t'));
  });

  it('assign new:TEMPLATE: an agent is to be made for it', async () => {
    const home = await homeWith();
    const {code, stdout, stderr} = await task(home, 'assign', 'plan', 'new:executor');
    expect({code, stdout}).toEqual({code: 0, stdout: 'for new:executor-001: redis-plan: Plan it\n'});
    expect(stderr).toContain('the daemon delivers it to a new executor-001');
    const made = found(home, REDIS, 'redis-plan');
    expect([made.names, fieldOf(made, 'assign'), fieldOf(made, 'assigned')]).toEqual([
      [],
      'new:executor-001',
      undefined,
    ]);
    for (const wrong of [['new:nobody'], ['new:'], ['new:executor-001', 'human']])
      expect(await task(home, 'assign', 'plan', ...wrong)).toMatchObject({code: 2, stdout: ''});
    expect((await task(home, 'assign', 'plan', 'planner-001')).code).toBe(0);
    expect(fieldOf(found(home, REDIS, 'redis-plan'), 'assign')).toBeUndefined();
  });

  it('what looks like a credential is not written down', async () => {
    const home = await homeWith();
    const secret = 'hunter2-hunter2-hunter2';
    const env = {...environment, REDIS_API_KEY: secret};
    const runs = [
      await agentdir(home, ['task', 'add', 'x', '--prompt', `use ${secret}`, '--description', secret], env),
      await agentdir(home, ['task', 'note', 'plan', secret], env),
      await agentdir(home, ['task', 'done', 'redis-check', '--result', secret, '--note', secret], env),
    ];
    for (const {code, stderr} of runs) {
      expect(code).toBe(0);
      expect(stderr).toContain('replaced before writing');
    }
    expect(read(home, REDIS) + read(home, 'tasks/todo.task.md')).not.toContain(secret);
  });

  it('show tells how a task stands', async () => {
    const home = await homeWith();
    expect((await agentdir(home, ['show', 'redis-check'])).stdout).toBe(`${REDIS}:10
  - [ ] @executor-001 Is it up?
    id: redis-check
    depends_on: redis-plan

pending
it waits for redis-plan (pending)
`);
    expect(JSON.parse((await agentdir(home, ['show', 'redis-plan', '--json'])).stdout)).toMatchObject({
      kind: 'task',
      task: {id: 'redis-plan', ready: true},
      needed_by: ['redis-check'],
    });
  });
});

describe('beside a daemon', () => {
  it('what is added gets nothing twice; a box that is set has its times filled in, and is the person’s', async () => {
    const home = await newHome();
    const {stop} = await serve(home);
    const added = await task(home, 'add', 'Mine', '--to', 'human');
    expect(added.stderr).toBe('it waits for you\n');
    const id = added.stdout.trim();
    const TODO = 'tasks/todo.task.md';
    await settled(home, TODO, text => text.includes(id));
    expect((await task(home, 'done', id, '--result', 'fine')).code).toBe(0);
    const done = await settled(home, TODO, text => /completed:/.test(text));
    expect(found(home, TODO, id).state).toBe('completed');
    expect(done.match(/id:|created:/g)).toHaveLength(2);
    expect((await task(home, 'reopen', id)).code).toBe(0);
    await settled(home, TODO, text => /\[ \]/.test(text) && !/completed:/.test(text));
    const told = await subjects(home);
    expect(told.filter(subject => subject.startsWith('Ada: '))).toHaveLength(3);
    await stop();
  });
});

describe('at once', () => {
  it('20 notes beside a person who edits the same file in place: nothing is lost', async () => {
    const away = redis.replace('@planner-001', '@away/planner').replace('@executor-001', '@away/executor');
    const home = await homeWith({[REDIS]: away});
    const {stop} = await serve(home);
    await settled(home, REDIS, text => text.includes('created:'));
    const notes = Array.from({length: 20}, (_, i) => `note-${i}.`);
    const running = notes.map((words, i) => startAgentdir(home, ['task', 'note', i % 2 ? 'plan' : 'redis-c', words]));
    let over = false;
    const all = Promise.all(running.map(one => one.ended)).then(ended => {
      over = true;
      return ended;
    });
    const lines: string[] = [];
    while (!over || lines.length < 5) {
      await editInPlace(home, `line-${lines.length}.`);
      lines.push(`line-${lines.length}.`);
      await pause(120);
    }
    expect((await all).map(({code}) => code)).toEqual(notes.map(() => 0));
    const has = (text: string) => [...notes, ...lines].filter(words => !text.includes(words));
    const text = await settled(home, REDIS, now => has(now).length === 0);
    const written = parseTasks(text).tasks.flatMap(one => one.notes.map(({text: words}) => words));
    expect(written.sort()).toEqual([...notes].sort());
    await stop();
  });
});

describe('a file that is being saved', () => {
  it('is looked at again until it is whole', async () => {
    const home = await homeWith();
    writeFileSync(join(home, REDIS), '');
    const note = startAgentdir(home, ['task', 'note', 'redis-check', 'kept']);
    const add = startAgentdir(home, ['task', 'add', 'more', '--file', 'redis']);
    await pause(400);
    writeFileSync(join(home, REDIS), redis);
    expect((await Promise.all([note.ended, add.ended])).map(({code}) => code)).toEqual([0, 0]);
    const {tasks} = parseTasks(read(home, REDIS));
    expect(tasks.map(({title}) => title)).toEqual(['Plan it', 'Is it up?', 'no id here', 'more']);
    expect(found(home, REDIS, 'redis-check').notes.map(({text}) => text)).toEqual(['kept']);
  });

  it('an edit that a stale save takes away at once is made again, without a daemon too', async () => {
    const home = await homeWith();
    const note = startAgentdir(home, ['task', 'done', 'redis-plan', '--note', 'kept']);
    await until(
      () => read(home, REDIS),
      text => text.includes('kept'),
    );
    writeFileSync(join(home, REDIS), redis.replace('that stays', 'of mine'));
    expect((await note.ended).code).toBe(0);
    expect(read(home, REDIS).replaceAll(TIME, 'TIME')).toBe(
      redis
        .replace('that stays', 'of mine')
        .replace('[ ] A', '[x] A')
        .replace(/(assigned: .*\n)/, '$1  notes:\n    - TIME @human: kept\n')
        .replaceAll(TIME, 'TIME'),
    );
  });
});

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

/** As an editor that writes into the file itself, after a moment's thought. */
async function editInPlace(home: string, words: string): Promise<void> {
  const before = readFileSync(join(home, REDIS), 'utf8');
  await pause(5);
  const fd = openSync(join(home, REDIS), 'r+');
  ftruncateSync(fd);
  writeSync(fd, before.replace('Prose that stays.\n', `Prose that stays.\n${words}\n`));
  closeSync(fd);
}
