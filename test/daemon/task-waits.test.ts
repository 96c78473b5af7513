import {readdirSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {fieldOf} from '../../src/formats/task/task.ts';
import {agentdir, put, until} from '../cli/run.ts';
import type {Reaction} from '../model/fake-openai.mjs';
import {agent, clean, done, openTaskHouse, sessionsOf, startMinds, taskNamed, whenTask} from './minds.ts';
import {read} from './serve.ts';

const {minds, env} = await startMinds();
const house = openTaskHouse(
  {
    ...Object.fromEntries(
      ['ann', 'bob', 'cyd', 'dot', 'eve', 'fay', 'guy', 'hal', 'ivy', 'jay'].map(name => [
        `templates/${name}.agent.yaml`,
        agent(name),
      ]),
    ),
    'templates/mute.agent.yaml': agent('mute', '', 'create_task, send_message'),
  },
  env,
);
const REMINDED = 'is still open:';
const write = (to: string): Reaction => ({calls: [{name: 'send_message', arguments: {to, content: 'what is it?'}}]});
const create = (title: string, assignee: string): Reaction => ({
  calls: [{name: 'create_task', arguments: {title, assignee}}],
});
const whenSaid = async (path: string, title: string, name: string, what: string) => {
  await whenTask(house.home, path, title, ({state}) => state === 'in_progress');
  await until(
    () => sessionsOf(house.home, name),
    all => all.includes(what),
  );
  await clean(house.home);
};

describe('an agent with a task waits for an answer', () => {
  it.each([
    ['deletes', 'ann', 'bob'],
    ['completes', 'eve', 'fay'],
  ])('until a person %s the session that it wrote to', async (how, who, other) => {
    const {home} = house;
    const path = `tasks/${how}.task.md`;
    let goOn = () => {};
    const held = new Promise<void>(resolve => {
      goOn = resolve;
    });
    minds.set(who, ({last, tools}): Reaction => {
      if (tools > 0) return {text: 'I wait'};
      return last.includes(REMINDED) ? done(how, 'nobody knows') : write(other);
    });
    minds.set(other, async (): Promise<Reaction> => {
      await held;
      return {text: 'too late'};
    });
    put(home, {[path]: `- [ ] @${who} "asks"\n  id: ${how}\n`});
    await whenSaid(path, 'asks', who, 'content: I wait\n');
    const session = `sessions/${other}/${readdirSync(join(home, 'sessions', other))[0]}`;
    if (how === 'deletes') rmSync(join(home, session));
    else put(home, {[session]: read(home, session).replace(/^status: .*$/m, 'status: completed')});
    const {task} = await whenTask(home, path, 'asks', ({state}) => state === 'completed');
    expect(task?.notes.at(-1)?.text).toBe('nobody knows');
    goOn();
  });

  it('until the other one ends its turn, whatever that one waits for', async () => {
    const {home} = house;
    const path = 'tasks/deleted.task.md';
    minds.set('ivy', ({last, tools}): Reaction => {
      if (last.includes(REMINDED)) return tools > 0 ? {text: 'done'} : done('deleted', 'nobody knows');
      if (last.includes('I wait for somebody')) return {text: 'so be it'};
      return tools > 0 ? {text: 'I wait for jay'} : write('jay');
    });
    minds.set('jay', ({tools}) =>
      tools > 0 ? {text: 'I wait for somebody'} : {calls: [{name: 'create_task', arguments: {title: 'for anybody'}}]},
    );
    put(home, {[path]: '- [ ] @ivy "asks"\n  id: deleted\n'});
    await whenSaid('tasks/deleted.task.md', 'asks', 'ivy', 'content: so be it\n');
    await whenTask(home, 'tasks/jay.task.md', 'for anybody', ({state}) => state === 'pending');
    await until(
      () => sessionsOf(home, 'jay'),
      all => all.includes('content: I wait for somebody\n') && all.includes('status: sleeping'),
    );
    const {task} = await whenTask(home, path, 'asks', ({state}) => state === 'completed');
    expect(task?.notes.at(-1)?.text).toBe('nobody knows');
  });

  it('but not in a circle, if one of them waits for a task that another has', async () => {
    const {home} = house;
    const path = 'tasks/circle.task.md';
    minds.set('cyd', ({last, tools}): Reaction => {
      if (last.includes('You have been assigned') && tools === 0) return write('dot');
      return {text: 'I wait for dot'};
    });
    minds.set('dot', ({last, tools}): Reaction => {
      if (last.includes('Task completed')) return {text: 'now I know'};
      return tools > 0 ? {text: 'I wait for guy'} : create('part', 'guy');
    });
    minds.set('guy', ({last, tools}): Reaction => {
      if (tools > 0) return {text: 'I wait for cyd'};
      if (last.includes('I wait for dot')) return {text: 'nobody knows'};
      const id = fieldOf(taskNamed(home, 'tasks/dot.task.md', 'part') as never, 'id') ?? '';
      return last.includes(REMINDED) ? done(id, 'without cyd') : write('cyd');
    });
    put(home, {[path]: '- [ ] @cyd "whole"\n  id: circle\n'});
    const {task} = await whenTask(home, 'tasks/dot.task.md', 'part', ({state}) => state === 'completed');
    expect(task?.notes.at(-1)?.text).toBe('without cyd');
    // Nobody is at work any more: cyd is asked, too.
    await whenTask(home, path, 'whole', each => fieldOf(each, 'stalled') !== undefined);
  });
});

it('a task is not held up by tasks that were created before it came', async () => {
  const {home} = house;
  const path = 'tasks/before.task.md';
  minds.set('mute', ({last, tools}): Reaction => {
    if (last.includes('Id: sum')) return {text: 'It is 2.'};
    if (last.includes('Task completed')) return {text: 'guy did it'};
    return tools > 0 ? {text: 'I wait'} : create('for guy', 'guy');
  });
  minds.set('guy', () => ({text: 'later'}));
  put(home, {[path]: '- [ ] @mute "have it done"\n  id: whole\n'});
  await whenSaid(path, 'have it done', 'mute', 'content: I wait\n');
  put(home, {[path]: `${read(home, path)}- [ ] @mute "one and one"\n  id: sum\n`});
  const {task} = await whenTask(home, path, 'one and one', ({state}) => state === 'completed');
  expect(task?.notes.map(({text}) => text)).toEqual(['It is 2.']);
  expect(taskNamed(home, path, 'have it done')?.state).toBe('in_progress');
  const id = fieldOf(taskNamed(home, 'tasks/mute.task.md', 'for guy') as never, 'id') ?? '';
  expect(await agentdir(home, ['task', 'done', id])).toMatchObject({code: 0});
  const {task: whole} = await whenTask(home, path, 'have it done', ({state}) => state === 'completed');
  expect(whole?.notes.map(({text}) => text)).toEqual(['guy did it']);
});

it('a task whose session a person deletes is told of, and begun anew when they set it back', async () => {
  const {home} = house;
  const path = 'tasks/gone.task.md';
  let goOn = () => {};
  const held = new Promise<void>(resolve => {
    goOn = resolve;
  });
  minds.set('hal', async ({tools}): Promise<Reaction> => {
    await held;
    return tools > 0 ? {text: 'at last'} : done('gone', 'at last');
  });
  put(home, {[path]: '- [ ] @hal "do it"\n  id: gone\n'});
  const {task} = await whenTask(home, path, 'do it', ({state}) => state === 'in_progress');
  const needs = (isTold: boolean) =>
    until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text.includes('**in progress** `do it` (`gone`)') === isTold,
    );
  await clean(home);
  await needs(false);
  const session = fieldOf(task as never, 'session') ?? '';
  rmSync(join(home, `sessions/hal/${session}.session.yaml`));
  expect(await needs(true)).toContain('## Stalled tasks');
  expect((await agentdir(home, ['check'])).stdout).toContain(`its session "${session}" no longer exists`);
  goOn();
  expect((await agentdir(home, ['task', 'reopen', 'gone'])).code).toBe(0);
  await whenTask(home, path, 'do it', ({state}) => state === 'completed');
  await needs(false);
});
