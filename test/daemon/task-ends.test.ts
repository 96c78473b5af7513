import {existsSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {fieldOf} from '../../src/formats/task/task.ts';
import {agentdir, git, put, until} from '../cli/run.ts';
import type {Reaction} from '../model/fake-openai.mjs';
import {agent, clean, done, idIn, openTaskHouse, sessionsOf, startMinds, taskNamed, whenTask} from './minds.ts';
import {read, serve, spawnDaemon} from './serve.ts';
import {homes} from './sound.ts';

const {minds, env} = await startMinds();
const templates = {
  'agentdir.yaml': 'format: 1\nlimits: {agent_messages: 6}\n',
  ...Object.fromEntries(
    ['ann', 'bob', 'cyd', 'dot', 'eve', 'fay', 'ida'].map(name => [`templates/${name}.agent.yaml`, agent(name)]),
  ),
  'templates/mute.agent.yaml': agent('mute', '', 'create_task, send_message'),
};
const house = openTaskHouse(templates, env);
const newHome = homes(templates);
const times = (home: string, name: string, what: string) => sessionsOf(home, name).split(what).length - 1;
const REMINDED = 'is still open:';

describe('an agent that ends its turn', () => {
  it('and has no update_task ends its task by its answer, once it waits for nobody', async () => {
    const {home} = house;
    const path = 'tasks/mute.task.md';
    minds.set('mute', ({last, tools}): Reaction => {
      if (last.includes('Id: q1')) return {text: `It is 42.\n${'x'.repeat(3_000)}`};
      if (last.includes('Task completed')) return {text: 'cyd did it for me'};
      if (tools > 0) return {text: 'I wait for cyd'};
      return {calls: [{name: 'create_task', arguments: {title: 'asked of cyd', assignee: 'cyd'}}]};
    });
    minds.set('cyd', () => ({text: 'later'}));
    put(home, {[path]: '- [ ] @mute "what is it?"\n  id: q1\n'});
    const {task} = await whenTask(home, path, 'what is it?', ({state}) => state === 'completed');
    expect(task?.notes).toHaveLength(1);
    expect(task?.notes[0]?.who).toBe('mute');
    expect(task?.notes[0]?.text).toMatch(/^It is 42\.[\s\S]{1990,2010}… \(all of it is in mute-shared\)$/);
    expect(fieldOf(task as never, 'completed')).toBeDefined();
    expect(sessionsOf(home, 'mute')).toContain('Your final answer ends this task');
    put(home, {[path]: `${read(home, path)}- [ ] @mute "have it done"\n  id: q2\n`});
    await whenTask(home, 'tasks/mute.task.md', 'asked of cyd', ({state}) => state === 'in_progress');
    await until(
      () => times(home, 'cyd', REMINDED),
      count => count === 1,
    );
    await clean(home);
    expect(taskNamed(home, path, 'have it done')?.state).toBe('in_progress');
    minds.set('cyd', ({tools, all}): Reaction => {
      const id = idIn(all.map(({content}) => String(content)).find(text => /assigned a task/.test(text)) ?? '');
      return tools > 0 ? {text: 'ok'} : done(id, 'done');
    });
    expect((await agentdir(home, ['send', 'go on', '--to', 'cyd'])).code).toBe(0);
    const {task: second} = await whenTask(home, path, 'have it done', ({state}) => state === 'completed');
    expect(second?.notes.at(-1)?.text).toBe('cyd did it for me');
    // Nobody does a part that nobody is assigned to, so the task does not wait for it.
    minds.set('mute', () => ({text: 'all of it'}));
    put(home, {[path]: `${read(home, path)}- [ ] @mute "in parts"\n  id: q3\n  - [ ] "a part of nobody"\n`});
    await whenTask(home, path, 'in parts', ({state}) => state === 'completed');
  });

  it('with a task of a person blocked: the person sees it, until it goes on', async () => {
    const {home} = house;
    const path = 'tasks/blocked.task.md';
    const stuck = {name: 'update_task', arguments: {id: 'key', status: 'blocked', note: 'there is no key'}};
    minds.set('fay', ({tools, all}): Reaction => {
      const tries = all.filter(({content}) => String(content).includes('Id: key')).length;
      if (tools > 0) return {text: 'I said so'};
      return tries > 1 ? done('key', 'opened') : {calls: [stuck]};
    });
    put(home, {[path]: '- [ ] @fay "open the door"\n  id: key\n'});
    const needs = await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text.includes('open the door'),
    );
    expect(needs).toContain('## Stalled tasks');
    put(home, {[path]: read(home, path).replace('- [!]', '- [ ]')});
    await whenTask(home, path, 'open the door', ({state}) => state === 'completed');
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => !text.includes('open the door'),
    );
  });

  it("is told where its deliveries go, if the session it asked from is another agent's when it is mended", async () => {
    const home = newHome();
    const {stop} = await serve(home, env);
    const session = 'sessions/passes.session.yaml';
    minds.set('dot', ({last, tools}): Reaction => {
      if (tools > 0 || last.includes('Task completed')) return {text: 'good'};
      return {calls: [{name: 'create_task', arguments: {title: 'told elsewhere', assignee: 'human'}}]};
    });
    put(home, {[session]: 'agent_id: dot\nmessages:\n  - role: user\n    content: have it done\n'});
    await whenTask(home, 'tasks/dot.task.md', 'told elsewhere', ({state}) => state === 'pending');
    await until(
      () => read(home, session),
      text => text.includes('good'),
    );
    await clean(home);
    const text = read(home, session);
    put(home, {[session]: 'agent_id: [\n'});
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      needs => needs.includes(session),
    );
    put(home, {'tasks/dot.task.md': read(home, 'tasks/dot.task.md').replace('- [ ]', '- [x]')});
    await clean(home);
    expect(existsSync(join(home, 'sessions/dot'))).toBe(false);
    put(home, {[session]: text.replace('agent_id: dot', 'agent_id: fay')});
    await until(
      () => existsSync(join(home, 'sessions/dot')) && sessionsOf(home, 'dot'),
      all => all !== false && all.includes('Task completed'),
    );
    await clean(home);
    expect(read(home, session)).not.toContain('Task completed');
    expect(await stop()).toBe(0);
  });

  it('is told in the session that it asked from, though that has errors then: when it is mended, and nowhere else', async () => {
    const home = newHome();
    const {stop} = await serve(home, env);
    const session = 'sessions/asks.session.yaml';
    let goOn = () => {};
    const held = new Promise<void>(resolve => {
      goOn = resolve;
    });
    minds.set('dot', ({last, tools}): Reaction => {
      if (tools > 0 || last.includes('Task completed')) return {text: 'good'};
      return {calls: [{name: 'create_task', arguments: {title: 'told later', assignee: 'eve'}}]};
    });
    minds.set('eve', async ({last, tools}): Promise<Reaction> => {
      await held;
      return tools > 0 ? {text: 'it is done'} : done(idIn(last), 'done');
    });
    put(home, {[session]: 'agent_id: dot\nmessages:\n  - role: user\n    content: have it done\n'});
    await whenTask(home, 'tasks/dot.task.md', 'told later', ({state}) => state === 'in_progress');
    await clean(home);
    const text = read(home, session);
    put(home, {[session]: 'agent_id: [\n'});
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      needs => needs.includes(session),
    );
    goOn();
    await whenTask(home, 'tasks/dot.task.md', 'told later', ({state}) => state === 'completed');
    await until(
      () => sessionsOf(home, 'eve'),
      all => all.includes('it is done'),
    );
    await clean(home);
    put(home, {[session]: text});
    await until(
      () => read(home, session),
      now => now.includes('Task completed'),
    );
    await clean(home);
    expect(existsSync(join(home, 'sessions/dot'))).toBe(false);
    expect(await stop()).toBe(0);
  });

  it.each(['ran', 'was started anew'])(
    'while the file of its task is gone is reminded when it is back; a daemon %s',
    async how => {
      const home = how === 'ran' ? house.home : newHome();
      const own = how === 'ran' ? undefined : await serve(home, env);
      const path = 'tasks/gone.task.md';
      let goOn = () => {};
      const held = new Promise<void>(resolve => {
        goOn = resolve;
      });
      minds.set('bob', async ({last, tools}): Promise<Reaction> => {
        await held;
        return tools > 0 ? {text: 'it is done'} : done(idIn(last), 'done');
      });
      put(home, {[path]: '- [ ] @bob "comes back"\n  id: cb\n'});
      await whenTask(home, path, 'comes back', ({state}) => state === 'in_progress');
      await clean(home);
      const text = read(home, path);
      rmSync(join(home, path));
      await clean(home);
      await until(
        async () => (await git(home, 'ls-files', path)).trim(),
        listed => listed === '',
      );
      goOn();
      await until(
        () => sessionsOf(home, 'bob'),
        all => all.includes('there is no task') && /^status: sleeping$/m.test(all),
      );
      await clean(home);
      await own?.kill();
      put(home, {[path]: text});
      const again = own && (await serve(home, env));
      await whenTask(home, path, 'comes back', ({state}) => state === 'completed');
      expect(times(home, 'bob', REMINDED)).toBe(1);
      expect(await again?.stop()).toBe(again && 0);
    },
  );

  it('that it began while the file of its task was gone is reminded when it is back', async () => {
    const {home} = house;
    const [first, path] = ['tasks/before.task.md', 'tasks/later.task.md'];
    let goOn = () => {};
    const held = new Promise<void>(resolve => {
      goOn = resolve;
    });
    minds.set('ida', async ({last, tools}): Promise<Reaction> => {
      await held;
      return tools > 0 ? {text: 'it is done'} : done(idIn(last), 'done');
    });
    put(home, {[first]: '- [ ] @ida "before"\n  id: bf\n'});
    await whenTask(home, first, 'before', ({state}) => state === 'in_progress');
    put(home, {[path]: '- [ ] @ida "later"\n  id: lt\n'});
    await whenTask(home, path, 'later', task => fieldOf(task, 'assigned') !== undefined);
    await clean(home);
    const text = read(home, path);
    rmSync(join(home, path));
    await until(
      async () => (await git(home, 'ls-files', path)).trim(),
      listed => listed === '',
    );
    goOn();
    await until(
      () => sessionsOf(home, 'ida'),
      all => all.includes('there is no task') && /^status: sleeping$/m.test(all),
    );
    await clean(home);
    put(home, {[path]: text});
    await whenTask(home, path, 'later', ({state}) => state === 'completed');
    expect(times(home, 'ida', REMINDED)).toBe(1);
  });

  it('with its task open is reminded once, and then it is shown that the task stands still', async () => {
    const {home} = house;
    const path = 'tasks/still.task.md';
    minds.set('dot', () => ({text: 'I have done something'}));
    minds.set('eve', ({last, tools}): Reaction => {
      if (tools > 0) return {text: 'now it is'};
      return last.includes(REMINDED) ? done(idIn(last), 'done') : {text: 'it is done'};
    });
    put(home, {[path]: '- [ ] @dot "stands"\n  id: st\n- [ ] @eve "first"\n  id: e1\n- [ ] @eve "second"\n  id: e2\n'});
    for (const title of ['first', 'second']) await whenTask(home, path, title, ({state}) => state === 'completed');
    await whenTask(home, path, 'stands', task => fieldOf(task, 'stalled') !== undefined);
    expect(times(home, 'dot', REMINDED)).toBe(1);
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => /Stalled tasks[\s\S]*`stands`/.test(text),
    );
    expect((await agentdir(home, ['tasks'])).stdout).toMatch(/stands.*stalled: its agent ended its turn in dot-shared/);
    await clean(home);
    put(home, {[path]: read(home, path).replace('- [/] @dot', '- [ ] @dot')});
    await whenTask(
      home,
      path,
      'stands',
      task => fieldOf(task, 'attempt') === '2' && fieldOf(task, 'stalled') !== undefined,
    );
    expect(times(home, 'dot', REMINDED)).toBe(2);
  });

  it('and has written to somebody waits as long as they are at work, and no longer', async () => {
    const {home} = house;
    const path = 'tasks/asks.task.md';
    const write = (to: string) => ({calls: [{name: 'send_message', arguments: {to, content: 'what is it?'}}]});
    let goOn = () => {};
    const held = new Promise<void>(resolve => {
      goOn = resolve;
    });
    minds.set('ann', ({last, tools}): Reaction => {
      if (tools > 0) return {text: 'I wait'};
      if (last.includes('I do not know')) return {text: 'what a pity'};
      return last.includes(REMINDED) ? done('as', 'nobody knows') : write('bob');
    });
    minds.set('bob', async (): Promise<Reaction> => {
      await held;
      return {text: 'I do not know'};
    });
    put(home, {[path]: '- [ ] @ann "asks"\n  id: as\n'});
    await whenTask(home, path, 'asks', ({state}) => state === 'in_progress');
    await until(
      () => sessionsOf(home, 'ann'),
      all => all.includes('I wait\n'),
    );
    await clean(home);
    expect(times(home, 'ann', REMINDED)).toBe(0);
    expect(taskNamed(home, path, 'asks')?.state).toBe('in_progress');
    goOn();
    const {task} = await whenTask(home, path, 'asks', ({state}) => state === 'completed');
    expect(task?.notes.at(-1)?.text).toBe('nobody knows');
    expect(times(home, 'ann', REMINDED)).toBe(1);
  });

  it('and names somebody in its answer waits for them as well', async () => {
    const {home} = house;
    const path = 'tasks/names.task.md';
    minds.set('eve', ({last, tools}): Reaction => {
      if (tools > 0) return {text: 'now it is'};
      if (last.includes('nothing')) return {text: 'I see'};
      return last.includes(REMINDED) ? done('nm', 'done') : {text: 'what do you say, @dot?'};
    });
    minds.set('dot', () => ({text: 'nothing'}));
    put(home, {[path]: '- [ ] @eve "names"\n  id: nm\n'});
    await whenTask(home, path, 'names', ({state}) => state === 'completed');
    const said = sessionsOf(home, 'dot');
    const at = /timestamp: '(\S+)'\n {4}role: assistant(?:\n {4}.*)*\n {4}content: nothing/.exec(said)?.[1] ?? '';
    const all = sessionsOf(home, 'eve').split("  - timestamp: '");
    const reminded = all.findLast(each => each.includes('names') && each.includes(REMINDED)) ?? '';
    // It was asked only when dot had nothing more to say.
    expect(at).not.toBe('');
    expect(reminded.slice(0, 24) >= at, `${reminded} ${at}`).toBe(true);
  });

  it('is reminded, and its answer counts, exactly once, whenever the daemon is killed', async () => {
    const home = newHome();
    minds.set('dot', () => ({text: 'I have done something'}));
    minds.set('mute', () => ({text: 'It is 42.'}));
    put(home, {'tasks/t.task.md': '- [ ] @dot "a"\n  id: a\n- [ ] @mute "b"\n  id: b\n'});
    const isOver = () => {
      const [a, b] = ['a', 'b'].map(title => taskNamed(home, 'tasks/t.task.md', title));
      return b?.state === 'completed' && a !== undefined && fieldOf(a, 'stalled') !== undefined;
    };
    for (let ms = 500; ms <= 900 && !isOver(); ms += 130) {
      const killed = spawnDaemon(home, env);
      await new Promise(resolve => setTimeout(resolve, ms));
      await killed.kill();
    }
    const daemon = await serve(home, env);
    await until(isOver, yes => yes);
    await clean(home);
    expect(await daemon.stop(), daemon.errors()).toBe(0);
    expect(times(home, 'dot', REMINDED)).toBe(1);
    expect(taskNamed(home, 'tasks/t.task.md', 'b')?.notes.map(({text}) => text)).toEqual(['It is 42.']);
  });
});

it('a person sees a task when it is theirs to do, and why one cannot be given to anybody', async () => {
  const {home} = house;
  const path = 'tasks/yours.task.md';
  const general = 'templates/general-purpose.agent.md';
  const template = read(home, general);
  rmSync(join(home, general));
  await clean(home);
  put(home, {
    [path]:
      '- [ ] @human @fay "both of us"\n  id: y1\n- [ ] @human "afterwards"\n  id: y2\n  depends_on: y1\n- [ ] "by a model"\n  id: y3\n  assign: new:fake/fake-2\n',
  });
  await until(
    () => read(home, 'NEEDS_YOU.md'),
    text => /y3.*there is no template for its agent/.test(text) && text.includes('`both of us`'),
  );
  expect(read(home, 'NEEDS_YOU.md')).not.toContain('afterwards');
  expect((await agentdir(home, ['tasks'])).stdout).toMatch(/both of us y1 {2}waits for you\n/);
  await clean(home);
  put(home, {[general]: template, [path]: read(home, path).replace('- [ ] @human @fay', '- [x] @human @fay')});
  await until(
    () => read(home, 'NEEDS_YOU.md'),
    text => !text.includes('there is no template') && text.includes('`afterwards`'),
  );
  await whenTask(home, path, 'by a model', task => task.state !== 'pending');
});

it('tasks that lead to one another, without a person, wait for one in the end', async () => {
  const {home} = house;
  for (const [name, other] of [
    ['ann', 'bob'],
    ['bob', 'ann'],
  ] as const)
    minds.set(name, ({last, tools}): Reaction => {
      const isMine = /assigned a task/.test(last);
      if (isMine && tools === 0) return done(idIn(last), 'done');
      if (tools > (isMine ? 1 : 0)) return {text: 'over'};
      return {calls: [{name: 'create_task', arguments: {title: `for ${other}`, assignee: other}}]};
    });
  put(home, {'sessions/go.session.yaml': 'agent_id: ann\nmessages:\n  - role: user\n    content: go\n'});
  await until(
    () => read(home, 'tasks/approvals.task.md'),
    text => /messages between agents/.test(text),
  );
  await clean(home);
});
