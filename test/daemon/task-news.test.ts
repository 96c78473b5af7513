import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {fieldOf} from '../../src/formats/task/task.ts';
import {agentdir, put, thorough, until} from '../cli/run.ts';
import {agent, clean, done, idIn, sessionsOf, startMinds, taskNamed, whenTask} from './minds.ts';
import {read, type Served, serve, spawnDaemon} from './serve.ts';
import {homes} from './sound.ts';

const {minds, env} = await startMinds();
const newHome = homes({
  'templates/ann.agent.yaml': agent('ann'),
  'templates/ben.agent.yaml': agent('ben'),
  'templates/runner.agent.yaml': agent('runner', '', 'execute_command, update_task'),
});
const path = 'tasks/t.task.md';
const edit = (home: string, from: string | RegExp, to: string) => {
  const text = readFileSync(join(home, path), 'utf8');
  const edited = text.replace(from, to);
  expect(edited, `${from} in ${text}`).not.toBe(text);
  writeFileSync(join(home, path), edited);
};
const count = (home: string, name: string, what: RegExp) => sessionsOf(home, name).match(what)?.length ?? 0;
const ASSIGNED = /You have been assigned a task/g;
const CHANGED = /Your task .* was changed/g;
const WITHDRAWN = /is no longer yours/g;
/** Nothing is left to tell: the file says what its agent was told. */
const quiet = async (home: string, daemon: Served) => {
  await clean(home);
  expect(await daemon.stop(), daemon.errors()).toBe(0);
};
const think = (name: string) => minds.set(name, () => ({text: 'I think about it'}));

describe('a task that says it was assigned', () => {
  const copied = '- [ ] @ann "given"\n  id: g\n  assigned: 2025-10-04T10:05:00Z\n';

  it('by another system, as in the seed, is delivered once; what waits for approval is asked about', async () => {
    const home = newHome();
    think('ann');
    put(home, {
      [path]: `${copied}- [ ] @ben "gated"\n  id: h\n  approval_required: true\n  assigned: 2025-10-04T10:05:00Z\n`,
    });
    const daemon = await serve(home, env);
    const given = await whenTask(home, path, 'given', task => task.state === 'in_progress');
    expect(fieldOf(given.task as never, 'session')).toBe('ann-shared');
    expect(fieldOf(given.task as never, 'assigned')).not.toBe('2025-10-04T10:05:00Z');
    await whenTask(home, path, 'gated', task => fieldOf(task, 'approval') !== undefined);
    await quiet(home, daemon);
    expect(count(home, 'ann', ASSIGNED)).toBe(1);
    expect(taskNamed(home, path, 'gated')?.state).toBe('pending');
  });

  it.each(['delivery:1', 'save-rename:3', 'version-append:2', 'journal-ref-rename:2'].slice(0, thorough ? 4 : 2))(
    'is delivered once, though the daemon is killed (%s)',
    async label => {
      const home = newHome();
      think('ann');
      put(home, {[path]: copied});
      const killed = spawnDaemon(home, {...env, AGENTDIR_CRASH_AT: label});
      await killed.exited;
      const daemon = await serve(home, env);
      await whenTask(home, path, 'given', task => task.state === 'in_progress');
      await quiet(home, daemon);
      expect(count(home, 'ann', ASSIGNED)).toBe(1);
    },
  );

  it('here, but its line `session:` is gone, is not delivered again', async () => {
    const home = newHome();
    think('ann');
    put(home, {[path]: '- [ ] @ann "mine"\n  id: m\n'});
    // No server answers, so it is delivered and not begun.
    const first = await serve(home, {...env, OPENAI_BASE_URL: 'http://127.0.0.1:9/v1'});
    await whenTask(home, path, 'mine', task => fieldOf(task, 'session') !== undefined);
    await first.kill();
    edit(home, /^ {2}session: .*\n/m, '');
    const second = await serve(home, env);
    // Whether it begins depends on whether its agent had given up asking the model.
    await whenTask(home, path, 'mine', task => fieldOf(task, 'session') === 'ann-shared');
    await quiet(home, second);
    expect(count(home, 'ann', ASSIGNED)).toBe(1);
  });
});

describe('whoever has a task', () => {
  const mine = '- [ ] @ann "mine"\n  id: m\n  prompt: look\n';

  it('is told of a new prompt, of notes and by `task note`, once each; not of what it wrote itself', async () => {
    const home = newHome();
    let told = 0;
    minds.set('ann', ({last, tools}) => {
      if (/was changed/.test(last)) told++;
      if (tools > 0 || !/assigned a task/.test(last)) return {text: 'I go on'};
      return {calls: [{name: 'update_task', arguments: {id: 'm', note: 'I begin'}}]};
    });
    put(home, {[path]: mine});
    const daemon = await serve(home, env);
    await whenTask(home, path, 'mine', task => task.notes.length === 1 && fieldOf(task, 'informed') !== undefined);
    await clean(home);
    expect(count(home, 'ann', CHANGED)).toBe(0);
    edit(home, 'prompt: look', 'prompt: look twice');
    await until(
      () => sessionsOf(home, 'ann'),
      text => /look twice/.test(text),
    );
    await clean(home);
    expect((await agentdir(home, ['task', 'note', 'm', 'the port is 6380, @ann'])).code).toBe(0);
    await until(
      () => sessionsOf(home, 'ann'),
      text => /New notes:[\s\S]*the port is 6380/.test(text),
    );
    await whenTask(home, path, 'mine', task => fieldOf(task, 'mentioned') !== undefined);
    await until(
      () => told,
      n => n === 2,
    );
    await quiet(home, daemon);
    expect([count(home, 'ann', CHANGED), count(home, 'ann', /mentioned you/g)]).toEqual([2, 0]);
    // Back to what it was is a change as well; a restart tells nothing twice.
    edit(home, 'prompt: look twice', 'prompt: look');
    const again = await serve(home, env);
    await until(
      () => count(home, 'ann', CHANGED),
      n => n === 3,
    );
    await whenTask(home, path, 'mine', task => /^3 /.test(fieldOf(task, 'informed') ?? ''));
    await quiet(home, again);
    expect(count(home, 'ann', CHANGED)).toBe(3);
  });

  it('is told what was written while the daemon was down, also if it was killed before it could say so', async () => {
    const home = newHome();
    think('ann');
    put(home, {[path]: mine});
    const daemon = await serve(home, env);
    await whenTask(home, path, 'mine', task => task.state === 'in_progress');
    await quiet(home, daemon);
    edit(home, 'prompt: look', 'prompt: look again');
    // It dies when the notice is in the session, and the task does not say so yet.
    await spawnDaemon(home, {...env, AGENTDIR_CRASH_AT: 'delivery:1'}).exited;
    expect(count(home, 'ann', CHANGED)).toBe(1);
    edit(home, 'prompt: look again', 'prompt: look a third time');
    const last = await serve(home, env);
    await until(
      () => sessionsOf(home, 'ann'),
      text => /look a third time/.test(text),
    );
    await whenTask(home, path, 'mine', task => fieldOf(task, 'informed') !== undefined);
    await quiet(home, last);
    expect(count(home, 'ann', CHANGED)).toBe(2);
  });

  it('is told when it is somebody else’s, who gets it', async () => {
    const home = newHome();
    for (const name of ['ann', 'ben']) think(name);
    put(home, {[path]: `${mine}- [ ] @ann "other"\n  id: o\n`});
    const daemon = await serve(home, env);
    for (const title of ['mine', 'other']) await whenTask(home, path, title, task => task.state === 'in_progress');
    await clean(home);
    expect((await agentdir(home, ['task', 'assign', 'm', 'ben'])).code).toBe(0);
    await whenTask(
      home,
      path,
      'mine',
      task => fieldOf(task, 'session') === 'ben-shared' && task.state === 'in_progress' && !fieldOf(task, 'withdrawn'),
    );
    expect((await agentdir(home, ['task', 'assign', 'o', 'human'])).code).toBe(0);
    await whenTask(home, path, 'other', task => !fieldOf(task, 'session') && !fieldOf(task, 'withdrawn'));
    await quiet(home, daemon);
    expect([count(home, 'ann', WITHDRAWN), count(home, 'ben', ASSIGNED), count(home, 'ann', ASSIGNED)]).toEqual([
      2, 1, 2,
    ]);
    expect(taskNamed(home, path, 'other')?.state).toBe('in_progress');
    const again = await serve(home, env);
    await quiet(home, again);
    expect(count(home, 'ann', WITHDRAWN)).toBe(2);
  });

  it('is told of the note of another agent, and many changes at once are few messages', async () => {
    const home = newHome();
    think('ann');
    minds.set('ben', ({tools}) =>
      tools > 0 ? {text: 'said'} : {calls: [{name: 'update_task', arguments: {id: 'm', note: 'from ben'}}]},
    );
    put(home, {[path]: '- [ ] @ann @ben "mine"\n  id: m\n  prompt: look\n'});
    const daemon = await serve(home, env);
    await whenTask(home, path, 'mine', task => task.state === 'in_progress');
    await clean(home);
    expect((await agentdir(home, ['send', 'leave a note', '--to', 'ben'])).code).toBe(0);
    await until(
      () => sessionsOf(home, 'ann'),
      text => /New notes:[\s\S]*from ben/.test(text),
    );
    await clean(home);
    expect(count(home, 'ann', CHANGED)).toBe(1);
    expect(fieldOf(taskNamed(home, path, 'mine') as never, 'chain')).toBeDefined();
    await quiet(home, daemon);
  });
});

describe('agentdir tasks', () => {
  it('says which approval a task waits for', async () => {
    const home = newHome();
    minds.set('runner', ({last, tools}) =>
      tools > 0
        ? done(idIn(last), 'done')
        : {calls: [{name: 'execute_command', arguments: {command: 'make deploy', reason: 'to deploy'}}]},
    );
    put(home, {[path]: '- [ ] @runner "deploy"\n  id: d\n- [ ] @ann "later"\n  id: l\n  approval_required: true\n'});
    const daemon = await serve(home, env);
    const rows = await until(
      async () => JSON.parse((await agentdir(home, ['tasks', '--json'])).stdout) as {id: string; waits_for?: string}[],
      all => all.every(row => row.waits_for !== undefined),
    );
    expect(rows.map(row => row.id)).toEqual(['d', 'l']);
    const {stdout} = await agentdir(home, ['tasks']);
    expect(stdout).toContain(`waits for your approval: ${rows[0]?.waits_for}`);
    expect(stdout).toContain(`needs your approval before it starts: ${rows[1]?.waits_for}`);
    expect(read(home, 'tasks/approvals.task.md')).toContain(`id: ${rows[0]?.waits_for}`);
    await quiet(home, daemon);
  });
});
