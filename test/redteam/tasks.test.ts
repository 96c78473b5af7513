import {existsSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {parseSession} from '../../src/formats/session/session.ts';
import {fieldOf, type Task} from '../../src/formats/task/task.ts';
import {put, until} from '../cli/run.ts';
import type {Result, Wanted} from '../daemon/calling.ts';
import {askedBy, decideInQueue} from '../daemon/deciding.ts';
import {agent, clean, openTaskHouse, sessionsOf, startMinds, taskNamed, tasksOf, whenTask} from '../daemon/minds.ts';
import {read} from '../daemon/serve.ts';

const {minds, server, env} = await startMinds();
const agents = ['ann', 'bob', 'cyd', 'dot', 'fay'];
const house = openTaskHouse(
  {
    ...Object.fromEntries(agents.map(name => [`templates/${name}.agent.yaml`, agent(name)])),
    'templates/general-purpose.agent.yaml': agent('general-purpose'),
    'templates/hal.agent.yaml': agent('hal', '', 'execute_command'),
    // Completes its tasks by answering.
    'templates/eve.agent.yaml': agent('eve', '', 'list_agents'),
    'agentdir.yaml': `format: 1\nmodels: [{id: lab/listed, nickname: lab/short, base_url: "${server.url}"}]\ndefault_model: fake-1\n`,
  },
  env,
);
for (const name of [...agents, 'eve', 'hal', 'general-purpose'])
  minds.set(name, ({last, tools, all}) =>
    last.startsWith('[{') && tools === 0 ? {calls: JSON.parse(last) as Wanted[]} : {text: `ok ${all.length}`},
  );

let sessions = 0;

/** What becomes of these calls, made by the agent in one answer. */
async function attempt(name: string, calls: readonly Wanted[]): Promise<Result[]> {
  const path = `sessions/try-${++sessions}.session.yaml`;
  const content = JSON.stringify(JSON.stringify(calls));
  put(house.home, {[path]: `agent_id: ${name}\nmessages:\n  - role: user\n    content: ${content}\n`});
  const text = await until(
    () => read(house.home, path),
    written => /^status: sleeping$/m.test(written),
  );
  return parseSession(text)
    .messages.filter(({role}) => role === 'tool_result')
    .map(({content: result}) => JSON.parse(result ?? '') as Result);
}

const update = (id: string, change: Record<string, unknown>): Wanted => ({
  name: 'update_task',
  arguments: {id, ...change},
});
const create = (task: Record<string, unknown>): Wanted => ({name: 'create_task', arguments: task});
const codes = (results: readonly Result[]) => results.map(({success, code}) => (success ? 'ok' : code));
const requestsFor = (task: string) =>
  tasksOf(house.home, 'tasks/approvals.task.md').filter(item => fieldOf(item, 'task') === task);

/** The id of the open request to start the task, once it has its page. */
async function asked(task: string): Promise<string> {
  const open = () => {
    const item = requestsFor(task).find(each => fieldOf(each, 'status') === 'pending');
    const id = item && fieldOf(item, 'id');
    return id !== undefined && existsSync(join(house.home, `approvals/pending/${id}.approval.md`)) ? id : undefined;
  };
  const id = await until(open, found => found !== undefined);
  await clean(house.home);
  return id ?? '';
}

const edit = (path: string, change: (text: string) => string) =>
  writeFileSync(join(house.home, path), change(read(house.home, path)));

describe('a task that waits for a person', () => {
  const path = 'tasks/gate.task.md';
  const states = ['in_progress', 'completed', 'blocked', 'skipped'];
  const contents = {
    title: 'another',
    prompt: 'do otherwise',
    description: 'do otherwise',
    reason: 'why not',
    assign: 'new:bob',
    depends_on: 'done',
    parent: 'done',
    due: '2020-01-01',
  };

  it('is neither started, ended, given to others nor changed by an agent, whoever made it', async () => {
    const {home} = house;
    put(home, {
      [path]:
        '- [x] "done"\n  id: done\n- [ ] @ann "gate"\n  id: gate\n  approval_required: true\n  prompt: as I say\n- [ ] @bob "behind"\n  id: behind\n  depends_on: gate\n',
    });
    const request = await asked('gate');
    const before = read(home, path);
    const all = [
      ...states.map(status => update('gate', {status})),
      ...Object.entries(contents).map(([key, value]) => update('gate', {fields: {[key]: value}})),
      update('gate', {status: 'completed', note: 'it is done', fields: {result: 'done'}}),
    ];
    expect(codes(await attempt('ann', all))).toEqual(all.map(() => 'DENIED'));
    expect(codes(await attempt('bob', all))).toEqual(all.map(() => 'DENIED'));
    await clean(home);
    expect(read(home, path)).toBe(before);
    expect((await attempt('ann', [update('gate', {status: 'completed'})]))[0]?.error).toMatch(/person/);
    decideInQueue(home, request, 'x');
    await whenTask(home, path, 'gate', task => fieldOf(task, 'assigned') !== undefined);
    expect(codes(await attempt('ann', [update('gate', {status: 'completed', note: 'done'})]))).toEqual(['ok']);
    await whenTask(home, path, 'behind', task => fieldOf(task, 'assigned') !== undefined);
    // Given out again by an agent, it waits again.
    expect(codes(await attempt('ann', [update('gate', {status: 'pending'})]))).toEqual(['ok']);
    await asked('gate');
    expect(codes(await attempt('ann', [update('gate', {status: 'completed'})]))).toEqual(['DENIED']);
  });

  it('that an agent made, waits for the person as well', async () => {
    const {home} = house;
    const [made] = await attempt('ann', [
      create({title: 'own gate', assignee: 'bob', approval_required: true, prompt: 'asked', file: 'tasks/own.task.md'}),
    ]);
    const [id = ''] = (made?.task_ids ?? []) as string[];
    await asked(id);
    const all = [
      ...states.map(status => update(id, {status})),
      ...Object.entries(contents).map(([key, value]) => update(id, {fields: {[key]: value}})),
    ];
    for (const name of ['ann', 'bob']) expect(codes(await attempt(name, all))).toEqual(all.map(() => 'DENIED'));
    expect(taskNamed(home, 'tasks/own.task.md', 'own gate')?.state).toBe('pending');
  });

  it('and is turned down stays so', async () => {
    const {home} = house;
    const file = 'tasks/no.task.md';
    put(home, {
      [file]:
        '- [ ] @ann "no"\n  id: no\n  approval_required: true\n- [ ] @bob "after no"\n  id: after-no\n  depends_on: no\n',
    });
    decideInQueue(home, await asked('no'), '-');
    await whenTask(home, file, 'no', task => task.state === 'skipped');
    const all = [...states, 'pending'].filter(state => state !== 'skipped').map(status => update('no', {status}));
    expect(codes(await attempt('ann', all))).toEqual(all.map(() => 'DENIED'));
    expect(taskNamed(home, file, 'no')?.state).toBe('skipped');
    expect(fieldOf(taskNamed(home, file, 'after no') as Task, 'assigned')).toBeUndefined();
  });

  it('waits also if the person wrote yes instead of true', async () => {
    const {home} = house;
    put(home, {
      'tasks/yes.task.md':
        '- [ ] @cyd "spelled"\n  id: spelled\n  approval_required: yes\n- [ ] @dot "plain"\n  id: plain\n  approval_required: false\n',
    });
    await asked('spelled');
    await whenTask(home, 'tasks/yes.task.md', 'plain', task => fieldOf(task, 'assigned') !== undefined);
    expect(existsSync(join(home, 'sessions/cyd'))).toBe(false);
  });

  it('is not ended by an answer that an agent gave to an earlier task of the same id', async () => {
    const {home} = house;
    const file = 'tasks/again.task.md';
    put(home, {[file]: '- [ ] @eve "first"\n  id: again\n'});
    await whenTask(home, file, 'first', task => task.state === 'completed');
    await clean(home);
    edit(file, () => '# No task\n');
    await clean(home);
    edit(file, () => '- [ ] @eve "second"\n  id: again\n  approval_required: true\n');
    await asked('again');
    // Another task: its answer ends this one only.
    edit(file, text => `${text}- [ ] @eve "other"\n  id: other\n`);
    await whenTask(home, file, 'other', task => task.state === 'completed');
    await clean(home);
    expect(taskNamed(home, file, 'second')?.state).toBe('pending');
  });

  it('is not freed by a command that writes its file from outside the sandbox', async () => {
    const {home} = house;
    const scripts = {
      strip: "sed -i '/approval_required/d' tasks/host.task.md",
      tick: "sed -i 's/\\[ \\]/[x]/' tasks/host.task.md",
      remove: 'rm tasks/host.task.md',
    };
    const file = 'tasks/host.task.md';
    put(home, {[file]: '- [ ] @cyd "hosted"\n  id: hosted\n  approval_required: true\n'});
    await asked('hosted');
    const before = read(home, file);
    for (const script of Object.values(scripts)) {
      const command = `cd ${JSON.stringify(home)}; ${script}; sleep 0.3`;
      const results = attempt('hal', [{name: 'execute_command', arguments: {command, sandbox: 'host'}}]);
      // The person lets it run, and thinks of the command alone.
      decideInQueue(home, (await askedBy(home, `try-${sessions}`)).id, 'x');
      expect((await results)[0]).toMatchObject({success: true, ran: 'host'});
      await until(
        () => (existsSync(join(home, file)) ? read(home, file) : ''),
        now => now === before,
      );
      await clean(home);
    }
    expect(existsSync(join(home, 'sessions/cyd'))).toBe(false);
  });

  it('is not brought to its agent when an agent completes parts of it', async () => {
    const {home} = house;
    const file = 'tasks/parts.task.md';
    put(home, {[file]: '- [ ] @fay "whole"\n  id: whole\n  approval_required: true\n'});
    await asked('whole');
    const part = create({file, content: '- [x] "a part"\n  parent: whole'});
    const nested = create({title: 'another', parent: 'whole', assignee: 'ann'});
    const [, made] = await attempt('ann', [part, nested]);
    const [id = ''] = (made?.task_ids ?? []) as string[];
    expect(codes(await attempt('ann', [update(id, {status: 'completed'})]))).toEqual(['ok']);
    await clean(home);
    expect(existsSync(join(home, 'sessions/fay'))).toBe(false);
  });
});

describe('a task that a person made', () => {
  it('keeps its prompt, assignee and conditions; its agent says what became of it', async () => {
    const {home} = house;
    const file = 'tasks/mine.task.md';
    put(home, {
      [file]:
        '- [ ] "first"\n  id: first\n- [ ] @ann "mine"\n  id: mine\n  depends_on: first\n  prompt: as I say\n- [ ] @ann "bare"\n  id: bare\n  created_by: @human\n  depends_on: first\n',
    });
    await clean(home);
    const changes = {
      prompt: 'otherwise',
      description: 'otherwise',
      reason: 'none',
      assign: 'new:bob',
      depends_on: '',
      parent: 'first',
    };
    const all = ['mine', 'bare'].flatMap(id =>
      Object.entries(changes).map(([key, value]) => update(id, {fields: {[key]: value}})),
    );
    expect(codes(await attempt('ann', all))).toEqual(all.map(() => 'DENIED'));
    const fine = [
      update('mine', {note: 'I begin', fields: {result: 'soon', due: '2030-01-01', ticket: '7'}}),
      // Nothing that is not there already.
      update('mine', {fields: {prompt: 'as I say'}}),
    ];
    expect(codes(await attempt('ann', fine))).toEqual(['ok', 'ok']);
    expect(fieldOf(taskNamed(home, file, 'mine') as Task, 'prompt')).toBe('as I say');
  });

  it('waits for what it named: an agent does not make a task under that id', async () => {
    const {home} = house;
    const file = 'tasks/gone.task.md';
    put(home, {[file]: '- [ ] @cyd "ship"\n  id: ship\n  depends_on: review\n'});
    await clean(home);
    const all = [
      create({file: 'tasks/new.task.md', content: '- [x] "review"\n  id: review'}),
      create({file: 'tasks/new.task.md', content: '- [ ] "outer"\n  - [x] "review"\n    id: review'}),
    ];
    expect(codes(await attempt('ann', all))).toEqual(['INVALID_ARGUMENTS', 'INVALID_ARGUMENTS']);
    expect(fieldOf(taskNamed(home, file, 'ship') as Task, 'assigned')).toBeUndefined();
    // Known again, so that the home is sound in the end.
    edit(file, text =>
      text.replace('depends_on: review', 'depends_on: ship-later').concat('- [ ] "later"\n  id: ship-later\n'),
    );
  });

  it('is open to agents if the policy says so', async () => {
    const {home} = house;
    const policy = read(home, 'allowlist.yaml');
    const file = 'tasks/open.task.md';
    put(home, {
      [file]:
        '- [ ] "first"\n  id: first-of-open\n- [ ] @ann "open"\n  id: open\n  depends_on: first-of-open\n- [ ] @ann "gated"\n  id: gated\n  approval_required: true\n',
      'allowlist.yaml': `${policy}\ntasks: {change_human: allow}\n`,
    });
    await asked('gated');
    const change = (id: string) => update(id, {fields: {prompt: 'better'}});
    expect(codes(await attempt('ann', [change('open'), change('gated')]))).toEqual(['ok', 'DENIED']);
    put(home, {'allowlist.yaml': `${policy}\ntasks: {change_waiting: allow}\n`});
    await clean(home);
    const open = [update('gated', {status: 'completed'}), update('open', {fields: {prompt: 'best'}})];
    expect(codes(await attempt('ann', open))).toEqual(['ok', 'DENIED']);
    put(home, {'allowlist.yaml': policy});
    await clean(home);
  });
});

describe('a model that an agent chooses', () => {
  it('is used at once if agentdir.yaml lists it, and otherwise after a person agreed', async () => {
    const {home} = house;
    const file = 'tasks/models.task.md';
    const task = (title: string, assignee: string) => create({title, assignee, file});
    const asks = await attempt('ann', [
      task('listed', 'new:lab/listed'),
      task('short', 'new:lab/short'),
      task('stranger', 'new:evil/model'),
    ]);
    expect(codes(asks)).toEqual(['ok', 'ok', 'ok']);
    for (const title of ['listed', 'short'])
      await whenTask(home, file, title, ({state}) => state === 'in_progress' || state === 'completed');
    const id = fieldOf(taskNamed(home, file, 'stranger') as Task, 'id') ?? '';
    const request = await asked(id);
    expect(fieldOf(taskNamed(home, file, 'stranger') as Task, 'assigned')).toBeUndefined();
    const page = read(home, `approvals/pending/${request}.approval.md`);
    expect(page).toContain('evil/model');
    expect(page).toMatch(/agentdir\.yaml does not list/);
    expect(codes(await attempt('ann', [update(id, {fields: {assign: 'new:lab/listed'}})]))).toEqual(['DENIED']);
    decideInQueue(home, request, 'x');
    await whenTask(home, file, 'stranger', each => fieldOf(each, 'assigned') !== undefined);
    expect(sessionsOf(home, 'general-purpose')).toContain('model: evil/model');
    // A task that a person writes names any model.
    put(home, {'tasks/own-model.task.md': '- [ ] "own"\n  id: own-model\n  assign: new:other/model\n'});
    await whenTask(home, 'tasks/own-model.task.md', 'own', each => fieldOf(each, 'assigned') !== undefined);
  });

  it('has a plain name, like all names that an agent writes', async () => {
    const {home} = house;
    const bad = [
      'new:evil/../model',
      'new:evil/..',
      'new:../evil',
      'new:evil//model',
      'new:evil/mo\ndel',
      'new:evil/model\n',
      'new:evil/mo\u001b[31mdel',
      'new:evil/\u202emodel',
      'new:evil/mo\u0000del',
      'new:evil/mo del',
      'new:evil/model?key=x',
      `new:evil/${'m'.repeat(300)}`,
      'new:https://evil.example/v1',
      'new:ann/../bob',
      'new:ann\n',
      'ann/../bob',
      'a\u001b]0;x\u0007nn',
      'buildbox/ann',
    ];
    const raw = (assign: string) =>
      create({content: `- [ ] "raw"\n  assign: ${JSON.stringify(assign)}`, file: 'tasks/bad.task.md'});
    const files = ['tasks/../templates/x', 'tasks/a\nb', '../x', 'tasks/\u001bx', '/etc/x', 'tasks/approvals'];
    const all = [
      ...bad.map(assignee => create({title: 'bad', assignee, file: 'tasks/bad.task.md'})),
      ...bad.filter(name => name.startsWith('new:')).map(raw),
      ...files.map(file => create({title: 'bad', file})),
      create({title: 'bad', file: 'tasks/bad.task.md', tags: ['a\nb']}),
      create({title: 'bad', file: 'tasks/bad.task.md', parent: '../x'}),
      create({title: 'bad', file: 'tasks/bad.task.md', depends_on: ['x/..']}),
      {name: 'send_message', arguments: {to: 'bob\n', content: 'x'}},
      {name: 'send_message', arguments: {to: 'bob/..', content: 'x'}},
      {name: 'send_message', arguments: {to: '\u001bbob', content: 'x'}},
    ];
    const results = await attempt('ann', all);
    expect(results.map(({success}, i) => (success ? JSON.stringify(all[i]) : ''))).toEqual(all.map(() => ''));
    // The model reads what was wrong, on one line and without the character.
    for (const {error = ''} of results) expect(error).toMatch(/^[^\p{C}]+$/u);
    expect(existsSync(join(home, 'tasks/bad.task.md'))).toBe(false);
  });
});
