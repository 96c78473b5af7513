import {appendFileSync, chmodSync, mkdirSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';
import {afterAll, describe, expect, it} from 'vitest';
import {parseSession} from '../../src/formats/session/session.ts';
import {linesOf} from '../cli/connector.ts';
import {agentdir, git, newHome, thorough, until} from '../cli/run.ts';
import {type FakeSlack, startFakeSlack, TOKEN} from '../connect/fake-slack.ts';
import {decideInQueue, itemsOf, pagesIn} from './deciding.ts';
import {tasksOf} from './minds.ts';
import {read, type Served, spawnDaemon} from './serve.ts';
import {expectSound} from './sound.ts';
import {startStoryModel, TASKS} from './story-model.ts';

const model = await startStoryModel();
afterAll(() => model.close());

const INBOX = 'slack-messages.jsonl';
const DOCKER = '#!/bin/sh\necho "$@" >> runs\necho Up 2 hours\n';

interface Scene {
  home: string;
  slack: FakeSlack;
}

async function setScene(): Promise<Scene> {
  const slack = await startFakeSlack();
  const home = await newHome({
    'agentdir.yaml': `format: 1
name: home
default_agent: planner-001
inbox: {routes: [{files: "slack-*.jsonl", to: planner-001}]}
slack: {api_url: "${slack.url}"}
`,
  });
  await git(home, 'commit', '--quiet', '--all', '--message=before');
  const docker = join(home, 'workspaces/executor-001/docker');
  mkdirSync(join(docker, '..'), {recursive: true});
  writeFileSync(docker, DOCKER);
  chmodSync(docker, 0o755);
  return {home, slack};
}

const session = (home: string, agent: string): string => {
  try {
    const files = readdirSync(join(home, 'sessions', agent), {recursive: true}).map(String);
    return files
      .filter(file => /(?:^|\/)[^./][^/]*\.session\.yaml$/.test(file))
      .map(file => read(home, join('sessions', agent, file)))
      .join('\n');
  } catch {
    return '';
  }
};
const isDone = (home: string, agent: string) =>
  tasksOf(home, TASKS).some(({names, state}) => names[0] === agent && state === 'completed');
const asked = (home: string, tool: string) =>
  itemsOf(home).find(({task}) => task.fields.some(({key, value}) => key === 'tool' && value === tool));
const open = (home: string) =>
  itemsOf(home).filter(
    ({id = '', status, decision}) =>
      status === 'pending' && decision === undefined && pagesIn(home, 'pending').includes(id),
  );
const tick = (home: string, tool: string) => {
  const item = asked(home, tool);
  if (item?.decision === undefined) decideInQueue(home, item?.id, 'x');
};

/** What can be seen in the files, in this order, and what a person does. */
const steps: Record<string, {seen: (scene: Scene) => boolean; does?: (scene: Scene) => void}> = {
  'a line is in the inbox': {
    does: ({home}) =>
      appendFileSync(
        join(home, 'inbox', INBOX),
        `${JSON.stringify({text: 'Can you check if Redis is running?', from: 'boss', channel: 'C0OPS', thread: '1759572000.000100'})}\n`,
      ),
    seen: ({home}) => linesOf(home, INBOX).length > 0,
  },
  'the planner has it': {seen: ({home}) => session(home, 'planner-001').includes('from: inbox/')},
  'the first task is made': {seen: ({home}) => tasksOf(home, TASKS).length > 0},
  'the plan is made': {seen: ({home}) => tasksOf(home, TASKS).length === 3},
  'the retriever has its task': {seen: ({home}) => session(home, 'retriever-001') !== ''},
  'the retriever is done': {seen: ({home}) => isDone(home, 'retriever-001')},
  'the executor has its task': {seen: ({home}) => session(home, 'executor-001') !== ''},
  'the command is asked about': {seen: ({home}) => open(home).length > 0},
  'the command is approved': {
    does: ({home}) => tick(home, 'execute_command'),
    seen: ({home}) => asked(home, 'execute_command')?.decision === 'approved',
  },
  'the yes is recorded': {seen: ({home}) => asked(home, 'execute_command')?.status === 'approved'},
  'the command has run': {seen: ({home}) => /exit_code/.test(session(home, 'executor-001'))},
  'the executor is done': {seen: ({home}) => isDone(home, 'executor-001')},
  'the evaluator has its task': {seen: ({home}) => session(home, 'evaluator-001') !== ''},
  'the evaluator is done': {seen: ({home}) => isDone(home, 'evaluator-001')},
  'the answer is asked about': {seen: ({home}) => asked(home, 'slack_send') !== undefined && open(home).length > 0},
  'the answer is approved': {
    does: ({home}) => tick(home, 'slack_send'),
    seen: ({home}) => asked(home, 'slack_send')?.decision === 'approved',
  },
  'the answer is sent': {seen: ({slack}) => slack.posted.length > 0},
  'the answer is recorded': {seen: ({home}) => linesOf(home, INBOX).some(({direction}) => direction === 'out')},
};

const busy = (home: string) =>
  ['planner', 'retriever', 'executor', 'evaluator'].filter(
    agent => !/^status: sleeping$/m.test(session(home, `${agent}-001`)),
  );

/** The whole story; the daemon is killed as soon as one of these steps is seen, or by itself at `crash`, and started again. */
async function tell(scene: Scene, kills: readonly string[], crash = ''): Promise<void> {
  const {home, slack} = scene;
  const env = {OPENAI_BASE_URL: model.url, OPENAI_MODEL: 'fake-1', SLACK_BOT_TOKEN: TOKEN};
  const start = () => spawnDaemon(home, {...env, ...(crash === '' ? {} : {AGENTDIR_CRASH_AT: crash})});
  let daemon: Served = start();
  const goOn = async () => {
    if (daemon.child.signalCode === null && daemon.child.exitCode === null) return;
    expect(await daemon.exited, daemon.errors()).toBe('SIGKILL');
    daemon = start();
  };
  /** What was cut off nobody knows the end of: a person is asked whether it is to be tried again. */
  const retry = () => {
    for (const {id, type} of open(home)) if (type === 'retry') decideInQueue(home, id, 'x');
  };
  for (const [name, {seen, does}] of Object.entries(steps)) {
    does?.(scene);
    for (const end = Date.now() + 90_000; !seen(scene); await pause(2)) {
      await goOn();
      retry();
      if (Date.now() > end)
        throw new Error(
          `never seen: ${name}; ${JSON.stringify({busy: busy(home), ...read(home, 'NEEDS_YOU.md').split('\n')})}`,
        );
    }
    if (kills.includes(name)) daemon.child.kill('SIGKILL');
  }
  await until(
    async () => {
      await goOn();
      retry();
      const left = [...busy(home), ...open(home).map(({id}) => id)];
      return {
        left,
        status: left.length > 0 ? '' : await git(home, 'status', '--porcelain'),
        needs: read(home, 'NEEDS_YOU.md'),
      };
    },
    ({left, status}) => left.length === 0 && status === '',
  );
  expect(await daemon.stop(), daemon.errors()).toBe(0);
  await slack.close();
}

/** The same end, however it came about. */
async function expectTold({home, slack}: Scene): Promise<void> {
  expect(slack.posted).toMatchObject([
    {channel: 'C0OPS', thread_ts: '1759572000.000100', text: 'Redis is running: Up 2 hours.'},
  ]);
  expect(slack.violations).toEqual([]);
  expect(tasksOf(home, TASKS).map(({names, state, notes}) => [names[0], state, notes.map(({text}) => text)])).toEqual([
    ['retriever-001', 'completed', ['Runtime: docker, from memory/system-config.md']],
    ['executor-001', 'completed', ['Redis status: Up 2 hours']],
    ['evaluator-001', 'completed', ['Confirmed: Up 2 hours']],
  ]);
  const out = linesOf(home, INBOX).filter(({direction}) => direction === 'out');
  expect(out).toMatchObject([{text: 'Redis is running: Up 2 hours.', from: '@planner-001'}]);
  // Each message came once: the question, three notices for the planner, a task for each of the others.
  const heard = (agent: string) =>
    parseSession(session(home, agent))
      .messages.filter(({role}) => role === 'user')
      .map(({from}) => from?.split('/')[0]);
  expect(heard('planner-001')).toEqual(['inbox', 'task', 'task', 'task']);
  for (const agent of ['retriever-001', 'executor-001', 'evaluator-001']) expect(heard(agent)).toEqual(['task']);
  // Docker ran once for each yes that was begun, and once in all unless it was cut off.
  const calls = itemsOf(home).filter(({task}) => task.fields.some(({value}) => value === 'execute_command'));
  const runs = read(home, 'workspaces/executor-001/runs')
    .split('\n')
    .filter(line => line !== '').length;
  expect(runs).toBeGreaterThanOrEqual(1);
  expect(runs).toBeLessThanOrEqual(calls.length);
  expect(itemsOf(home).every(({status}) => status === 'approved')).toBe(true);
  const verified = await agentdir(home, ['verify']);
  expect(verified.code, verified.stdout).toBe(0);
  expect(model.violations).toEqual([]);
  expect(model.errors).toEqual([]);
  await expectSound(home);
}

describe('a question in Slack is answered by four agents, with two boxes ticked', () => {
  it('by a model that knows what it reads', async () => {
    const scene = await setScene();
    await tell(scene, []);
    expect(scene.slack.tries).toHaveLength(1);
    expect(itemsOf(scene.home)).toHaveLength(2);
    await expectTold(scene);
  });

  const names = Object.keys(steps);
  const every = 3;
  const turns = process.env.FUZZ ? [0, 1, 2] : [1];
  it.each(thorough ? turns : [])('killed after every third step (%i)', async nth => {
    const scene = await setScene();
    await tell(
      scene,
      names.filter((_, i) => i % every === nth),
    );
    await expectTold(scene);
  });

  // FUZZ=1 npx vitest run test/daemon/story.test.ts kills at each save in turn.
  it.each(process.env.FUZZ ? [5, 6, 7] : [])('killed at every %ith save', async nth => {
    const scene = await setScene();
    await tell(scene, [], `save-rename:${nth}`);
    await expectTold(scene);
  });
});
