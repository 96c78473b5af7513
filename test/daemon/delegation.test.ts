import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import type {Session} from '../../src/formats/session/session.ts';
import {agentdir, until} from '../cli/run.ts';
import {askedBy, decideInQueue, field, pagePath} from './deciding.ts';
import {
  beginWith,
  gatherTeam,
  HAND,
  isAsleep,
  pathOfSession,
  resultsIn,
  sessionIn,
  taskCall,
  whenSession,
} from './delegating.ts';
import {read, serve} from './serve.ts';
import {expectSound} from './sound.ts';
import {append, gate} from './talk.ts';

const LONG = 'All is well. '.repeat(60);

describe('a task for another agent', () => {
  it('is approved, done in a session of its own, summarized, and its result comes back', async () => {
    const {home, env, parts, asked} = await gatherTeam({'allowlist.yaml': 'version: 1\ntools: {create_file: ask}\n'});
    parts.set('plan', (_, nth) =>
      nth === 0 ? {calls: [taskCall('t1', 'inspect the log, and write what you find')]} : {text: 'All is said.'},
    );
    parts.set('inspect', (_, nth) =>
      nth === 0
        ? {calls: [{id: 'w1', name: 'create_file', arguments: {path: 'found.md', content: 'nothing\n'}}]}
        : {text: nth === 1 ? LONG : 'I looked, and found nothing.'},
    );
    beginWith(home, 'boss-1', 'plan the day');
    const daemon = await serve(home, env);
    const asks = await askedBy(home, 'boss-1');
    expect(asks).toMatchObject({type: 'delegate'});
    const page = read(home, pagePath(asks.id));
    for (const words of ['inspect the log', 'Does what it is told.', 'time: 1800 s', 'read_file, create_file'])
      expect(page).toContain(words);
    decideInQueue(home, asks.id, 'x');
    const write = await askedBy(home, 'boss-1.1');
    expect(field(write, 'delegated_by')).toBe('boss-1, call t1: inspect the log, and write what you find');
    expect(read(home, pagePath(write.id))).toMatch(/Delegated by:[\s\S]*session boss-1, call t1/);
    expect(sessionIn(home, 'boss-1')?.header).toMatchObject({status: 'waiting', waiting_for: 'boss-1.1'});
    expect(pathOfSession(home, 'boss-1.1')).toBe('sessions/hand/boss-1.1.session.yaml');
    decideInQueue(home, write.id, 'x');
    const parent = await whenSession(home, 'boss-1', isAsleep);
    expect(parent.header?.waiting_for).toBeUndefined();
    const child = await whenSession(home, 'boss-1.1', ({header}) => header?.result_due === undefined);
    expect(child.header).toMatchObject({
      status: 'completed',
      kind: 'task',
      parent: {session: 'boss-1', call: 't1'},
      result: {status: 'completed', summary: 'I looked, and found nothing.', artifacts: ['found.md'], tool_calls: 1},
    });
    const {status, summary, artifacts, tool_calls, tokens_used, duration_seconds} = child.header?.result ?? {};
    const result = resultsIn(parent).get('t1');
    expect(result).toMatchObject({success: true, session: 'boss-1.1', status, summary, artifacts, tool_calls});
    expect(result).toMatchObject({tokens_used, duration_seconds});
    // The child has no tools to delegate, and none at all for its summary.
    const [first, , last] = asked('inspect').map(({tools = []}) => tools.map(tool => tool.function.name));
    expect(first).toContain('create_file');
    expect(first).not.toContain('task');
    expect(first).not.toContain('agent_spawn');
    expect(last).toEqual([]);
    // Only the agent that may delegate is told how, and to whom.
    const promptOf = (topic: string) => asked(topic)[0]?.messages[0]?.content ?? '';
    for (const words of ['- @hand: Does what it is told.', '- Delegate what is separate', '- Describe the whole'])
      expect(promptOf('plan')).toContain(words);
    expect(promptOf('inspect')).not.toContain('Delegate');
    expect(await daemon.stop()).toBe(0);
    await expectSound(home);
    const verified = await agentdir(home, ['verify']);
    expect(verified.code, verified.stdout).toBe(0);
  });

  it('runs beside others of the same answer, may be refused, and may fail', async () => {
    const {home, env, parts} = await gatherTeam();
    const both = gate();
    let running = 0;
    const together = async (text: string) => {
      if (++running === 2) both.open();
      await both.opened;
      return {text};
    };
    parts.set('plan', (_, nth) =>
      nth === 0
        ? {
            calls: [
              taskCall('a', 'alpha'),
              taskCall('b', 'beta'),
              taskCall('c', 'gamma', {agent_type: 'nobody'}),
              {id: 'd', name: 'list_agents', arguments: {}},
            ],
          }
        : {text: 'Thanks.'},
    );
    parts.set('alpha', () => together('Alpha is done.'));
    parts.set('beta', () => together('FAILED: there is no beta'));
    beginWith(home, 'boss-1', 'plan');
    const daemon = await serve(home, env);
    const results = resultsIn(await whenSession(home, 'boss-1', isAsleep));
    expect(results.get('a')).toMatchObject({success: true, session: 'boss-1.1', summary: 'Alpha is done.'});
    expect(results.get('b')).toMatchObject({
      success: false,
      session: 'boss-1.2',
      status: 'failed',
      error: 'there is no beta',
    });
    expect(results.get('c')).toMatchObject({success: false, code: 'INVALID_ARGUMENTS'});
    expect(results.get('d')).toMatchObject({success: true});
    expect(await daemon.stop()).toBe(0);
    await expectSound(home);
  });

  it('runs beside eleven others, and together they keep a limit of their agent but for one question each', async () => {
    const {home, env, parts, asked} = await gatherTeam({
      'templates/hand.agent.yaml': `${HAND}limits: {max_tokens: 200}\n`,
    });
    const all = Array.from({length: 12}, (_, i) => `t${i}`);
    parts.set('plan', (_, nth) => (nth === 0 ? {calls: all.map(id => taskCall(id, 'loop'))} : {text: 'So be it.'}));
    parts.set('loop', () => ({calls: [{name: 'list_agents', arguments: {}}]}));
    beginWith(home, 'boss-1', 'plan');
    const daemon = await serve(home, env);
    const results = resultsIn(await whenSession(home, 'boss-1', isAsleep, 20_000));
    expect([...results.keys()].sort()).toEqual([...all].sort());
    for (const result of results.values()) {
      expect(result).toMatchObject({success: false, status: 'failed'});
      expect(result.error).toContain('max_tokens');
    }
    expect(new Set([...results.values()].map(({session}) => session)).size).toBe(12);
    // A question costs 15 tokens.
    expect(asked('loop').length).toBeLessThanOrEqual(Math.ceil(200 / 15) + 12);
    expect(asked('loop').length).toBeGreaterThanOrEqual(Math.ceil(200 / 15));
    expect(await daemon.stop()).toBe(0);
    await expectSound(home);
  });

  it('cannot be used to approve, to raise limits, to delegate further, or to hide what was read from outside', async () => {
    const {home, env, parts} = await gatherTeam({
      'templates/hand.agent.yaml': `${HAND}tainted: [inbox/mail.jsonl#1]\nlimits: {max_turns: 4}\n`,
    });
    parts.set('plan', (_, nth) => (nth === 0 ? {calls: [taskCall('a', 'hostile')]} : {text: 'I see.'}));
    const file = (id: string, path: string) => ({id, name: 'create_file', arguments: {path, content: 'x'}});
    parts.set('hostile', (_, nth) =>
      nth === 0
        ? {
            calls: [
              taskCall('t', 'more'),
              {id: 's', name: 'agent_spawn', arguments: {name: 'mine', template: 'hand'}},
              file('w', '../../tasks/approvals.task.md'),
              file('x', '../boss/x.md'),
              file('y', '../../templates/hand.agent.yaml'),
              {id: 'c', name: 'execute_command', arguments: {command: 'touch ../../allowlist.yaml'}},
            ],
          }
        : {text: 'All is done.'},
    );
    beginWith(home, 'boss-1', 'plan');
    const daemon = await serve(home, env);
    const asks = await askedBy(home, 'boss-1.1');
    expect(field(asks, 'taint')).toContain('inbox/mail.jsonl#1');
    decideInQueue(home, asks.id, '-');
    const parent = await whenSession(home, 'boss-1', isAsleep);
    const results = resultsIn(sessionIn(home, 'boss-1.1') as Session);
    expect([...results].map(([id, {success}]) => `${id} ${success}`)).toEqual(
      ['t', 's', 'w', 'x', 'y', 'c'].map(id => `${id} false`),
    );
    expect(results.get('t')).toMatchObject({code: 'NOT_ALLOWED'});
    expect(results.get('s')).toMatchObject({code: 'NOT_ALLOWED'});
    expect(resultsIn(parent).get('a')).toMatchObject({untrusted: true, sources: ['inbox/mail.jsonl#1']});
    expect(parent.header?.tainted).toEqual(['inbox/mail.jsonl#1']);
    expect(await daemon.stop()).toBe(0);
    await expectSound(home);
  });

  it('does not keep the agent from a message: the result comes as a message', async () => {
    const {home, env, parts} = await gatherTeam();
    const end = gate();
    parts.set('plan', (_, nth) =>
      nth === 0 ? {calls: [taskCall('a', 'alpha'), taskCall('b', 'beta', {wait: false})]} : {text: `answer ${nth}`},
    );
    parts.set('alpha', async () => {
      await end.opened;
      return {text: 'Alpha is done.'};
    });
    beginWith(home, 'boss-1', 'plan');
    const daemon = await serve(home, env);
    await whenSession(home, 'boss-1', ({header}) => header?.waiting_for === 'boss-1.1');
    append(home, 'boss-1', 'are you there?');
    const early = await whenSession(home, 'boss-1', isAsleep);
    for (const [id, session] of [
      ['a', 'boss-1.1'],
      ['b', 'boss-1.2'],
    ] as const)
      expect(resultsIn(early).get(id)).toMatchObject({success: true, status: 'running', session});
    end.open();
    const late = await whenSession(
      home,
      'boss-1',
      session =>
        isAsleep(session) && session.messages.filter(({delivery}) => delivery?.startsWith('result/')).length === 2,
    );
    const news = late.messages.find(({delivery}) => delivery === 'result/boss-1.1');
    expect(news).toMatchObject({from: 'task/boss-1.1', role: 'user'});
    expect(news?.content).toMatch(/^\[AGENTDIR TASK\] The task that you gave @hand has ended: "alpha"/);
    expect(news?.content).toContain('Alpha is done.');
    await whenSession(home, 'boss-1.1', ({header}) => header?.result_due === undefined);
    expect(await daemon.stop()).toBe(0);
    await expectSound(home);
  });

  it('ends by its time limit with its processes gone, by its limit of turns, and when a person stops it', async () => {
    const {home, env, parts} = await gatherTeam({
      'templates/hand.agent.yaml': `${HAND}limits: {task_timeout_seconds: 1.5}\n`,
      'templates/short.agent.yaml': `${HAND.replace('id: hand', 'id: short')}limits: {max_turns: 2}\n`,
    });
    const never = gate();
    parts.set('plan', (_, nth) =>
      nth === 0
        ? {
            calls: [
              taskCall('a', 'hang'),
              taskCall('b', 'loop', {agent_type: 'short'}),
              taskCall('c', 'wait', {agent_type: 'short'}),
              taskCall('d', 'silent'),
            ],
          }
        : {text: 'So be it.'},
    );
    parts.set('hang', () => ({calls: [{id: 's', name: 'execute_command', arguments: {command: 'sleep 4321'}}]}));
    parts.set('loop', () => ({calls: [{name: 'list_agents', arguments: {}}]}));
    for (const topic of ['wait', 'silent'])
      parts.set(topic, async () => {
        await never.opened;
        return {text: 'too late'};
      });
    beginWith(home, 'boss-1', 'plan');
    const daemon = await serve(home, env);
    await whenSession(home, 'boss-1.3', () => true);
    const path = join(home, pathOfSession(home, 'boss-1.3') ?? '');
    await until(
      () => read(home, pathOfSession(home, 'boss-1.3') ?? ''),
      text => text.includes('status: active'),
    );
    writeFileSync(
      path,
      read(home, pathOfSession(home, 'boss-1.3') ?? '').replace('status: active', 'status: completed'),
    );
    const results = resultsIn(await whenSession(home, 'boss-1', isAsleep));
    expect(results.get('a')).toMatchObject({success: false, status: 'failed', tool_calls: 1});
    expect(results.get('a')?.error).toContain('longer than 1.5 s');
    expect(results.get('b')).toMatchObject({success: false, status: 'failed', tool_calls: 2});
    expect(results.get('b')?.error).toContain('limits.max_turns');
    expect(results.get('c')).toMatchObject({success: false, status: 'stopped', error: 'a person stopped it'});
    expect(results.get('d')).toMatchObject({success: false, status: 'failed'});
    expect(resultsIn(sessionIn(home, 'boss-1.1') as never).get('s')).toMatchObject({success: false});
    const {execFileSync} = await import('node:child_process');
    expect(execFileSync('ps', ['-eo', 'args'], {encoding: 'utf8'})).not.toContain('sleep 4321');
    never.open();
    expect(await daemon.stop()).toBe(0);
    await expectSound(home);
  });
});
