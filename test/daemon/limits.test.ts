import {readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {readApprovalItems} from '../../src/formats/approval/approval-item.ts';
import {parseSession} from '../../src/formats/session/session.ts';
import {parseSpend} from '../../src/formats/spend-file.ts';
import {fieldOf} from '../../src/formats/task/task.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {agentdir, environment, git, newHome, put, until} from '../cli/run.ts';
import {read, serve, settled, subjects} from './serve.ts';

const QUEUE = 'tasks/approvals.task.md';
const SPEND = 'state/spend.yaml';
const today = new Date().toISOString().slice(0, 10);
const time = `${today}T00:00:01.000Z`;

const template = (limits: string) =>
  `id: a\ntype: t\nsystem_prompt: You help.\ncapabilities: [read_file]\nlimits: ${limits}\n`;

/** As a turn left it: `turns` calls of 100 tokens and 0.01 dollars each, and waiting for `approval`. */
function session(id: string, turns: number, approval: string | undefined, agent = 'a', at = time): string {
  const said = `  - timestamp: '${at}'
    role: assistant
    model: m
    usage: {input_tokens: 90, output_tokens: 10, cost_usd: 0.01}
    content: So far so good.
`;
  return `session_id: ${id}
agent_id: ${agent}
agent_type: t
model: default
system_prompt: You help.
created: '${time}'
updated: '${time}'
status: ${approval === undefined ? 'sleeping' : 'waiting'}
${approval === undefined ? '' : `waiting_for: ${approval}\n`}messages:
  - timestamp: '${time}'
    role: user
    from: human
    content: Go.
${said.repeat(turns)}`;
}

const path = (id: string) => `sessions/${id}.session.yaml`;
const header = (home: string, id: string) => parseSession(read(home, path(id))).header;
const item = (home: string, id: string) =>
  readApprovalItems(parseTasks(read(home, QUEUE))).items.find(found => found.id === id);
const work = (id: string, n = 1) => `budget-${id}-${time.replace(/[-:.]/g, '')}-turns-${n}`;
const tick = (home: string, id: string, box: string) => {
  const text = read(home, QUEUE);
  const found = item(home, id);
  if (!found) throw new Error(`${id} is not there`);
  const at = found.task.boxStart + 1;
  writeFileSync(join(home, QUEUE), text.slice(0, at) + box + text.slice(at + 1));
};
const asked = (home: string, id: string) => settled(home, QUEUE, () => item(home, id)?.status === 'pending');

async function homeWith(files: Record<string, string>): Promise<string> {
  const home = await newHome({'templates/a.agent.yaml': template('{max_turns: 3}'), ...files});
  await git(home, 'add', '-A');
  await git(home, 'commit', '-qm', 'mine');
  return home;
}

describe('a session at its limit', () => {
  it('asks with an item that a person sees, and goes on when its box is ticked', async () => {
    const id = work('s1');
    const home = await homeWith({[path('s1')]: session('s1', 3, id)});
    const {stop} = await serve(home);
    await asked(home, id);
    const found = item(home, id);
    expect(found).toMatchObject({type: 'budget', agent: 'a', decision: undefined});
    expect(found && fieldOf(found.task, 'grants')).toBe('3 turns more for this piece of work');
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text.includes('Approve more turns: s1 used 3 turns'),
    );
    expect(header(home, 's1')?.status).toBe('waiting');
    tick(home, id, 'x');
    const text = await settled(home, path('s1'), t => t.includes('status: sleeping'));
    expect(text).not.toContain('waiting_for');
    await settled(home, QUEUE, () => item(home, id)?.status === 'approved');
    expect(item(home, id)).toMatchObject({decision: 'approved', by: 'Ada <ada@example.org>'});
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      needs => !needs.includes('Approve more'),
    );
    const log = await subjects(home);
    expect(log).toContain(`agentdir: tasks(approvals): ${id} asked`);
    expect(log).toContain(`agentdir: tasks(approvals): ${id} approved`);
    expect(log).toContain(`agentdir: session(s1): goes on, since ${id} was approved`);
    await stop();
  });

  it('pauses when it is rejected', async () => {
    const id = work('s1');
    const home = await homeWith({[path('s1')]: session('s1', 3, id)});
    const {stop} = await serve(home);
    await asked(home, id);
    tick(home, id, '-');
    const text = await settled(home, path('s1'), t => t.includes('status: paused'));
    expect(text).not.toContain('waiting_for');
    await settled(home, QUEUE, () => item(home, id)?.status === 'rejected');
    expect(item(home, id)?.by).toBe('Ada <ada@example.org>');
    await stop();
  });

  it('goes on when the limit is raised, and the request is withdrawn', async () => {
    const home = await homeWith({
      [path('s1')]: session('s1', 3, work('s1')),
      [path('s2')]: session('s2', 9, work('s2')),
    });
    const {stop} = await serve(home);
    await asked(home, work('s1'));
    await asked(home, work('s2'));
    put(home, {'templates/a.agent.yaml': template('{max_turns: 5}')});
    await settled(home, path('s1'), t => t.includes('status: sleeping'));
    await settled(home, QUEUE, () => item(home, work('s1'))?.status === 'withdrawn');
    expect(item(home, work('s2'))?.status).toBe('pending');
    expect(header(home, 's2')?.status).toBe('waiting');
    // A template with errors says nothing about limits: what it said before holds.
    put(home, {'templates/a.agent.yaml': 'id: a\ntype: [\n'});
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text.includes('YAML_SYNTAX'),
    );
    put(home, {[path('s3')]: session('s3', 9, work('s3'))});
    put(home, {'templates/a.agent.yaml': template('{max_turns: 6}')});
    await asked(home, work('s3'));
    expect(item(home, work('s2'))?.status).toBe('pending');
    expect(header(home, 's2')?.status).toBe('waiting');
    await stop();
  });

  it('asks for the day once, however many wait, and one tick lets all go on', async () => {
    const id = `budget-${today}-tokens-1`;
    const home = await homeWith({
      'agentdir.yaml': 'format: 1\nlimits: {per_day: {tokens: 1000}}\n',
      'templates/a.agent.yaml': template('{}'),
      [path('s1')]: session('s1', 4, id),
      [path('s2')]: session('s2', 3, id),
      [path('s3')]: session('s3', 3, id, 'planner-001'),
      [path('old')]: session('old', 30, undefined, 'a', '2026-01-01T00:00:00.000Z'),
    });
    const {stop} = await serve(home);
    await asked(home, id);
    expect(read(home, QUEUE).match(/approval_type: budget/g)).toHaveLength(1);
    expect(item(home, id)?.task.title).toContain('all agents together used 1,000 tokens on');
    // When a limit is reached, what was used is written down.
    const spend = parseSpend(await settled(home, SPEND, t => t !== ''));
    expect(spend.problems).toEqual([]);
    expect(spend.value).toEqual({
      day: today,
      agents: {
        a: {turns: 7, input_tokens: 630, output_tokens: 70, cost_usd: 0.07, unpriced_tokens: 0},
        'planner-001': {turns: 3, input_tokens: 270, output_tokens: 30, cost_usd: 0.03, unpriced_tokens: 0},
      },
    });
    tick(home, id, 'x');
    for (const name of ['s1', 's2', 's3']) await settled(home, path(name), t => t.includes('status: sleeping'));
    expect(item(home, id)?.decision).toBe('approved');
    await stop();
  });

  it('does not wait for yesterday', async () => {
    const id = 'budget-a-2026-01-01-tokens-1';
    const home = await homeWith({
      'templates/a.agent.yaml': template('{max_tokens: 100}'),
      [path('s1')]: session('s1', 2, id, 'a', '2026-01-01T00:00:00.000Z'),
      [QUEUE]: `## TODO\n\n- [_] "Approve more"\n  id: ${id}\n  approval_type: budget\n  agent: a\n  status: pending\n`,
    });
    const {stop} = await serve(home);
    await settled(home, path('s1'), t => t.includes('status: sleeping'));
    await settled(home, QUEUE, () => item(home, id)?.status === 'withdrawn');
    await stop();
  });
});

describe('whatever happened while no daemon ran', () => {
  it('is found at the next start: a tick, a missing queue, a session that waits for nothing', async () => {
    const home = await homeWith({[path('s1')]: session('s1', 3, work('s1'))});
    rmSync(join(home, QUEUE));
    await git(home, 'commit', '-qam', 'no queue');
    const once = await agentdir(home, ['start', '--once']);
    expect(once).toMatchObject({code: 3});
    expect(item(home, work('s1'))?.status).toBe('pending');
    expect(await git(home, 'status', '--porcelain')).toBe('');
    tick(home, work('s1'), 'x');
    put(home, {[path('s2')]: session('s2', 1, work('s2'))});
    expect(await agentdir(home, ['start', '--once'])).toMatchObject({code: 0});
    expect(header(home, 's1')?.status).toBe('sleeping');
    expect(header(home, 's2')?.status).toBe('sleeping');
    expect(item(home, work('s1'))?.status).toBe('approved');
    expect(item(home, work('s2'))).toBeUndefined();
    expect(await git(home, 'status', '--porcelain')).toBe('');
    const commits = await subjects(home);
    expect(await agentdir(home, ['start', '--once'])).toMatchObject({code: 0});
    expect(await subjects(home)).toEqual(commits);
  });

  it('counts: killed before anything was written down, nothing that was used is forgotten', async () => {
    const id = `budget-a-${today}-cost_usd-1`;
    const home = await homeWith({
      'templates/a.agent.yaml': template('{max_cost_usd: 0.05}'),
      [SPEND]: `day: ${today}\nagents:\n  a: {turns: 1, input_tokens: 9000, output_tokens: 1, cost_usd: 0.01}\n`,
      [path('s1')]: session('s1', 3, undefined),
      [path('s2')]: session('s2', 2, id),
    });
    expect(await agentdir(home, ['start', '--once'])).toMatchObject({code: 3});
    expect(parseSpend(read(home, SPEND)).value?.agents.a).toEqual({
      turns: 5,
      input_tokens: 9000,
      output_tokens: 50,
      cost_usd: 0.05,
      unpriced_tokens: 0,
    });
    // The sessions are gone, what they cost is not.
    rmSync(join(home, path('s1')));
    put(home, {[path('s3')]: session('s3', 0, id)});
    expect(await agentdir(home, ['start', '--once'])).toMatchObject({code: 3});
    expect(header(home, 's3')?.status).toBe('waiting');
  });

  it('is not lost to a spend file with errors, which is shown and left alone', async () => {
    const id = `budget-a-${today}-cost_usd-1`;
    const home = await homeWith({
      'templates/a.agent.yaml': template('{max_cost_usd: 0.05}'),
      [SPEND]: 'day: today\nagents: 5\n',
      [path('s1')]: session('s1', 5, id),
    });
    expect(await agentdir(home, ['start', '--once'])).toMatchObject({code: 4});
    expect(item(home, id)?.status).toBe('pending');
    expect(read(home, SPEND)).toBe('day: today\nagents: 5\n');
    expect(read(home, 'NEEDS_YOU.md')).toContain('state/spend.yaml');
    rmSync(join(home, SPEND));
    expect(await agentdir(home, ['start', '--once'])).toMatchObject({code: 3});
    expect(parseSpend(read(home, SPEND)).value?.agents.a?.turns).toBe(5);
  });
});

describe('a queue that cannot be written', () => {
  it('with errors is told, left alone, and gets the request when it is mended', async () => {
    const broken = '## TODO\n\n- [?] "Which?"\n  id: x\n  session: s1\n';
    const home = await homeWith({[QUEUE]: broken, [path('s1')]: session('s1', 3, work('s1'))});
    const {stop} = await serve(home);
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text.includes('cannot ask you:'),
    );
    expect(read(home, QUEUE)).toBe(broken);
    put(home, {[QUEUE]: broken.replace('[?]', '[_]')});
    await asked(home, work('s1'));
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => !text.includes('cannot ask you:'),
    );
    await stop();
  });
});

describe('a daemon that is killed', () => {
  it.each(['save-rename:2', 'save-temp:1', 'save-unlock:3'])('at %s asks once, and forgets nothing', async crash => {
    const id = `budget-${today}-turns-1`;
    const home = await homeWith({
      'agentdir.yaml': 'format: 1\nlimits: {per_day: {turns: 5}}\n',
      [path('s1')]: session('s1', 4, id),
      [path('s2')]: session('s2', 2, id),
    });
    const env = {...environment, AGENTDIR_CRASH_AT: crash};
    await agentdir(home, ['start', '--once'], env);
    expect(await agentdir(home, ['start', '--once'])).toMatchObject({code: 3});
    expect(read(home, QUEUE).match(/approval_type: budget/g)).toHaveLength(1);
    tick(home, id, 'x');
    await agentdir(home, ['start', '--once'], env);
    await agentdir(home, ['start', '--once']);
    expect(item(home, id)?.status).toBe('approved');
    for (const name of ['s1', 's2']) expect(header(home, name)?.status).toBe('sleeping');
    expect(parseSpend(readFileSync(join(home, SPEND), 'utf8')).value?.agents.a?.turns).toBe(6);
    expect(await git(home, 'status', '--porcelain')).toBe('');
    const log = await subjects(home);
    expect(log.filter(line => line.includes(`${id} asked`)).length).toBeLessThanOrEqual(1);
    expect(await git(home, 'fsck', '--strict', '--no-dangling')).toBe('');
  });
});
