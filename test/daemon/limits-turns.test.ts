import {rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {type ApprovalItem, readApprovalItems} from '../../src/formats/approval/approval-item.ts';
import {parseSession} from '../../src/formats/session/session.ts';
import {parseSpend} from '../../src/formats/spend-file.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {agentdir, environment, git, newHome, put, until} from '../cli/run.ts';
import {type FakeOpenAI, type Reaction, startFakeOpenAI} from '../model/fake-openai.mjs';
import {read, serve, settled, subjects} from './serve.ts';

const QUEUE = 'tasks/approvals.task.md';
const today = () => new Date().toISOString().slice(0, 10);
const template = (limits: string) =>
  `id: a\ntype: t\nsystem_prompt: You help.\ncapabilities: [list_agents]\nlimits: ${limits}\n`;
const settings = (rest: string) =>
  `format: 1\ndefault_model: m\nmodels: [{id: m, price: {input: 1000, output: 0}}]\n${rest}`;
const path = (id: string) => `sessions/${id}.session.yaml`;
const least = 'agent_id: a\nmessages:\n  - role: user\n    content: Go.\n';
const status = (home: string, id: string) => parseSession(read(home, path(id))).header?.status;
const items = (home: string) => readApprovalItems(parseTasks(read(home, QUEUE))).items;
const statuses = (home: string) => items(home).map(item => item.status);

function tick(home: string, item: ApprovalItem | undefined, box: string): void {
  const text = read(home, QUEUE);
  const at = (item?.task.boxStart ?? 0) + 1;
  writeFileSync(join(home, QUEUE), text.slice(0, at) + box + text.slice(at + 1));
}

/** A server that answers with 100 tokens, 0.1 dollars a time, and a home whose sessions ask it. */
async function world(reaction: Reaction, files: Record<string, string>) {
  const server: FakeOpenAI = await startFakeOpenAI({
    answer: () => ({usage: {prompt_tokens: 100, completion_tokens: 0}, ...reaction}),
  });
  onTestFinished(() => server.close());
  const home = await newHome({
    'agentdir.yaml': settings(''),
    'templates/a.agent.yaml': template('{}'),
    ...files,
  });
  await git(home, 'add', '-A');
  await git(home, 'commit', '-qm', 'mine');
  const env = {OPENAI_BASE_URL: server.url, OPENAI_API_KEY: 'sk-test'};
  return {server, home, env};
}

const calls: Reaction = {calls: [{name: 'list_agents', arguments: '{}'}]};

describe('an agent that would go on for ever', () => {
  it('asks after so many turns for one piece of work, gets as many again, and is stopped', async () => {
    const {server, home, env} = await world(calls, {'templates/a.agent.yaml': template('{max_turns: 3}')});
    const {stop} = await serve(home, env);
    put(home, {[path('s1')]: least});
    await settled(home, path('s1'), text => text.includes('status: waiting'));
    await settled(home, QUEUE, () => statuses(home).includes('pending'));
    expect(server.count).toBe(3);
    const [first] = items(home);
    expect(first?.task.title).toBe('Approve more turns: s1 used 3 turns for one piece of work');
    tick(home, first, 'x');
    await settled(home, QUEUE, () => statuses(home).join() === 'approved,pending');
    await settled(home, path('s1'), text => text.includes('status: waiting'));
    expect(server.count).toBe(6);
    tick(home, items(home)[1], '-');
    await settled(home, path('s1'), text => text.includes('status: paused'));
    expect(server.count).toBe(6);
    // Set to work again it asks again, and a new message is new work.
    const paused = read(home, path('s1'));
    put(home, {[path('s1')]: paused.replace('status: paused', 'status: active')});
    await settled(home, QUEUE, () => statuses(home).join() === 'approved,rejected,pending');
    expect(server.count).toBe(6);
    put(home, {[path('s1')]: `${read(home, path('s1'))}  - role: user\n    content: Stop that.\n`});
    await settled(home, QUEUE, () => statuses(home).join() === 'approved,rejected,withdrawn,pending');
    expect(server.count).toBe(9);
    expect(server.violations).toEqual([]);
    await stop();
    expect(parseSpend(read(home, 'state/spend.yaml')).value).toEqual({
      day: today(),
      // The server says that its answers had no tokens, so these are estimated.
      agents: {a: {turns: 9, input_tokens: 900, output_tokens: expect.any(Number), cost_usd: 0.9, unpriced_tokens: 0}},
    });
    expect(await git(home, 'status', '--porcelain')).toBe('');
  });
});

describe('a day', () => {
  it('is over for all when what it may cost is used up, until the limit is raised', async () => {
    const sessions = ['s1', 's2', 's3', 's4', 's5', 's6'];
    const {server, home, env} = await world(
      {text: 'Done.'},
      {
        'agentdir.yaml': settings('concurrency: 1\nlimits: {per_day: {cost_usd: 0.25}}\n'),
        ...Object.fromEntries(sessions.map(id => [path(id), least])),
      },
    );
    const {stop} = await serve(home, env);
    const all = () => sessions.map(id => status(home, id)).sort();
    await until(all, seen => seen.join() === 'sleeping,sleeping,sleeping,waiting,waiting,waiting');
    await settled(home, QUEUE, () => statuses(home).join() === 'pending');
    expect(server.count).toBe(3);
    expect(items(home)[0]?.id).toBe(`budget-${today()}-cost_usd-1`);
    put(home, {'agentdir.yaml': settings('concurrency: 1\nlimits: {per_day: {cost_usd: 5}}\n')});
    await until(all, seen => seen.every(one => one === 'sleeping'));
    await settled(home, QUEUE, () => statuses(home).join() === 'withdrawn');
    expect(server.count).toBe(6);
    expect(server.violations).toEqual([]);
    await stop();
    expect(await git(home, 'status', '--porcelain')).toBe('');
  });

  it('has the limits that the settings had before they were broken, also for a daemon that never saw those', async () => {
    const {server, home, env} = await world(
      {text: 'Done.'},
      {'agentdir.yaml': settings('limits: {per_day: {turns: 1}}\n'), [path('s1')]: least},
    );
    const once = () => agentdir(home, ['start', '--once'], {...environment, ...env});
    expect(await once()).toMatchObject({code: 0});
    put(home, {'agentdir.yaml': 'limits: [\n', [path('s2')]: least});
    expect(await once()).toMatchObject({code: 4});
    expect(status(home, 's2')).toBe('waiting');
    rmSync(join(home, '.agentdir'), {recursive: true});
    put(home, {[path('s3')]: least});
    expect(await once()).toMatchObject({code: 4});
    expect(status(home, 's3')).toBe('waiting');
    expect(statuses(home)).toEqual(['pending']);
    expect(server.count).toBe(1);
    const {stdout} = await agentdir(home, ['check', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({problems: [{code: 'YAML_SYNTAX'}]});
    expect(JSON.parse(stdout).problems).toHaveLength(1);
  });

  it('is not forgotten by a daemon that is killed, and not by `start --once`', async () => {
    const {server, home, env} = await world({text: 'Done.'}, {'templates/a.agent.yaml': template('{max_tokens: 200}')});
    const first = await serve(home, env);
    put(home, {[path('s1')]: least});
    await settled(home, path('s1'), text => text.includes('status: sleeping'));
    await first.kill();
    const once = () => agentdir(home, ['start', '--once'], {...environment, ...env});
    put(home, {[path('s2')]: least});
    expect(await once()).toMatchObject({code: 0});
    put(home, {[path('s3')]: least});
    expect(await once()).toMatchObject({code: 3});
    expect(server.count).toBe(2);
    expect(status(home, 's3')).toBe('waiting');
    tick(home, items(home)[0], 'x');
    expect(await once()).toMatchObject({code: 0});
    expect(server.count).toBe(3);
    expect(status(home, 's3')).toBe('sleeping');
    expect(await git(home, 'status', '--porcelain')).toBe('');
    const log = await subjects(home);
    expect(log.filter(line => line.includes('waits for budget-a-'))).toHaveLength(1);
    expect(log.filter(line => line.includes('goes on, since budget-a-'))).toHaveLength(1);
  });
});
