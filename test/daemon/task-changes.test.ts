import {existsSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {parseSession} from '../../src/formats/session/session.ts';
import {fieldOf, type Task} from '../../src/formats/task/task.ts';
import {put, until} from '../cli/run.ts';
import {decideInQueue, pageOf} from './deciding.ts';
import {
  agent,
  clean,
  done,
  idIn,
  openTaskHouse,
  sessionsOf,
  startMinds,
  taskNamed,
  tasksOf,
  whenTask,
} from './minds.ts';
import {read} from './serve.ts';

const {minds, env} = await startMinds();
const names = ['ann', 'bob', 'cyd', 'dot', 'eve', 'fay', 'gus', 'hal', 'ida', 'jon', 'kim', 'lou', 'mia', 'ned'];
const house = openTaskHouse(Object.fromEntries(names.map(name => [`templates/${name}.agent.yaml`, agent(name)])), env);

const QUEUE = 'tasks/approvals.task.md';
const edit = (path: string, change: (text: string) => string) =>
  writeFileSync(join(house.home, path), change(read(house.home, path)));
const times = (name: string, what: string) => sessionsOf(house.home, name).split(what).length - 1;
const requestsFor = (task: string) => tasksOf(house.home, QUEUE).filter(item => fieldOf(item, 'task') === task);

describe('what happens more than once', () => {
  it('the owner of a task hears again when parts that were added or set back are done', async () => {
    const {home} = house;
    const path = 'tasks/parts.task.md';
    put(home, {
      [path]: '- [/] @ann "whole"\n  id: p\n  started: 2026-01-01T00:00:00.000Z\n  - [x] "one"\n    id: p1\n',
    });
    const told = (task: Task) => /^\d/.test(fieldOf(task, 'parts_done') ?? '');
    await whenTask(home, path, 'whole', told);
    await clean(home);
    edit(path, text => `${text}  - [ ] "two"\n    id: p2\n`);
    await whenTask(home, path, 'whole', task => !told(task));
    await clean(home);
    edit(path, text => text.replace('- [ ] "two"', '- [x] "two"'));
    await until(
      () => times('ann', 'All 2 parts of your task'),
      count => count === 1,
    );
    await whenTask(home, path, 'whole', told);
    await clean(home);
    edit(path, text => text.replace('- [x] "one"', '- [ ] "one"'));
    await whenTask(home, path, 'whole', task => !told(task));
    await clean(home);
    edit(path, text => text.replace('- [ ] "one"', '- [x] "one"'));
    await whenTask(home, path, 'whole', told);
    expect(times('ann', 'All 2 parts of your task')).toBe(2);
  });

  it('a task that a person did not let start, and sets back, is asked about anew', async () => {
    const {home} = house;
    const path = 'tasks/refused.task.md';
    put(home, {[path]: '- [ ] @bob "may I"\n  id: r\n  approval_required: true\n'});
    const reject = async (nth: number) => {
      const item = await until(
        () => requestsFor('r')[nth],
        found => found !== undefined,
      );
      const id = fieldOf(item as Task, 'id');
      await until(
        () => existsSync(join(home, `approvals/pending/${id}.approval.md`)),
        yes => yes,
      );
      await clean(home);
      edit(QUEUE, text => text.replace(new RegExp(`\\[_\\](.*\\n\\s*id: ${id}\\n)`), '[-]$1'));
      await whenTask(home, path, 'may I', task => task.state === 'skipped');
      await clean(home);
    };
    await reject(0);
    edit(path, text => text.replace('- [-] @bob', '- [ ] @bob'));
    await reject(1);
    expect(requestsFor('r')).toHaveLength(2);
  });
});

describe('the yes to a start', () => {
  it('is for all that is delivered of the task: it is shown, and changed it is asked about anew', async () => {
    const {home} = house;
    const path = 'tasks/bound.task.md';
    put(home, {
      [path]:
        '- [x] "before"\n  id: bb\n- [ ] C @mia "bound"\n  id: b\n  approval_required: true\n  due: 2030-01-01\n  reason: because\n  notes:\n    - 2026-01-01T00:00:00.000Z @ann: first\n',
    });
    const pageFor = async (nth: number) => {
      const item = await until(
        () => requestsFor('b')[nth],
        found => found !== undefined,
      );
      const id = fieldOf(item as Task, 'id') ?? '';
      await until(
        () => existsSync(join(home, `approvals/pending/${id}.approval.md`)),
        yes => yes,
      );
      await clean(home);
      return {...pageOf(home, id), id};
    };
    expect((await pageFor(0)).action).toMatchObject({
      priority: 'C',
      due: '2030-01-01',
      reason: 'because',
      'notes so far': '- @ann: first',
    });
    const changes: [string, string][] = [
      ['reason: because', 'reason: I say so'],
      ['@ann: first\n', '@ann: first\n    - 2026-01-01T00:00:01.000Z @ann: and second\n'],
      ['due: 2030-01-01', 'due: 2031-01-01'],
      ['[ ] C @mia', '[ ] B @mia'],
      ['  due:', '  depends_on: bb\n  due:'],
      ['  due:', '  parent: bb\n  due:'],
    ];
    for (const [i, [from, to]] of changes.entries()) {
      edit(path, text => text.replace(from, to));
      await pageFor(i + 1);
    }
    const yes = (id: string) => decideInQueue(home, id, 'x');
    // Changed after the yes, and before it is taken in.
    yes((await pageFor(changes.length)).id);
    edit(path, text => text.replace('I say so', 'I say no'));
    const {id, action} = await pageFor(changes.length + 1);
    expect(requestsFor('b').filter(item => fieldOf(item, 'status') === 'superseded')).toHaveLength(changes.length + 1);
    expect(action.reason).toBe('I say no');
    expect(existsSync(join(home, 'sessions/mia'))).toBe(false);
    yes(id);
    await whenTask(home, path, 'bound', task => task.state === 'in_progress');
    const told = parseSession(sessionsOf(home, 'mia')).messages[0]?.content ?? '';
    const {type, for: to, 'asks because': _, 'with always': __, 'risk level': ___, ...shown} = action;
    expect([type, to]).toEqual(['task_start', 'mia']);
    expect(Object.keys(shown)).toHaveLength(10);
    for (const text of Object.values(shown)) expect(told).toContain(text);
  });
});

describe('a task that a person skips while it is being asked about', () => {
  it('asks nothing of anybody in the end', async () => {
    const {home} = house;
    const ids = Array.from({length: 8}, (_, i) => `moot${i}`);
    for (const id of ids) {
      const path = `tasks/${id}.task.md`;
      put(home, {[path]: `- [ ] @lou "${id}"\n  id: ${id}\n  approval_required: true\n`});
      await whenTask(home, path, id, task => fieldOf(task, 'approval') !== undefined);
      edit(path, text => text.replace('- [ ]', '- [-]'));
    }
    await clean(home);
    await until(
      () => ids.flatMap(requestsFor).map(item => fieldOf(item, 'status')),
      states => !states.includes('pending'),
    );
  });
});

describe('a task that is delivered and not begun', () => {
  it('and gets another id is not brought again: its agent is told', async () => {
    const {home} = house;
    const path = 'tasks/renamed.task.md';
    const session = 'sessions/ned.session.yaml';
    minds.set('ned', ({last, tools}) => (tools > 0 ? {text: 'ok'} : done(idIn(last), 'done')));
    // The daemon knows the session before the tasks: else it may make another one for them.
    put(home, {[session]: 'session_id: ned\nagent_id: ned\nshared: true\nstatus: paused\nmessages: []\n'});
    await until(
      () => read(home, session),
      text => text.includes('created:'),
    );
    put(home, {[path]: '- [ ] @ned "renamed"\n  id: old-name\n- [ ] @ned "another"\n  id: another\n'});
    const delivered = (task: Task) => fieldOf(task, 'session') === 'ned';
    await whenTask(home, path, 'renamed', delivered);
    await whenTask(home, path, 'another', delivered);
    await clean(home);
    edit(path, text => text.replace('id: old-name', 'id: new-name'));
    await until(
      () => read(home, session),
      text => text.includes('delivery: task/new-name#1'),
    );
    await clean(home);
    const {messages} = parseSession(read(home, session));
    const told = messages.map(({content}) => content ?? '');
    expect(told.filter(text => text.includes('You have been assigned a task'))).toHaveLength(2);
    expect(told.at(-1)).toContain('Id: new-name\nId before: old-name');
    const delivery = async (id: string) => {
      await until(
        () => read(home, session),
        text => text.includes(`delivery: task/${id}#1`),
      );
      await clean(home);
      const {messages} = parseSession(read(home, session));
      return messages.find(message => message.delivery === `task/${id}#1`)?.content ?? '';
    };
    // With another title at once, and once more.
    edit(path, text => text.replace('"another"', '"quite different"').replace('id: another', 'id: different'));
    expect(await delivery('different')).toContain('Id: different\nId before: another\nTitle before: "another"');
    edit(path, text => text.replace('"renamed"', '"retitled"').replace('id: new-name', 'id: newer-name'));
    expect(await delivery('newer-name')).toContain('Id before: new-name\nTitle before: "renamed"');
    // One that its agent never had.
    edit(path, text => `${text}- [ ] @ned "more"\n  id: more\n`);
    expect(await delivery('more')).toContain('You have been assigned a task');
    edit(session, text => text.replace('status: paused', 'status: active'));
    await whenTask(home, path, 'more', task => task.state === 'completed');
  });
});

describe('a task that is begun', () => {
  it('and given to another agent is delivered to that one', async () => {
    const {home} = house;
    const path = 'tasks/given.task.md';
    put(home, {[path]: '- [ ] @gus "handed on"\n  id: h\n'});
    await whenTask(home, path, 'handed on', task => task.state === 'in_progress');
    await clean(home);
    edit(path, text => text.replace('@gus', '@hal'));
    await until(
      () => taskNamed(home, path, 'handed on'),
      task => task?.state === 'in_progress' && fieldOf(task, 'attempt') === '2',
    );
    expect(times('hal', 'You have been assigned a task')).toBe(1);
    expect(times('gus', 'You have been assigned a task')).toBe(1);
  });

  it('is done, and not, and done, as often as a person says so', async () => {
    const {home} = house;
    const path = 'tasks/toggled.task.md';
    put(home, {[path]: '- [/] "to and fro"\n  id: tf\n  started: 2026-01-01T00:00:00.000Z\n'});
    await clean(home);
    for (const box of ['x', '/', 'x', '/', 'x']) {
      edit(path, text => text.replace(/^- \[.\]/, `- [${box}]`));
      await until(
        () => taskNamed(home, path, 'to and fro') as Task,
        task => task.box === box && (fieldOf(task, 'completed') !== undefined) === (box === 'x'),
        5_000,
      );
      await clean(home);
    }
  });

  it('and ticked before it was written down that it is delivered, then set back, is delivered again', async () => {
    const {home} = house;
    const [path, session] = ['tasks/unmarked.task.md', 'sessions/lou/lou-shared.session.yaml'];
    // What is left if the daemon was killed between the delivery and its mark, and a person ticked the box meanwhile.
    put(home, {
      [session]: [
        'session_id: lou-shared',
        'agent_id: lou',
        'shared: true',
        'status: sleeping',
        'messages:',
        '  - {role: user, from: task/um, content: unmarked, delivery: "task/um#1"}',
        '  - {role: assistant, model: fake, content: noted.}',
        '',
      ].join('\n'),
    });
    await clean(home);
    put(home, {[path]: '- [ ] @lou "unmarked"\n  id: um\n  completed: 2026-01-01T00:00:00.000Z\n'});
    await whenTask(home, path, 'unmarked', task => task.state === 'in_progress');
    expect(times('lou', 'delivery: task/um#2\n')).toBe(1);
  });

  it('blocked, gone on with and blocked again, is told of both times', async () => {
    const {home} = house;
    const path = 'tasks/blocked.task.md';
    put(home, {[path]: '- [/] "hard"\n  id: hd\n  created_by: @ida\n  started: 2026-01-01T00:00:00.000Z\n'});
    for (const [i, box] of ['!', '/', '!', 'x'].entries()) {
      edit(path, text => text.replace(/^- \[.\]/, `- [${box}]`));
      const told = ['blocked', 'reopened 1', 'blocked 2', 'completed 2'][i];
      await until(
        () => fieldOf(taskNamed(home, path, 'hard') as Task, 'notified'),
        notified => notified === told,
      );
      await clean(home);
    }
    expect(times('ida', '[AGENTDIR TASK] Task blocked')).toBe(2);
    expect(times('ida', '[AGENTDIR TASK] Task completed')).toBe(1);
  });

  it('takes the agent that was made for it along, though that waits, failed, or was to do it before', async () => {
    const {home} = house;
    const path = 'tasks/made.task.md';
    minds.set('jon', () => ({status: 400, error: {message: 'no'}}));
    put(home, {[path]: '- [ ] "a"\n  id: m\n  assign: new:jon\n- [ ] "b"\n  id: m2\n  assign: new:kim\n'});
    const status = (name: string, id: string, wanted: string) =>
      until(
        () => read(home, `sessions/${name}/${name}-${id}.session.yaml`),
        text => new RegExp(`^status: ${wanted}$`, 'm').test(text),
      );
    await status('jon', 'm', 'error');
    await whenTask(home, path, 'b', task => task.state === 'in_progress');
    await status('kim', 'm2', 'sleeping');
    await clean(home);
    edit(path, text => text.replace(/^- \[.\] "a"/m, '- [x] "a"').replace(/^- \[.\] "b"/m, '- [ ] "b"'));
    await status('jon', 'm', 'completed');
    await status('kim', 'm2', 'completed');
    await whenTask(home, path, 'b', task => task.state === 'in_progress' && fieldOf(task, 'attempt') === '2');
    await status('kim', 'm2-2', 'sleeping');
  });
});

describe('notes', () => {
  it('that move do not wake anybody twice, and one above them wakes whom it names', async () => {
    const {home} = house;
    const path = 'tasks/notes.task.md';
    const first = '    - 2026-01-01T00:00:00.000Z @human: please look, @cyd\n';
    put(home, {[path]: `- [/] "talked about"\n  id: n\n  started: 2026-01-01T00:00:00.000Z\n  notes:\n${first}`});
    await whenTask(home, path, 'talked about', task => fieldOf(task, 'mentioned') !== undefined);
    await clean(home);
    edit(path, text => text.replace(first, `    - 2026-01-01T00:00:01.000Z @human: and you, @dot\n${first}`));
    await until(
      () => existsSync(join(home, 'sessions/dot')) && times('dot', 'mentioned you in a note') === 1,
      yes => yes,
    );
    await clean(home);
    expect(times('cyd', 'mentioned you in a note')).toBe(1);
  });

  it('of a task that is for nobody wake whom they name', async () => {
    const {home} = house;
    const path = 'tasks/nobody.task.md';
    put(home, {
      [path]: '- [ ] "for nobody"\n  notes:\n    - 2026-01-01T00:00:00.000Z @human: what do you say, @lou?\n',
    });
    await until(
      () => existsSync(join(home, 'sessions/lou')) && times('lou', 'mentioned you in a note'),
      count => count === 1,
    );
    const {task} = await whenTask(home, path, 'for nobody', one => fieldOf(one, 'mentioned') !== undefined);
    expect(task?.state).toBe('pending');
  });

  it('of one answer are all kept', async () => {
    const {home} = house;
    const path = 'tasks/two-notes.task.md';
    minds.set('eve', ({last, tools}) => {
      const id = idIn(last);
      if (tools > 0) return {text: 'that was it'};
      return {
        calls: [
          {name: 'update_task', arguments: {id, note: 'half of it is done'}},
          {name: 'update_task', arguments: {id, status: 'completed', note: 'all of it is done'}},
        ],
      };
    });
    put(home, {[path]: '- [ ] @eve "two notes"\n  id: tn\n'});
    const {task} = await whenTask(home, path, 'two notes', ({state}) => state === 'completed');
    expect(task?.notes.map(({text}) => text)).toEqual(['half of it is done', 'all of it is done']);
  });
});

describe('an agent', () => {
  it('cannot bring its file to a stand by fields that say nonsense', async () => {
    const {home} = house;
    const path = 'tasks/nonsense.task.md';
    const wanted = [{depends_on: 'nobody'}, {depends_on: 'x'}, {parent: 'y'}, {assign: 'new:fsy'}, {assign: 'fay'}];
    minds.set('fay', ({last, tools}) => {
      const fields = wanted[tools];
      const call = (args: object) => ({calls: [{name: 'update_task', arguments: {id: idIn(last), ...args}}]});
      return fields ? call({fields}) : tools > wanted.length ? {text: 'oh'} : call({status: 'completed'});
    });
    put(home, {[path]: '- [ ] @fay "x"\n  id: x\n'});
    await until(
      () => taskNamed(home, path, 'x')?.state,
      state => state === 'completed',
    );
    expect(times('fay', 'INVALID_ARGUMENTS')).toBe(wanted.length);
  });
});
