import {describe, expect, it} from 'vitest';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {agentdir, put, until} from '../cli/run.ts';
import {
  beginWith,
  gatherTeam,
  isAsleep,
  pathOfSession,
  resultsIn,
  sessionIn,
  taskCall,
  whenSession,
} from './delegating.ts';
import {read, serve} from './serve.ts';
import {expectSound} from './sound.ts';

const MUTE = 'id: mute\ntype: mute\nsystem_prompt: You answer.\ncapabilities: [read_file]\n';

describe('what an agent is asked', () => {
  it('is answered by its final answer, once, and answers of two tasks end two tasks', async () => {
    const {home, env, parts} = await gatherTeam({
      'allowlist.yaml': 'version: 1\ntools: {agent_spawn: allow, task: allow, create_file: allow}\n',
      'templates/mute.agent.yaml': MUTE,
    });
    parts.set('ask', (_, nth) =>
      nth === 0
        ? {calls: [{id: 's', name: 'send_message', arguments: {to: 'hand', content: 'why is it slow?'}}]}
        : {text: nth === 1 ? 'I asked.' : 'Thank you, I know enough.'},
    );
    // A message that was not sent is no answer.
    parts.set('why', (_, nth) =>
      nth === 0
        ? {calls: [{id: 'r', name: 'send_message', arguments: {to: 'boss', content: ''}}]}
        : {text: 'The disk is full.'},
    );
    // Two tasks at once: the first answer reports a failure, the second ends the other one.
    let answers = 0;
    parts.set('', ({model}) => {
      if (model === 'fake-9') return {text: 'Another model did it.'};
      return {text: answers++ === 0 ? 'BLOCKED: there is no key' : 'It is 2.'};
    });
    parts.set('spawn', (_, nth) =>
      nth === 0
        ? {
            calls: [
              {id: 'a', name: 'agent_spawn', arguments: {name: 'twin', template: 'hand', tools: ['read_file']}},
              {id: 'b', name: 'agent_spawn', arguments: {name: 'evil', template: 'hand', tools: ['fetch']}},
              {id: 'l', name: 'agent_list', arguments: {}},
              taskCall('t', 'greet', {agent_type: 'twin'}),
            ],
          }
        : {text: 'Good.'},
    );
    parts.set('greet', () => ({text: 'Hello.'}));
    put(home, {
      'tasks/two.task.md':
        '- [ ] @mute "one"\n  id: one\n- [ ] @mute "two"\n  id: two\n- [ ] "three"\n  id: three\n  assign: new:openai/fake-9\n  assign_template: hand\n',
    });
    const daemon = await serve(home, env);
    beginWith(home, 'boss-1', 'ask about it');
    beginWith(home, 'boss-2', 'spawn one');
    const asker = await whenSession(
      home,
      'boss-1',
      session => isAsleep(session) && session.messages.at(-1)?.content === 'Thank you, I know enough.',
    );
    const replies = asker.messages.filter(({in_reply_to}) => in_reply_to !== undefined);
    expect(replies).toMatchObject([{from: '@hand', content: 'The disk is full.'}]);
    const asked = await whenSession(home, 'hand-shared', isAsleep);
    expect(asked.messages.filter(({role}) => role === 'user')).toHaveLength(1);
    const ended = await until(
      () => parseTasks(read(home, 'tasks/two.task.md')).tasks.map(({state, notes}) => [state, notes.at(-1)?.text]),
      all => all.every(([state]) => state === 'blocked' || state === 'completed'),
    );
    expect(ended).toEqual([
      ['blocked', 'BLOCKED: there is no key'],
      ['completed', 'It is 2.'],
      ['completed', 'Another model did it.'],
    ]);
    expect(sessionIn(home, 'hand-three')?.header).toMatchObject({agent_id: 'hand', model: 'openai/fake-9'});
    const results = resultsIn(await whenSession(home, 'boss-2', isAsleep));
    expect(results.get('a')).toMatchObject({success: true, file: 'templates/spawned/twin.agent.yaml'});
    expect(results.get('b')).toMatchObject({success: false, code: 'INVALID_ARGUMENTS'});
    expect(results.get('l')?.agents).toContainEqual(expect.objectContaining({name: 'twin', kind: 'ephemeral'}));
    expect(results.get('t')).toMatchObject({success: true, summary: 'Hello.'});
    expect(pathOfSession(home, 'boss-2.1')).toBe('sessions/twin/boss-2.1.session.yaml');
    const sent = await agentdir(home, ['send', 'greet me', '--to', 'hand', '--task', '--wait', '--json']);
    expect(JSON.parse(sent.stdout)).toMatchObject({answer: 'Hello.', status: expect.any(String)});
    const {session} = JSON.parse(sent.stdout) as {session: string};
    await whenSession(home, session, ({header}) => header?.result?.status === 'completed');
    expect(sessionIn(home, session)?.header).toMatchObject({kind: 'task', status: 'completed'});
    const rows = await agentdir(home, [
      '--json',
      'tasks',
      "SELECT kind, status, summary FROM executions WHERE agent = 'twin'",
    ]);
    expect(JSON.parse(rows.stdout)).toEqual([{kind: 'task', status: 'completed', summary: 'Hello.'}]);
    const shown = await agentdir(home, ['show', 'boss-2']);
    expect(shown.stdout).toMatch(/└ boss-2\.1 @twin completed {2}0 calls, \d+ tokens, cost unknown, [\d.]+ s/);
    expect(await daemon.stop()).toBe(0);
    await expectSound(home);
    const verified = await agentdir(home, ['verify']);
    expect(verified.code, verified.stdout).toBe(0);
  });
});
