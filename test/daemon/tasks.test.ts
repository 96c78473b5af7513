import {existsSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {fieldOf, type Task} from '../../src/formats/task/task.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {put, until} from '../cli/run.ts';
import {agent, clean, done, idIn, sessionsOf, startMinds, taskNamed, tasksOf, whenTask} from './minds.ts';
import {read, serve, spawnDaemon} from './serve.ts';
import {homes} from './sound.ts';

const {minds, server, env} = await startMinds();
const newHome = homes({
  'templates/boss.agent.yaml': agent('boss'),
  'templates/ann.agent.yaml': agent('ann'),
  'templates/bob.agent.yaml': agent('bob'),
  'templates/fresh.agent.yaml': agent('fresh', 'context: fresh\n'),
});

describe('a task', () => {
  it('goes to its agent once, is begun, done, wakes what depends on it, and its creator hears of it', async () => {
    minds.set('boss', ({last, tools}) => {
      if (!last.startsWith('plan')) return {text: 'noted'};
      if (tools > 0) return {text: 'planned'};
      return {
        calls: [
          {
            name: 'create_task',
            arguments: {
              title: 'the whole',
              file: 'tasks/plan.task.md',
              children: [
                {title: 'first', assignee: 'ann', prompt: 'look at `it`\n```\ncode\n```'},
                {title: 'second', assignee: '@bob', depends_on: ['first'], priority: 'high'},
              ],
            },
          },
        ],
      };
    });
    for (const name of ['ann', 'bob'])
      minds.set(name, ({last, tools}) => (tools > 0 ? {text: 'that was it'} : done(idIn(last), `${name} did it`)));
    const home = newHome();
    put(home, {'sessions/p.session.yaml': 'agent_id: boss\nmessages:\n  - role: user\n    content: plan please\n'});
    const daemon = await serve(home, env);
    await whenTask(
      home,
      'tasks/plan.task.md',
      'second',
      task => task.state === 'completed' && fieldOf(task, 'notified') === 'completed',
    );
    const first = taskNamed(home, 'tasks/plan.task.md', 'first');
    expect(first?.state).toBe('completed');
    for (const key of ['id', 'created', 'created_by', 'created_in', 'assigned', 'session', 'started', 'completed'])
      expect(fieldOf(first as Task, key), key).toBeDefined();
    expect(fieldOf(first as Task, 'created_by')).toBe('@boss');
    expect(first?.notes.map(({who, text}) => `${who}: ${text}`)).toEqual(['ann: ann did it']);
    await until(
      () => read(home, 'sessions/p.session.yaml'),
      text => (text.match(/\[AGENTDIR TASK\] Task completed/g) ?? []).length === 2 && /status: sleeping/.test(text),
    );
    const ann = sessionsOf(home, 'ann');
    expect(ann.match(/You have been assigned a task/g)).toHaveLength(1);
    expect(ann).toContain('````');
    await clean(home);
    expect(await daemon.stop(), daemon.errors()).toBe(0);
    const again = await serve(home, env);
    await clean(home);
    expect(await again.stop()).toBe(0);
    expect(sessionsOf(home, 'ann').match(/You have been assigned a task/g)).toHaveLength(1);
    expect(server.violations).toEqual([]);
  });

  it('that a person ticks has the same effect; one that is set back is delivered again', async () => {
    const home = newHome();
    minds.set('ann', () => ({text: 'I think about it'}));
    minds.set('bob', ({last, tools}) => (tools > 0 ? {text: 'ok'} : done(idIn(last), 'done')));
    put(home, {
      'tasks/t.task.md': '- [ ] @ann "mine"\n  id: t1\n- [ ] @bob "then"\n  id: t2\n  depends_on: t1\n',
    });
    const daemon = await serve(home, env);
    await whenTask(home, 'tasks/t.task.md', 'mine', task => task.state === 'in_progress');
    expect(taskNamed(home, 'tasks/t.task.md', 'then')?.state).toBe('pending');
    const path = join(home, 'tasks/t.task.md');
    writeFileSync(path, read(home, 'tasks/t.task.md').replace('- [/] @ann', '- [x] @ann'));
    await whenTask(home, 'tasks/t.task.md', 'then', task => task.state === 'completed');
    await clean(home);
    writeFileSync(path, read(home, 'tasks/t.task.md').replace('- [x] @bob', '- [ ] @bob'));
    await whenTask(
      home,
      'tasks/t.task.md',
      'then',
      task => task.state === 'completed' && fieldOf(task, 'attempt') === '2',
    );
    await clean(home);
    expect(sessionsOf(home, 'bob').match(/You have been assigned a task/g)).toHaveLength(2);
    expect(await daemon.stop(), daemon.errors()).toBe(0);
  });

  it('of an agent with a fresh context, or of one that is made for it, has a session of its own', async () => {
    const home = newHome();
    for (const name of ['fresh', 'ann'])
      minds.set(name, ({last, tools}) => (tools > 0 ? {text: 'over'} : done(idIn(last), 'done')));
    put(home, {
      'tasks/t.task.md':
        '- [ ] @fresh "a"\n  id: a\n- [ ] @fresh "b"\n  id: b\n- [ ] "c"\n  id: c\n  assign: new:ann\n',
    });
    const daemon = await serve(home, env);
    for (const title of ['a', 'b', 'c'])
      await whenTask(home, 'tasks/t.task.md', title, task => task.state === 'completed');
    await until(
      () => read(home, 'sessions/ann/ann-c.session.yaml'),
      text => /^status: completed$/m.test(text),
    );
    await clean(home);
    const files = readdirSync(join(home, 'sessions/fresh')).filter(name => !name.startsWith('.'));
    expect(files.sort()).toEqual(['fresh-a.session.yaml', 'fresh-b.session.yaml']);
    expect(await daemon.stop(), daemon.errors()).toBe(0);
  });
});

describe('what else follows from tasks', () => {
  it('one that another system gave to its agent is delivered here, once', async () => {
    const home = newHome();
    minds.set('ann', () => ({text: 'I see'}));
    put(home, {
      'tasks/t.task.md':
        '- [ ] @ann "given"\n  id: g\n  assigned: 2025-10-04T10:05:00.000Z\n- [ ] @ann "new"\n  id: n\n',
    });
    const daemon = await serve(home, env);
    for (const title of ['new', 'given'])
      await whenTask(home, 'tasks/t.task.md', title, task => task.state === 'in_progress');
    await clean(home);
    expect(sessionsOf(home, 'ann').match(/You have been assigned a task/g)).toHaveLength(2);
    expect(await daemon.stop(), daemon.errors()).toBe(0);
  });

  it('a person lets one start, or not; the yes is for what it said', async () => {
    const home = newHome();
    minds.set('ann', ({last, tools}) => (tools > 0 ? {text: 'ok'} : done(idIn(last), 'done')));
    put(home, {
      'tasks/t.task.md':
        '- [ ] @ann "yes"\n  id: y\n  approval_required: true\n- [ ] @ann "no"\n  id: n\n  approval_required: true\n',
    });
    const daemon = await serve(home, env);
    const queue = 'tasks/approvals.task.md';
    const items = () => parseTasks(read(home, queue)).tasks;
    await until(
      () => items().map(item => fieldOf(item, 'approval_type')),
      types => types.filter(type => type === 'task_start').length === 2,
    );
    for (const item of items())
      await until(
        () => existsSync(join(home, `approvals/pending/${fieldOf(item, 'id')}.approval.md`)),
        yes => yes,
      );
    expect(taskNamed(home, 'tasks/t.task.md', 'yes')?.state).toBe('pending');
    const idOf = (task: string) => fieldOf(items().find(item => fieldOf(item, 'task') === task) as Task, 'id') ?? '';
    const decide = (task: string, box: string) => {
      const lines = read(home, queue).split('\n');
      const at = lines.findIndex(line => line.trim() === `id: ${idOf(task)}`);
      lines[at - 1] = (lines[at - 1] ?? '').replace('[_]', `[${box}]`);
      writeFileSync(join(home, queue), lines.join('\n'));
    };
    decide('n', '-');
    await whenTask(home, 'tasks/t.task.md', 'no', task => task.state === 'skipped');
    await clean(home);
    decide('y', 'x');
    await whenTask(home, 'tasks/t.task.md', 'yes', task => task.state === 'completed');
    await until(
      () => read(home, queue),
      text => /outcome: delivered to ann/.test(text),
    );
    await clean(home);
    expect(await daemon.stop(), daemon.errors()).toBe(0);
    expect(sessionsOf(home, 'ann').match(/You have been assigned a task/g)).toHaveLength(1);
  });

  it('a note wakes whom it names, once; the owner hears when the last part is done', async () => {
    const home = newHome();
    for (const name of ['ann', 'bob', 'boss']) minds.set(name, () => ({text: 'I see'}));
    put(home, {
      'tasks/t.task.md':
        '- [/] @boss "whole"\n  id: w\n  started: 2026-01-01T00:00:00.000Z\n  - [x] "one"\n    id: w1\n  - [/] "two"\n    id: w2\n    notes:\n      - 2026-01-01T00:00:00.000Z @human: please look, @bob\n',
    });
    const daemon = await serve(home, env);
    await whenTask(home, 'tasks/t.task.md', 'two', task => fieldOf(task, 'mentioned') !== undefined);
    expect(sessionsOf(home, 'bob').match(/mentioned you in a note/g)).toHaveLength(1);
    await clean(home);
    const path = join(home, 'tasks/t.task.md');
    writeFileSync(path, read(home, 'tasks/t.task.md').replace('- [/] "two"', '- [x] "two"'));
    await whenTask(home, 'tasks/t.task.md', 'whole', task => fieldOf(task, 'parts_done') !== undefined);
    expect(sessionsOf(home, 'boss')).toContain('All 2 parts of your task');
    await clean(home);
    expect(await daemon.stop(), daemon.errors()).toBe(0);
    expect(sessionsOf(home, 'bob').match(/mentioned you in a note/g)).toHaveLength(1);
  });

  it('a person reorders, re-indents, renames and ticks in the file that agents write to: nothing is lost or comes twice', async () => {
    const home = newHome();
    const path = 'tasks/both.task.md';
    const ids = Array.from({length: 10}, (_, i) => `b${i}`);
    for (const name of ['ann', 'bob'])
      minds.set(name, ({all}) => {
        // All that came so far, one after the other: several may come at once.
        const mine = all.flatMap(({role, content}) =>
          role === 'user' && /assigned a task/.test(String(content)) ? [idIn(String(content))] : [],
        );
        const made = all.filter(({role}) => role === 'tool').length;
        const id = mine[made >> 1];
        if (id === undefined) return {text: 'over'};
        return made % 2
          ? done(id, `${name} ends ${id}`)
          : {calls: [{name: 'update_task', arguments: {id, note: `${name} begins ${id}`}}]};
      });
    const taskText = (id: string, i: number) => `- [ ] @${i % 2 ? 'ann' : 'bob'} "task ${id}"\n  id: ${id}\n`;
    put(home, {[path]: `# Both\n\nProse that stays.\n\n## TODO\n\n${ids.map(taskText).join('')}`});
    const daemon = await serve(home, env);
    const edits: ((text: string) => string)[] = [
      text => text.replace(/"task b3"/, '"task b3, renamed"'),
      text => text.replace(/^(- \[.\] .*"task b1"\n(?: {2}.*\n)*)(- \[.\] .*"task b2"\n(?: {2}.*\n)*)/m, '$2$1'),
      text =>
        text.replace(
          /^(- \[.\] .*"task b5"\n)((?: {2}.*\n)*)/m,
          (_, head: string, rest: string) => head + rest.replace(/^ {2}/gm, '    '),
        ),
      text => text.replace('Prose that stays.', 'Prose that stays, and grows.'),
      text => text.replace(/^- \[[ /]\](.*"task b7")/m, '- [x]$1'),
      text => `${text}- [ ] a list of my own\n`,
    ];
    for (const edit of edits) {
      const text = read(home, path);
      writeFileSync(join(home, path), edit(text));
      await until(
        () => daemon.events.filter(({event, path: of}) => event === 'seen' && of === path).length,
        seen => seen > 0,
      );
      await new Promise(resolve => setTimeout(resolve, 40));
    }
    const state = await until(
      () => tasksOf(home, path),
      tasks => ids.every(id => tasks.some(task => fieldOf(task, 'id') === id && task.state === 'completed')),
    );
    await clean(home);
    expect(ids.map(id => state.filter(task => fieldOf(task, 'id') === id).length)).toEqual(ids.map(() => 1));
    const text = read(home, path);
    expect(text).toContain('Prose that stays, and grows.');
    expect(text).toContain('renamed');
    expect(text).toContain('a list of my own');
    const all = sessionsOf(home, 'ann') + sessionsOf(home, 'bob');
    const times = (id: string) => all.match(new RegExp(`delivery: '?task/${id}#`, 'g'))?.length ?? 0;
    // What the person ticked may not have been delivered any more.
    for (const id of ids) expect(times(id), id).toBe(id === 'b7' ? Math.min(1, times(id)) : 1);
    for (const id of ids.filter(id => id !== 'b7')) {
      expect(text, id).toContain(`begins ${id}`);
      expect(text, id).toContain(`ends ${id}`);
    }
    expect(await daemon.stop(), daemon.errors()).toBe(0);
    expect(existsSync(join(home, 'conflicts')) ? readdirSync(join(home, 'conflicts')) : []).toEqual([]);
  });

  it('killed between the delivery and its mark, nothing comes twice', async () => {
    const home = newHome();
    minds.set('ann', ({last, tools}) => (tools > 0 ? {text: 'ok'} : done(idIn(last), 'done')));
    put(home, {'tasks/t.task.md': '- [ ] @ann "a"\n  id: a\n- [ ] @ann "b"\n  id: b\n  depends_on: a\n'});
    for (const crash of ['delivery:1', 'delivery:1', 'delivery:2']) {
      const killed = spawnDaemon(home, {...env, AGENTDIR_CRASH_AT: crash});
      await until(
        () => killed.child.signalCode !== null || taskNamed(home, 'tasks/t.task.md', 'b')?.state === 'completed',
        yes => yes,
      );
      await killed.kill();
    }
    const daemon = await serve(home, env);
    await whenTask(home, 'tasks/t.task.md', 'b', task => task.state === 'completed');
    await clean(home);
    expect(await daemon.stop(), daemon.errors()).toBe(0);
    expect(sessionsOf(home, 'ann').match(/You have been assigned a task/g)).toHaveLength(2);
    expect(sessionsOf(home, 'ann').match(/delivery: .*task\/a#1/g)).toHaveLength(1);
  });
});

describe('a message', () => {
  it('wakes its receiver, and an answer comes back to where it was sent from', async () => {
    const home = newHome();
    minds.set('boss', ({last, tools}) => {
      if (last.startsWith('ask'))
        return tools > 0
          ? {text: 'asked'}
          : {calls: [{name: 'send_message', arguments: {to: '@ann', content: 'How are you?'}}]};
      return {text: 'thanks'};
    });
    minds.set('ann', () => ({text: 'Fine, @boss. Write to `@bob`, or bob@bob.'}));
    put(home, {'sessions/q.session.yaml': 'agent_id: boss\nmessages:\n  - role: user\n    content: ask her\n'});
    const daemon = await serve(home, env);
    const text = await until(
      () => read(home, 'sessions/q.session.yaml'),
      now => /thanks/.test(now) && /status: sleeping/.test(now),
    );
    expect(text.match(/from: '?@ann'?/g)).toHaveLength(1);
    expect(text).toContain('hops: 2');
    await until(
      () => sessionsOf(home, 'ann'),
      now => !/mentions_due/.test(now),
    );
    await clean(home);
    expect(await daemon.stop(), daemon.errors()).toBe(0);
    expect(readdirSync(join(home, 'sessions'))).not.toContain('bob');
  });

  it('to nobody is an error that the model sees', async () => {
    const home = newHome();
    minds.set('boss', ({tools}) =>
      tools > 0 ? {text: 'oh'} : {calls: [{name: 'send_message', arguments: {to: 'anne', content: 'hi'}}]},
    );
    put(home, {'sessions/q.session.yaml': 'agent_id: boss\nmessages:\n  - role: user\n    content: go\n'});
    const daemon = await serve(home, env);
    const text = await until(
      () => read(home, 'sessions/q.session.yaml'),
      now => /status: sleeping/.test(now),
    );
    expect(text).toMatch(/INVALID_ARGUMENTS/);
    expect(text).toMatch(/did you mean/);
    expect(await daemon.stop(), daemon.errors()).toBe(0);
  });

  it('that leads to another and another waits for a person in the end', async () => {
    const home = newHome();
    put(home, {'agentdir.yaml': 'format: 1\nlimits: {agent_messages: 4}\n'});
    for (const [name, other] of [
      ['ann', 'bob'],
      ['bob', 'ann'],
    ] as const)
      minds.set(name, () => ({text: `and you, @${other}?`}));
    put(home, {'sessions/q.session.yaml': 'agent_id: ann\nmessages:\n  - role: user\n    content: go\n'});
    const daemon = await serve(home, env);
    const queue = await until(
      () => read(home, 'tasks/approvals.task.md'),
      text => /messages between agents/.test(text),
    );
    expect(queue).toContain('approval_type: budget');
    await clean(home);
    expect(await daemon.stop(), daemon.errors()).toBe(0);
  });
});
