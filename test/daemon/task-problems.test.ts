import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {fieldOf} from '../../src/formats/task/task.ts';
import {agentdir, put, until} from '../cli/run.ts';
import {agent, clean, done, idIn, sessionsOf, startMinds, taskNamed, tasksOf, whenTask} from './minds.ts';
import {read, serve} from './serve.ts';
import {homes} from './sound.ts';

const {minds, env} = await startMinds();
const newHome = homes({
  // No limit on cost: a model without a price would be a problem.
  'agentdir.yaml': 'format: 1\n',
  'templates/ann.agent.yaml': agent('ann'),
  'templates/ben.agent.yaml': agent('ben'),
});
for (const name of ['ann', 'ben'])
  minds.set(name, ({last, tools}) => (tools > 0 ? {text: 'ok'} : done(idIn(last), `${name} did it`)));

const path = 'tasks/t.task.md';
const others =
  '- [ ] @ann "one"\n  id: g1\n- [x] @human "two"\n  id: g2\n- [ ] @ben "three"\n  id: g3\n  depends_on: g2\n';
interface Found {
  file: string;
  code: string;
  severity: string;
}
const problemsOf = async (home: string) =>
  (JSON.parse((await agentdir(home, ['check', '--json'])).stdout) as {problems: Found[]}).problems;

/** With these nobody knows which task is meant, or what it says. */
const UNCLEAR = ['DUPLICATE_ID', 'DUPLICATE_FIELD', 'BAD_ID', 'BAD_BOX'];

describe('a problem of one task concerns that task: the three others of its file are delivered, completed and edited', () => {
  // Each in a file of its own. # stands for the number of the file: ids are those of one home.
  const cases: Record<'error' | 'warning', [what: string, bad: string, code: string][]> = {
    error: [
      ['an unknown dependency', '- [ ] @ann "bad"\n  id: bad#\n  depends_on: nothing\n', 'UNKNOWN_DEPENDENCY'],
      ['an unknown parent', '- [ ] @ann "bad"\n  id: bad#\n  parent: nothing\n', 'UNKNOWN_PARENT'],
      ['a cycle', '- [ ] @ann "bad"\n  id: bad#\n  depends_on: bad#\n', 'DEPENDENCY_CYCLE'],
      ['an id that stands twice', '- [ ] @ann "bad"\n  id: g1#\n', 'DUPLICATE_ID'],
      ['a field that stands twice', '- [ ] @ann "bad"\n  id: bad#\n  prompt: a\n  prompt: b\n', 'DUPLICATE_FIELD'],
      ['an id that is none', '- [ ] @ann "bad"\n  id: b a d\n', 'BAD_ID'],
      ['an unclear box', '- [k] @ann "bad"\n  id: bad#\n', 'BAD_BOX'],
    ],
    warning: [['an unknown assignee', '- [ ] @nobody "bad"\n  id: bad#\n', 'UNKNOWN_AGENT']],
  };

  it.each(['error', 'warning'] as const)('with severity %s', async severity => {
    const files = cases[severity].map(([what, bad, code], n) => ({
      ...{what, code, path: `tasks/t${n}.task.md`},
      bad: bad.replaceAll('#', `-${n}`),
      text: `## TODO\n\n${others.replace(/g\d/g, `$&-${n}`)}${bad.replaceAll('#', `-${n}`)}`,
    }));
    const home = newHome();
    put(home, Object.fromEntries(files.map(({path, text}) => [path, text])));
    const daemon = await serve(home, env);
    for (const {path} of files) {
      for (const title of ['one', 'three']) await whenTask(home, path, title, task => task.state === 'completed');
      await whenTask(home, path, 'two', task => fieldOf(task, 'completed') !== undefined);
    }
    await clean(home);
    for (const {path, what, bad, code} of files)
      expect(read(home, path).endsWith(bad), `${what}: nothing is filled in`).toBe(UNCLEAR.includes(code));
    const found = (await problemsOf(home)).map(each => [each.file, each.code, each.severity]);
    expect(found.sort()).toEqual(files.map(({path, code}) => [path, code, severity]));
    expect((await agentdir(home, ['check'])).code).toBe(severity === 'error' ? 4 : 0);
    expect(sessionsOf(home, 'ann').match(/You have been assigned a task/g)).toHaveLength(files.length);
    const needs = await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => files.every(({code}) => text.includes(code)),
    );
    expect(needs).toContain(
      severity === 'error' ? `## Tasks with errors (${files.length})` : '## Addresses that lead nowhere (1)',
    );
    // A person and a command edit the others, too.
    for (const [n, {path}] of files.entries()) {
      expect((await agentdir(home, ['task', 'note', `g3-${n}`, 'well done'])).code).toBe(0);
      await whenTask(home, path, 'three', task => task.notes.some(({text}) => text === 'well done'));
    }
    await clean(home);
    expect(await daemon.stop(), daemon.errors()).toBe(0);
  });

  it('once it is mended, also in another file, the task is delivered', async () => {
    const home = newHome();
    put(home, {
      [path]: '- [ ] @ann "twin"\n  id: t\n- [ ] @ben "child"\n  id: c\n  parent: p\n- [ ] @carl "late"\n  id: l\n',
      'tasks/a.task.md': '- [/] @human "twin too"\n  id: t\n',
    });
    const daemon = await serve(home, env);
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => ['DUPLICATE_ID', 'UNKNOWN_PARENT', 'UNKNOWN_AGENT'].every(code => text.includes(code)),
    );
    put(home, {'tasks/b.task.md': '- [ ] @human "parent"\n  id: p\n'});
    writeFileSync(join(home, 'tasks/a.task.md'), '- [/] @human "twin too"\n  id: u\n');
    put(home, {'templates/carl.agent.yaml': agent('carl')});
    minds.set('carl', ({last, tools}) => (tools > 0 ? {text: 'ok'} : done(idIn(last), 'carl did it')));
    for (const title of ['twin', 'child', 'late'])
      await whenTask(home, path, title, task => task.state === 'completed');
    await clean(home);
    expect(await problemsOf(home)).toEqual([]);
    expect(await daemon.stop(), daemon.errors()).toBe(0);
  });

  it('what hides the tasks below it still concerns the file', async () => {
    const home = newHome();
    put(home, {[path]: `${others}\n\`\`\`\n- [ ] @ann "hidden"\n`});
    const daemon = await serve(home, env);
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text.includes('## Files with errors (1)'),
    );
    expect(taskNamed(home, path, 'one')?.state).toBe('pending');
    expect(await daemon.stop(), daemon.errors()).toBe(0);
    expect(read(home, path)).toBe(`${others}\n\`\`\`\n- [ ] @ann "hidden"\n`);
  });
});

describe('people', () => {
  it('listed in agentdir.yaml have tasks, which no agent gets and NEEDS_YOU.md shows', async () => {
    const home = newHome();
    const settings = read(home, 'agentdir.yaml');
    put(home, {[path]: '- [ ] @bob "sign it"\n  id: b\n- [ ] @ann "after"\n  id: a\n  depends_on: b\n'});
    const warned = await problemsOf(home);
    expect(warned.map(({code, severity}) => [code, severity])).toEqual([['UNKNOWN_AGENT', 'warning']]);
    expect(JSON.stringify(warned)).toContain('@bob is not an agent; listed under people?');
    const daemon = await serve(home, env);
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text.includes('listed under people?'),
    );
    put(home, {'agentdir.yaml': `${settings}\npeople: [bob]\n`});
    const needs = await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text.includes('## Tasks for you (1)'),
    );
    expect(needs).toMatch(/`sign it` for `@bob`/);
    expect(needs).not.toContain('UNKNOWN_AGENT');
    expect(await problemsOf(home)).toEqual([]);
    expect((await agentdir(home, ['tasks'])).stdout).toMatch(/"?sign it"? b {2}waits for @bob/);
    const sent = await agentdir(home, ['send', 'hello', '--to', 'bob']);
    expect([sent.code, sent.stderr]).toEqual([2, expect.stringContaining('@bob is a person, not an agent')]);
    const added = await agentdir(home, ['task', 'add', 'read it', '--to', 'bob']);
    expect(added.code, added.stderr).toBe(0);
    expect((await agentdir(home, ['task', 'done', 'b'])).code).toBe(0);
    await whenTask(home, path, 'after', task => task.state === 'completed');
    await clean(home);
    expect(await daemon.stop(), daemon.errors()).toBe(0);
  });
});

describe('addresses that lead nowhere', () => {
  it('are warnings at once, wherever they are written', async () => {
    const home = newHome();
    const routes = 'inbox: {routes: [{files: "x-*.jsonl", to: "ann@pr-2"}]}';
    const schedules = 'schedules: [{cron: "0 9 * * *", to: elsewhere/ann, message: hello}]';
    put(home, {
      'agentdir.yaml': `format: 1\ndefault_agent: nobody\n${routes}\n${schedules}\n`,
      [path]: '- [ ] @ann@pr-1 "a"\n  id: a\n- [ ] @buildbox/coder "b"\n  id: b\n- [ ] @ann "c"\n  id: c\n',
    });
    const messages = [
      '@nobody is not an agent',
      '@ann@pr-2 leads nowhere: there is no workflow instance "pr-2"',
      '@elsewhere/ann is in another home, and agentdir.yaml names no NATS server, so nothing gets there',
      '@ann@pr-1 leads nowhere: there is no workflow instance "pr-1"',
      '@buildbox/coder is in another home, and agentdir.yaml names no NATS server, so nothing gets there',
    ];
    const {code, stdout} = await agentdir(home, ['check', '--json']);
    const {problems} = JSON.parse(stdout) as {problems: {code: string; severity: string; message: string}[]};
    expect(code).toBe(0);
    expect(problems.map(each => each.message)).toEqual(messages);
    expect(new Set(problems.map(each => `${each.severity} ${each.code}`))).toEqual(new Set(['warning UNKNOWN_AGENT']));
    const tasks = (await agentdir(home, ['tasks'])).stdout;
    for (const message of messages.slice(3)) expect(tasks).toContain(message);
    const daemon = await serve(home, env);
    await whenTask(home, path, 'c', task => task.state === 'completed');
    const needs = await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text.includes('## Addresses that lead nowhere (5)'),
    );
    for (const message of messages) expect(needs).toContain(message);
    for (const [to, why] of [
      ['ann@pr-1', 'there is no workflow instance "pr-1"'],
      ['@buildbox/coder', 'agentdir.yaml names no NATS server'],
    ] as const) {
      const sent = await agentdir(home, ['send', 'hello', '--to', to]);
      expect([sent.code, sent.stderr]).toEqual([2, expect.stringContaining(why)]);
      const added = await agentdir(home, ['task', 'add', 'x', '--to', to]);
      expect([added.code, added.stderr]).toEqual([2, expect.stringContaining(why)]);
    }
    expect(tasksOf(home, path).map(task => task.state)).toEqual(['pending', 'pending', 'completed']);
    await clean(home);
    expect(await daemon.stop(), daemon.errors()).toBe(0);
  });

  it('lead somewhere with a workflow instance, and with a NATS server', async () => {
    const home = newHome();
    put(home, {
      'agentdir.yaml': `${read(home, 'agentdir.yaml')}\nnats: {server: "nats://127.0.0.1:4222"}\n`,
      '.workflow/pr-1/channel.md': '### 10:00:05 [human]\nhello\n',
      [path]: '- [ ] @ann@pr-1 "a"\n  id: a\n- [ ] @buildbox/coder "b"\n  id: b\n',
    });
    // This version does not act on nats.
    expect(await problemsOf(home)).toMatchObject([{code: 'NO_EFFECT', file: 'agentdir.yaml'}]);
  });
});
