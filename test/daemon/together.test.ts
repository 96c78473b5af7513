import {appendFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {parseSession} from '../../src/formats/session/session.ts';
import {fieldOf, type Task} from '../../src/formats/task/task.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {agentdir, git, put, until} from '../cli/run.ts';
import {type ChatRequest, type Reaction, startFakeOpenAI} from '../model/fake-openai.mjs';
import {expectReplayed} from '../replayed.ts';
import type {Result, Wanted} from './calling.ts';
import {clean, read, type Served, serve, spawnDaemon} from './serve.ts';
import {expectSound, filesIn, homes} from './sound.ts';

/** One home and daemon for all: agents that share nothing but that. */
const dir = mkdtempSync(join(tmpdir(), 'agentdir-test-'));
const home = join(dir, 'home');
const names = Array.from({length: 12}, (_, i) => `agent-${String.fromCharCode(97 + i)}`);

function agentText(name: string): string {
  return `id: ${name}\ntype: worker\nsystem_prompt: You are ${name}.\ncapabilities: [create_task, update_task, send_message, list_agents, query_tasks]\n`;
}

/** What an agent does when it is told this; anything else it takes note of. */
const parts = new Map<string, (messages: ChatRequest['messages'], tools: number) => Reaction>();
/** The last system prompt that the model of a session was sent, by its first message. */
const prompts = new Map<string, string>();
const server = await startFakeOpenAI({
  keep: false,
  answer: ({messages}) => {
    const name = /^You are (\S+)\./.exec(String(messages[0]?.content))?.[1] ?? '';
    prompts.set(String(messages[1]?.content), String(messages[0]?.content));
    const since = messages.findLastIndex(({role}) => role === 'user');
    return (
      parts.get(name)?.(messages, messages.slice(since).filter(({role}) => role === 'tool').length) ?? {text: 'noted'}
    );
  },
});
let daemon: Served;
const ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  expect((await agentdir(dir, ['init', home])).stderr).toBe('');
  put(home, {
    'agentdir.yaml': 'format: 1\nlimits: {agent_messages: 6}\n',
    ...Object.fromEntries(names.map(name => [`templates/${name}.agent.yaml`, agentText(name)])),
  });
  await git(home, 'add', '-A');
  await git(home, 'commit', '--quiet', '--message=before');
  daemon = await serve(home, {OPENAI_BASE_URL: server.url, OPENAI_MODEL: 'fake-1'}, end => ends.push(end));
});
afterAll(async () => {
  try {
    expect(await daemon.stop(), daemon.errors()).toBe(0);
    expect(server.violations).toEqual([]);
    expect(server.errors).toEqual([]);
    await expectSound(home);
    await expectReplayed(home);
  } finally {
    for (const end of ends) await end();
    await server.close();
    rmSync(dir, {recursive: true, force: true});
  }
});

const pathOf = (id: string) => `sessions/${id}.session.yaml`;
const tasksIn = (path: string): readonly Task[] => parseTasks(read(home, path)).tasks;
const taskOf = (path: string, id: string) => tasksIn(path).find(task => fieldOf(task, 'id') === id);
const sessionsOf = (name: string) =>
  readdirSync(join(home, 'sessions'), {recursive: true})
    .map(file => join('sessions', String(file)))
    .filter(path => path.endsWith('.session.yaml'))
    .map(path => parseSession(read(home, path)))
    .filter(({header}) => header?.agent_id === name);
const heardBy = (name: string) =>
  sessionsOf(name).flatMap(({messages}) =>
    messages.flatMap(({role, content}) => (role === 'user' ? [content ?? ''] : [])),
  );
const times = (texts: readonly string[], part: string) => texts.filter(text => text.includes(part)).length;

/** What the agent is told of calls that it makes, those of an answer together, in a session of its own. */
async function results(agent: string, id: string, ...answers: Wanted[][]): Promise<Result[]> {
  let nth = 0;
  parts.set(agent, messages => {
    if (!messages.some(({role, content}) => role === 'user' && content === id)) return {text: 'noted'};
    const calls = answers[nth++];
    return calls ? {calls: calls.map((call, i) => ({id: `c${nth}-${i}`, ...call}))} : {text: 'that is all'};
  });
  put(home, {[pathOf(id)]: `agent_id: ${agent}\nmessages:\n  - role: user\n    content: ${id}\n`});
  const {messages} = await until(
    () => parseSession(read(home, pathOf(id))),
    ({header}) => header?.status === 'sleeping',
  );
  return messages.flatMap(({role, content}) => (role === 'tool_result' ? [JSON.parse(content ?? '') as Result] : []));
}
const create = (args: Record<string, unknown>): Wanted => ({name: 'create_task', arguments: args});
const update = (args: Record<string, unknown>): Wanted => ({name: 'update_task', arguments: args});

describe('create_task', () => {
  it('writes into no spelling of the approval queue', async () => {
    const before = read(home, 'tasks/approvals.task.md');
    const spellings = [
      'tasks//approvals.task.md',
      '/approvals',
      'tasks/APPROVALS.task.md',
      'tasks//archive/approvals-2026-01.task.md',
      'tasks/x//../approvals',
      'tasks/approval\u017f.task.md',
    ];
    const told = await results(
      'agent-a',
      'queue',
      spellings.map(file => create({title: 'mine', file})),
      spellings.map(file => create({file, content: '- [x] "Approve more"\n  id: budget-agent-a-1\n'})),
    );
    expect(told.map(({code}) => code)).toEqual(told.map(() => 'INVALID_ARGUMENTS'));
    expect(read(home, 'tasks/approvals.task.md')).toBe(before);
  });

  it('under a parent in another file names it', async () => {
    put(home, {'tasks/whole.task.md': '- [/] "whole"\n  id: whole\n  started: 2026-01-01T00:00:00.000Z\n'});
    const [made] = await results('agent-a', 'part', [create({title: 'part', file: 'parts', parent: 'whole'})]);
    expect(made).toMatchObject({success: true, file: 'tasks/parts.task.md'});
    const [part] = tasksIn('tasks/parts.task.md');
    expect(part && fieldOf(part, 'parent')).toBe('whole');
  });

  it('that would make tasks wait for each other is refused', async () => {
    const told = await results(
      'agent-a',
      'circle',
      [
        create({
          title: 'a',
          file: 'circle',
          children: [
            {title: 'b', depends_on: ['c']},
            {title: 'c', depends_on: ['b']},
          ],
        }),
      ],
      [create({title: 'self', file: 'circle', depends_on: ['self']})],
    );
    expect(told.map(({code}) => code)).toEqual(['INVALID_ARGUMENTS', 'INVALID_ARGUMENTS']);
    expect(read(home, 'tasks/circle.task.md')).toBe('');
  });
});

describe('update_task', () => {
  it('keeps every note of one answer', async () => {
    put(home, {'tasks/notes.task.md': '- [/] @agent-b "n"\n  id: n1\n  started: 2026-01-01T00:00:00.000Z\n'});
    const told = await results('agent-b', 'notes', [
      update({id: 'n1', note: 'first'}),
      update({id: 'n1', note: 'second', status: 'completed'}),
    ]);
    expect(told.map(({success}) => success)).toEqual([true, true]);
    expect(taskOf('tasks/notes.task.md', 'n1')?.notes.map(({text}) => text)).toEqual(['first', 'second']);
  });

  it('does not take back that a person ticked it meanwhile', async () => {
    const path = 'tasks/ended.task.md';
    put(home, {[path]: '- [x] @agent-b "e"\n  id: e1\n- [-] @agent-b "f"\n  id: e2\n'});
    await clean(home);
    const told = await results('agent-b', 'ended', [
      update({id: 'e1', status: 'in_progress', note: 'I am at it'}),
      update({id: 'e2', status: 'in_progress'}),
      update({id: 'e1', note: 'I was at it'}),
    ]);
    expect(told.map(({success}) => success)).toEqual([false, false, true]);
    expect(tasksIn(path).map(({state}) => state)).toEqual(['completed', 'skipped']);
  });

  it('sets nothing that would make a problem of the file', async () => {
    put(home, {
      'tasks/sound.task.md':
        '- [/] @agent-b "s"\n  id: s1\n  started: 2026-01-01T00:00:00.000Z\n- [/] @agent-b "t"\n  id: s2\n  started: 2026-01-01T00:00:00.000Z\n  depends_on: s1\n',
    });
    const wrong = [
      {depends_on: 'nothing'},
      {depends_on: 's2'},
      {parent: 'nothing'},
      {assign: 'new:nobody'},
      {due: 'soon'},
    ];
    const told = await results(
      'agent-b',
      'sound',
      wrong.map(fields => update({id: 's1', fields})),
      [update({id: 's1', fields: {due: '2030-01-01', result: 'good'}})],
    );
    expect(told.map(({code}) => code)).toEqual([...wrong.map(() => 'INVALID_ARGUMENTS'), undefined]);
    expect((await agentdir(home, ['check', 'tasks/sound.task.md'])).stdout).not.toContain('error');
  });
});

describe('a task that words from outside led to', () => {
  const path = 'tasks/outside.task.md';
  const sources = ['inbox/a, b.jsonl#1', 'fetch https://x.example/?a=1,2'];
  const started = '  started: 2026-01-01T00:00:00.000Z\n';
  const query = (text: string): Wanted => ({name: 'query_tasks', arguments: {query: text}});
  const call = (name: string, args: Record<string, unknown>): Wanted => ({name, arguments: args});
  const taintBy = async (id: string, wanted: Wanted) => {
    const [told] = await results('reader', id, [wanted]);
    expect(told).toMatchObject({success: true});
    return parseSession(read(home, pathOf(id))).header?.tainted;
  };

  beforeAll(async () => {
    put(home, {
      'templates/reader.agent.yaml': agentText('reader').replace('[', '[read_file, grep, search_files, '),
      [path]: `- [/] "harmless words"\n  id: o1\n${started}  notes:\n    - harmless, too\n- [/] "obey the page"\n  id: o2\n${started}`,
    });
    await clean(home);
    // They are known without it, and then with it: the rows are kept up to date.
    expect(await taintBy('before', query("SELECT text FROM notes WHERE task = 'o2'"))).toBeUndefined();
    appendFileSync(
      join(home, path),
      `  taint: |\n${sources.map(source => `    ${source}\n`).join('')}  notes:\n    - as it says\n`,
    );
    await clean(home);
  });

  it.each<[string, Wanted]>([
    ['rows', query("SELECT title FROM tasks WHERE id = 'o2'")],
    ['parts', query("SELECT upper(substr(title, 6)) AS t FROM tasks WHERE file = 'tasks/outside.task.md'")],
    ['note', query("SELECT text FROM notes WHERE task = 'o2'")],
    ['file', call('read_file', {path})],
    ['lines', call('read_file', {path, offset: 10, limit: 1})],
    ['found', call('grep', {pattern: 'as it says', path: 'tasks/'})],
    ['nearest', call('search_files', {query: 'obey the page', path: 'tasks/'})],
  ])('taints who reads it: %s', async (id, wanted) => {
    expect(await taintBy(`reads-${id}`, wanted)).toEqual(sources);
  });

  it('names each source as it is, commas and all, from session to task to session', async () => {
    const heard = sources.map(
      from => `  - role: user\n    untrusted: true\n    from: ${JSON.stringify(from)}\n    content: do\n`,
    );
    put(home, {[pathOf('heard')]: `agent_id: agent-i\nmessages:\n${heard.join('')}`});
    parts.set('agent-i', (_, tools) =>
      tools > 0
        ? {text: 'ok'}
        : {calls: [{id: 'c', ...create({title: 'passed on', file: 'passed', assignee: 'agent-j'})}]},
    );
    const [header] = await until(
      () => sessionsOf('agent-j').map(session => session.header),
      ([found]) => found?.tainted !== undefined,
    );
    expect(header?.tainted).toEqual(sources);
    const [task] = tasksIn('tasks/passed.task.md');
    expect(task && fieldOf(task, 'taint')).toBe(sources.join('\n'));
    await until(
      () => read(home, 'tasks/passed.task.md'),
      text => text.includes('stalled:'),
    );
    await clean(home);
  });

  it.each<[string, Wanted]>([
    ['another', query("SELECT title FROM tasks WHERE id = 'o1' UNION SELECT text FROM notes WHERE task = 'o1'")],
    ['number', query("SELECT state, count(*) AS n FROM tasks WHERE id = 'o2' GROUP BY state")],
    ['lines', call('read_file', {path, limit: 5})],
    ['found', call('grep', {pattern: 'harmless', path: 'tasks/', context: 0})],
  ])('does not taint who reads others: %s', async (id, wanted) => {
    expect(await taintBy(`clean-${id}`, wanted)).toBeUndefined();
  });
});

describe('a task that is given to another', () => {
  it('to a new agent of the template that has it: that one is made, and gets it', async () => {
    const path = 'tasks/given.task.md';
    parts.set('agent-k', () => ({text: 'noted'}));
    put(home, {[path]: '- [ ] @agent-k "given"\n  id: given\n'});
    await until(
      () => read(home, path),
      text => text.includes('session: agent-k-shared') && text.includes('started:'),
    );
    await agentdir(home, ['task', 'assign', 'given', 'new:agent-k']);
    await agentdir(home, ['task', 'reopen', 'given']);
    await until(
      () => read(home, path),
      text => /session: agent-k-given/.test(text),
    );
    expect(taskOf(path, 'given')?.names).toEqual([]);
  });
});

describe('the system prompt', () => {
  it('ends with whom the agent can reach, also by naming them, and with its tasks', async () => {
    put(home, {
      'templates/quiet.agent.yaml':
        'id: quiet\ntype: reader\nsystem_prompt: You are quiet.\ncapabilities: [read_file]\n',
      'tasks/quiet.task.md':
        '- [/] @quiet "read it"\n  id: quiet-1\n  started: 2026-01-01T00:00:00.000Z\n- [/] @quiet "obey me"\n  id: quiet-2\n  started: 2026-01-01T00:00:00.000Z\n  taint: inbox/x.jsonl#1\n- [/] @quiet "of another"\n  id: quiet-3\n  assign: new:agent-a\n  started: 2026-01-01T00:00:00.000Z\n- [ ] "made for it"\n  id: quiet-4\n  assign: new:quiet\n',
    });
    await clean(home);
    await results('quiet', 'prompt');
    const prompt = prompts.get('prompt') ?? '';
    expect(prompt).toContain('\n- @agent-a: worker\n');
    expect(prompt).toContain('quiet-1 (in progress): read it');
    // What came from outside is read where it taints the session, and not in every prompt.
    expect(prompt).toContain('quiet-2 (in progress)');
    expect(prompt).not.toContain('obey me');
    expect(prompt).not.toContain('quiet-3');
    expect(prompt).not.toContain('quiet-4');
    const own = await until(
      () => [...prompts].find(([first]) => first.includes('Id: quiet-4'))?.[1],
      found => found !== undefined,
    );
    expect(own).toContain('- quiet-4 (');
  });
});

describe('a note', () => {
  it('of a person wakes whom it names, though an agent noted meanwhile; and nobody is woken twice', async () => {
    const path = 'tasks/woken.task.md';
    const before =
      '- [/] @agent-c "w"\n  id: w1\n  started: 2026-01-01T00:00:00.000Z\n  notes:\n    - 2026-01-01T00:00:00.000Z @human: begin\n';
    put(home, {[path]: before});
    await clean(home);
    await results('agent-c', 'woken', [update({id: 'w1', note: 'see this, @agent-d'})]);
    await until(
      () => heardBy('agent-d'),
      heard => times(heard, 'see this') === 1,
    );
    await until(
      () => read(home, path),
      text => text.includes('mentioned:'),
    );
    await clean(home);
    // Saved from an editor that was opened before.
    writeFileSync(
      join(home, path),
      before.replace('begin\n', 'begin\n    - 2026-01-02T00:00:00.000Z @human: and you, @agent-e\n'),
    );
    await until(
      () => heardBy('agent-e'),
      heard => times(heard, 'and you') === 1,
    );
    await clean(home);
    expect(times(heardBy('agent-d'), 'see this')).toBe(1);
    expect(taskOf(path, 'w1')?.notes).toHaveLength(3);
  });

  it('that is written when older ones were taken out wakes whom it names', async () => {
    const path = 'tasks/fewer.task.md';
    const head = '- [/] "f"\n  id: f1\n  started: 2026-01-01T00:00:00.000Z\n';
    put(home, {
      [path]: `${head}  notes:\n    - 2026-01-01T00:00:00.000Z @human: one\n    - 2026-01-01T00:00:01.000Z @human: two, @agent-f\n`,
    });
    await until(
      () => heardBy('agent-f'),
      heard => times(heard, 'two,') === 1,
    );
    await until(
      () => read(home, path),
      text => text.includes('mentioned:'),
    );
    await clean(home);
    const lines = read(home, path).split('\n');
    const at = lines.findIndex(line => line.includes(': one'));
    lines.splice(at, 2, '    - 2026-01-03T00:00:00.000Z @human: three, @agent-f');
    writeFileSync(join(home, path), lines.join('\n'));
    await until(
      () => heardBy('agent-f'),
      heard => times(heard, 'three,') === 1,
    );
    expect(times(heardBy('agent-f'), 'two,')).toBe(1);
  });
});

describe('what is urgent', () => {
  const newHome = homes({'templates/ann.agent.yaml': agentText('ann')});

  it('comes first also in a session that is made for it', async () => {
    const home = newHome();
    // So much led to it that a person is asked before the model is: all of it waits in the session.
    const task = (id: string, priority: string) =>
      `- [ ] ${priority} @ann "${id}"\n  id: ${id}\n  created: 2026-01-01T00:00:00.000Z\n  chain: 50 long-ago\n`;
    const ids = ['a-usual', 'b-usual', 'c-urgent', 'd-usual'];
    put(home, Object.fromEntries(ids.map(id => [`tasks/${id}.task.md`, task(id, id === 'c-urgent' ? 'A' : 'C')])));
    const daemon = await serve(home, {OPENAI_BASE_URL: server.url, OPENAI_MODEL: 'fake-1'});
    const path = 'sessions/ann/ann-shared.session.yaml';
    const {messages} = await until(
      () => parseSession(read(home, path)),
      session => session.messages.length === ids.length && session.header?.status === 'waiting',
    );
    expect(await daemon.stop(), daemon.errors()).toBe(0);
    expect(messages[0]?.from).toBe('task/c-urgent');
  });
});

describe('a call that is made again after a crash', () => {
  const newHome = homes({
    'templates/ann.agent.yaml': agentText('ann'),
    'templates/bob.agent.yaml': agentText('bob'),
  });
  const env = {OPENAI_BASE_URL: server.url, OPENAI_MODEL: 'fake-1'};

  /** The daemon is killed when what the call does is done, and before its session says so. */
  async function killedAt(crash: string, home: string, call: Wanted): Promise<void> {
    parts.set('ann', messages =>
      messages.some(({role}) => role === 'tool') ? {text: 'over'} : {calls: [{id: 'c', ...call}]},
    );
    put(home, {[pathOf('q')]: 'agent_id: ann\nmessages:\n  - role: user\n    content: go\n'});
    const killed = spawnDaemon(home, {...env, AGENTDIR_CRASH_AT: crash});
    expect(await killed.exited).toBe('SIGKILL');
    expect(read(home, pathOf('q'))).not.toContain('tool_result');
  }

  async function finished(home: string): Promise<Result> {
    const daemon = await serve(home, env);
    const {messages} = await until(
      () => parseSession(read(home, pathOf('q'))),
      ({header}) => header?.status === 'sleeping',
    );
    expect(await daemon.stop(), daemon.errors()).toBe(0);
    return JSON.parse(messages.find(({role}) => role === 'tool_result')?.content ?? '') as Result;
  }

  it('sends nothing twice, though its receiver has written from elsewhere meanwhile', async () => {
    const home = newHome();
    put(home, {[pathOf('other')]: 'agent_id: bob\nmessages: []\n'});
    await killedAt('delivery:1', home, {name: 'send_message', arguments: {to: 'bob', content: 'only once'}});
    appendFileSync(
      join(home, pathOf('q')),
      "  - role: user\n    from: '@bob'\n    reply_to: other\n    content: by the way\n",
    );
    expect(await finished(home)).toMatchObject({success: true, to: 'bob'});
    const all = Object.entries(filesIn(home)).filter(([path]) => path.startsWith('sessions/'));
    expect(all.filter(([path, text]) => path !== pathOf('q') && text.includes('only once'))).toHaveLength(1);
  });

  it('has made its tasks, also those with ids of their own', async () => {
    const home = newHome();
    await killedAt(
      'call-end:1',
      home,
      create({file: 'raw', content: '- [ ] "one"\n  id: one\n- [ ] "two"\n  id: two\n'}),
    );
    expect(read(home, 'tasks/raw.task.md')).toContain('id: two');
    expect(await finished(home)).toMatchObject({success: true, task_ids: ['one', 'two']});
    expect(parseTasks(read(home, 'tasks/raw.task.md')).tasks).toHaveLength(2);
  });
});

describe('agents that only keep each other busy wait for a person', () => {
  const waiting = (agent: string) =>
    until(
      () => sessionsOf(agent).map(({header}) => header),
      headers => headers.some(header => header?.status === 'waiting' && header.waiting_for !== undefined),
    );

  it('with tasks for one another', async () => {
    for (const [name, other] of [
      ['agent-g', 'agent-h'],
      ['agent-h', 'agent-g'],
    ] as const)
      parts.set(name, (messages, tools) => {
        const id = /^Id: (\S+)$/m.exec(String(messages.findLast(({role}) => role === 'user')?.content))?.[1];
        if (tools > 0 || (id === undefined && !messages.some(({content}) => content === 'begin'))) return {text: 'ok'};
        return {calls: [create({title: `for ${other}`, assignee: other, file: 'busy'})]};
      });
    put(home, {[pathOf('busy')]: 'agent_id: agent-g\nmessages:\n  - role: user\n    content: begin\n'});
    await Promise.race([waiting('agent-g'), waiting('agent-h')]);
    expect(tasksIn('tasks/busy.task.md').length).toBeLessThan(12);
  });
});
