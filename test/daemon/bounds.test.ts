import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {type ApprovalItem, readApprovalItems} from '../../src/formats/approval/approval-item.ts';
import {parseSession} from '../../src/formats/session/session.ts';
import type {Message} from '../../src/formats/session/session-schema.ts';
import {parseSpend} from '../../src/formats/spend-file.ts';
import {fieldOf} from '../../src/formats/task/task.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {agentdir, git, newHome, put, until} from '../cli/run.ts';
import {type ChatRequest, type Reaction, startFakeOpenAI} from '../model/fake-openai.mjs';
import {agent, sessionsOf} from './minds.ts';
import {read, serve, settled} from './serve.ts';

const QUEUE = 'tasks/approvals.task.md';
const path = (id: string) => `sessions/${id}.session.yaml`;
const begun = (name: string) => `agent_id: ${name}\nmessages:\n  - role: user\n    content: Go.\n`;
const session = (home: string, id: string) => parseSession(read(home, path(id)));
const items = (home: string) => readApprovalItems(parseTasks(read(home, QUEUE))).items;
const pending = (home: string) => items(home).filter(({status}) => status === 'pending');
const budgets = (home: string) => items(home).filter(({type}) => type === 'budget');
const isLast = (messages: ChatRequest['messages'], role: string) => messages.at(-1)?.role === role;

/** A home whose agents are answered by `answer`, which gets the agent's name. */
async function world(
  answer: (name: string, messages: ChatRequest['messages'], n: number) => Reaction,
  files: Record<string, string>,
) {
  const server = await startFakeOpenAI({
    keep: false,
    answer: ({messages}, n) => {
      const name = /^You are (\S+)\./.exec(String(messages[0]?.content ?? ''))?.[1] ?? '';
      return answer(name, messages, n);
    },
  });
  onTestFinished(() => server.close());
  const home = await newHome(files);
  await git(home, 'add', '-A');
  await git(home, 'commit', '-qm', 'mine');
  return {home, server, env: {OPENAI_BASE_URL: server.url, OPENAI_MODEL: 'fake-1'}};
}

const resultsOf = (messages: readonly Message[]) => messages.filter(({role}) => role === 'tool_result');
const codeOf = ({content}: Message) => (JSON.parse(content ?? '{}') as {code?: string}).code;

describe('an answer with 1,600 calls', () => {
  it('runs the first 64; the others get a result, also if the file had them before', async () => {
    const calls = Array.from({length: 1600}, (_, i) => ({
      id: `h${i}`,
      name: 'execute_command',
      arguments: {command: `touch f${i}`},
    }));
    const {home, server, env} = await world(
      (name, messages) => (name === 'hostile' && isLast(messages, 'user') ? {calls} : {text: 'fine'}),
      {
        'templates/hostile.agent.yaml': agent('hostile', '', 'execute_command, list_agents'),
        'templates/talker.agent.yaml': agent('talker'),
      },
    );
    const {stop} = await serve(home, env);
    put(home, {[path('h')]: begun('hostile')});
    await settled(home, path('h'), text => text.includes('status: waiting'));
    const {messages} = session(home, 'h');
    expect(messages[1]?.tool_calls).toHaveLength(1600);
    expect(messages[1]?.tool_calls?.filter(({approval}) => approval !== undefined)).toHaveLength(64);
    expect(resultsOf(messages)).toHaveLength(1536);
    expect(new Set(resultsOf(messages).map(codeOf))).toEqual(new Set(['NOT_ALLOWED']));
    expect(messages[2]?.content).toContain('only the first 64 of an answer are run');
    await settled(home, QUEUE, () => pending(home).length === 64);
    // Another agent is answered as usual.
    put(home, {[path('t')]: begun('talker')});
    await settled(home, path('t'), text => text.includes('fine'));

    // As a version without this limit left it: one call was asked about, the others not yet.
    const call = (i: number, more = '') =>
      `      - {id: c${i}, type: function, function: {name: list_agents, arguments: "{}"}${more}}\n`;
    const many = Array.from({length: 1600}, (_, i) => call(i)).join('');
    put(home, {
      [path('old')]:
        `agent_id: hostile\nmessages:\n  - role: user\n    content: Go.\n  - role: assistant\n    tool_calls:\n${many}`,
    });
    await settled(home, path('old'), text => text.includes('status: sleeping'));
    const codes = resultsOf(session(home, 'old').messages).map(codeOf);
    expect(codes.filter(code => code === 'NOT_ALLOWED')).toHaveLength(1536);
    expect(codes.filter(code => code === undefined)).toHaveLength(64);
    expect(server.violations).toEqual([]);
    expect(await stop()).toBe(0);
  });
});

describe('requests that wait for a person', () => {
  it('beyond the limit agents pause, one item says so, and they go on when enough are decided', async () => {
    const asks = {calls: [{name: 'execute_command', arguments: {command: 'touch made'}}]};
    const {home, env} = await world((_, messages) => (isLast(messages, 'user') ? asks : {text: 'fine'}), {
      'agentdir.yaml': 'format: 1\nlimits: {open_requests: 3}\n',
      'templates/asker.agent.yaml': agent('asker', '', 'execute_command'),
    });
    const first = await serve(home, env);
    for (const id of ['a', 'b', 'c']) put(home, {[path(id)]: begun('asker')});
    await settled(home, QUEUE, () => pending(home).length === 3);
    for (const id of ['d', 'e']) put(home, {[path(id)]: begun('asker')});
    const [limit] = await until(
      () => budgets(home),
      found => found.length > 0,
    );
    for (const id of ['d', 'e']) {
      await settled(home, path(id), text => text.includes(`waiting_for: ${limit?.id}`));
      expect(read(home, path(id))).toContain('status: waiting');
    }
    expect(limit?.task.title).toContain('3 open requests need your decision first');
    expect(limit && fieldOf(limit.task, 'limit')).toBe('limits.open_requests: 3 in agentdir.yaml');
    await settled(home, 'NEEDS_YOU.md', text => text.includes('Approve more open requests'));
    expect((await agentdir(home, ['status'])).stdout).toMatch(/4 approvals|approvals.*4/);
    expect((await agentdir(home, ['doctor'])).stdout).toContain('limits.open_requests: 3 in agentdir.yaml');
    // A new daemon knows the same.
    expect(await first.stop()).toBe(0);
    const {stop} = await serve(home, env);
    const calls = pending(home).filter(({type}) => type !== 'budget');
    expect(calls).toHaveLength(3);
    for (const item of calls.slice(0, 2)) await reject(home, item);
    await until(
      () => pending(home).map(({type, session: of}) => `${type} ${of}`),
      found => found.length === 3 && found.includes('terminal_command d') && found.includes('terminal_command e'),
    );
    await settled(home, QUEUE, () => budgets(home).every(({status}) => status === 'withdrawn'));
    expect(budgets(home)).toHaveLength(1);
    expect(await stop()).toBe(0);
  });
});

async function reject(home: string, item: ApprovalItem): Promise<void> {
  const {code, stderr} = await agentdir(home, ['reject', item.id ?? '', '--reason', 'no']);
  expect(code, stderr).toBe(0);
}

describe('agents that make more and more work', () => {
  it('are held at a limit for all that one message led to, also by a new daemon, until a person raises it', async () => {
    const three = [1, 2, 3].map(i => ({name: 'create_task', arguments: {title: `more ${i}`, assignee: 'spreader'}}));
    const {home, env} = await world((_, messages) => (isLast(messages, 'user') ? {calls: three} : {text: 'done'}), {
      'agentdir.yaml': 'format: 1\nlimits: {per_cause: {tasks: 10}}\n',
      'templates/spreader.agent.yaml': agent('spreader', 'context: fresh\n', 'create_task'),
    });
    const tasks = () => parseTasks(read(home, 'tasks/spreader.task.md')).tasks;
    const atRest = () => {
      const texts = sessionsOf(home, 'spreader') + read(home, path('root'));
      return !/^status: active$/m.test(texts) && /^status: waiting$/m.test(texts);
    };
    const first = await serve(home, env);
    put(home, {[path('root')]: begun('spreader')});
    await settled(home, QUEUE, () => budgets(home).length > 0 && atRest());
    const made = tasks().length;
    // One more than the limit shows that more is wanted.
    expect(made).toBe(11);
    expect(new Set(tasks().map(task => fieldOf(task, 'chain')?.replace(/^\d+ /, ''))).size).toBe(1);
    const [limit] = budgets(home);
    expect(limit?.task.title).toMatch(
      /^Approve more tasks: what began with root#\S+ led to (?:\d+ of )?10 tasks without a person in between$/,
    );
    expect(limit && fieldOf(limit.task, 'limit')).toBe('limits.per_cause.tasks: 10 in agentdir.yaml');
    expect(sessionsOf(home, 'spreader')).toContain('too many tasks have followed from one cause');
    expect(await first.stop()).toBe(0);

    const second = await serve(home, env);
    await settled(home, QUEUE, () => atRest());
    expect(tasks()).toHaveLength(made);
    expect(budgets(home)).toHaveLength(1);
    writeFileSync(join(home, 'agentdir.yaml'), 'format: 1\nlimits: {per_cause: {tasks: 20}}\n');
    await until(
      () => tasks().length,
      count => count > 20,
    );
    await settled(home, QUEUE, () => budgets(home).some(({status}) => status === 'pending') && atRest());
    expect(tasks()).toHaveLength(21);
    const open = budgets(home).find(({status}) => status === 'pending');
    expect((await agentdir(home, ['approve', open?.id ?? ''])).code).toBe(0);
    await until(
      () => tasks().length,
      count => count > 21,
    );
    await settled(home, QUEUE, () => budgets(home).some(({status}) => status === 'pending') && atRest());
    expect(tasks()).toHaveLength(41);
    expect(await second.stop()).toBe(0);
  });
});

describe('what agents use', () => {
  it('is estimated where the server says zero, so that limits hold, and is on disk within 5 s', async () => {
    const {home, env} = await world(
      (_, messages) => ({
        usage: {prompt_tokens: 0, completion_tokens: 0},
        ...(messages.length > 2 ? {calls: [{name: 'list_agents', arguments: {}}]} : {text: 'fine'}),
      }),
      {
        'agentdir.yaml':
          'format: 1\nmodels: [{id: fake-1, price: {input: 10, output: 10}}]\nlimits: {per_day: {tokens: 400}}\n',
        'templates/lister.agent.yaml': agent('lister', '', 'list_agents'),
      },
    );
    const killed = await serve(home, env);
    put(home, {[path('s')]: begun('lister')});
    await until(
      () => read(home, path('s')),
      text => text.includes('fine'),
    );
    await until(
      () => read(home, 'state/spend.yaml'),
      text => text !== '',
      5_000,
    );
    await killed.kill();
    expect(parseSpend(read(home, 'state/spend.yaml')).value?.agents.lister?.turns).toBe(1);

    const daemon = await serve(home, env);
    put(home, {[path('s')]: `${read(home, path('s'))}  - role: user\n    content: And now?\n`});
    await settled(home, path('s'), text => text.includes('status: waiting'));
    const {usage} = session(home, 's').messages[1] ?? {};
    expect(usage).toMatchObject({estimated: true});
    expect(usage?.input_tokens).toBeGreaterThan(50);
    expect(usage?.output_tokens).toBeGreaterThan(0);
    expect(usage?.cost_usd).toBeGreaterThan(0);
    expect(budgets(home)[0]?.task.title).toContain('Approve more tokens');
    await daemon.stop();
  });
});
