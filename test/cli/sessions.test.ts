import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {parseSession} from '../../src/formats/session/session.ts';
import {serve} from '../daemon/serve.ts';
import {startFakeOpenAI} from '../model/fake-openai.mjs';
import {agentdir, newHome, until} from './run.ts';

/** A model that talks slowly if it is asked to, calls for a command, or answers at once. */
async function homeWithModel() {
  const model = await startFakeOpenAI({
    answer: ({messages}) => {
      const last = messages.at(-1);
      const question = String(messages.findLast(({role}) => role === 'user')?.content);
      if (last?.role === 'tool') return {text: `heard ${String(last.content).slice(0, 60)}`};
      if (question.startsWith('slow')) return {text: 'word '.repeat(2000), delay: 50};
      if (question.startsWith('run'))
        return {calls: [{name: 'execute_command', arguments: {command: question.slice(4)}}]};
      return {text: `answer to ${question}`};
    },
  });
  const home = await newHome({
    'templates/worker.agent.yaml':
      'id: worker\ntype: worker\nmodel: fake-1\nsystem_prompt: You work.\ncapabilities: [execute_command]\n',
    'allowlist.yaml': 'version: 1\ncommands: {allow: ["sleep *"]}\n',
    'agentdir.yaml': `format: 1\nname: home\ndefault_agent: worker\nmodels: [{id: fake-1, base_url: "${model.url}", price: {input: 1, output: 2}}]\nnotify: {on: [approval, idle], command: "cat >> notes.txt"}\n`,
  });
  return {home, model};
}

describe('sessions', () => {
  it('are cancelled, paused, stopped, archived and counted', async () => {
    const {home, model} = await homeWithModel();
    const first = await serve(home);
    const run = async (...args: string[]) => {
      const {code, stdout, stderr} = await agentdir(home, [...args, '--json']);
      expect(code, stderr).toBe(0);
      return JSON.parse(stdout);
    };
    const {session, path} = await run('send', 'hello');
    const read = () => parseSession(readFileSync(join(home, path), 'utf8'));
    const rests = (holds: (messages: ReturnType<typeof read>['messages']) => boolean) =>
      until(read, ({header, messages}) => header?.status === 'sleeping' && holds(messages));
    await rests(messages => messages.at(-1)?.content === 'answer to hello');

    // The question is dropped, and only a new message is answered.
    await run('send', 'slow please');
    await until(
      () => model.requests.length,
      count => count === 2,
    );
    expect(await run('cancel', 'worker')).toMatchObject([
      {session, before: 'active', status: 'sleeping', changed: true},
    ]);
    await until(() => first.events.some(({event}) => event === 'dropped'), Boolean);
    expect(await run('cancel', 'worker')).toMatchObject([{changed: false}]);
    await run('send', 'again');
    await rests(messages => messages.at(-1)?.content === 'answer to again');
    expect(model.requests).toHaveLength(3);

    // A running command is ended, and its call has a result.
    await run('send', 'run sleep 1000');
    await until(read, ({messages}) => messages.at(-1)?.tool_calls?.[0]?.started !== undefined);
    await run('cancel', session);
    await rests(messages => messages.at(-1)?.role === 'tool_result');
    // A request for approval is withdrawn.
    await run('send', 'run rm -r build');
    await until(
      async () => (await agentdir(home, ['approvals'])).code,
      code => code === 3,
    );
    await run('cancel', session);
    await until(
      async () => (await agentdir(home, ['approvals'])).code,
      code => code === 0,
    );
    expect(read().messages.at(-1)?.content).toContain('CANCELLED');
    const asked = model.requests.length;

    // Nothing is asked while the agent is stopped, also by the next daemon.
    await run('agents', 'stop', 'worker', '--why', 'Friday');
    const held = await agentdir(home, ['send', 'are you there', '--wait']);
    expect([held.code, held.stderr]).toEqual([3, expect.stringContaining('agentdir agents start worker')]);
    expect(await run('agents', 'health', 'worker')).toMatchObject([
      {status: 'stopped', why: expect.stringContaining('Friday')},
    ]);
    await first.stop();
    const second = await serve(home);
    await until(
      async () => (await run('agents', 'list')).find((one: {name: string}) => one.name === 'worker'),
      one => one.status === 'stopped',
    );
    expect(model.requests).toHaveLength(asked);
    await run('agents', 'start', 'worker');
    await rests(messages => messages.at(-1)?.content === 'answer to are you there');

    // A turn under way is dropped and asked again.
    await run('send', 'slow again');
    await until(
      () => model.requests.length,
      count => count === asked + 2,
    );
    expect(await run('agents', 'restart', 'worker')).toEqual([{name: 'worker', restarted: true, changed: true}]);
    await until(
      () => model.requests.length,
      count => count === asked + 3,
    );
    expect(await run('agents', 'health', 'worker')).toMatchObject([{status: 'working'}]);
    await run('cancel', 'worker');

    await run('pause', session);
    await run('send', 'later');
    expect(read().header?.status).toBe('paused');
    await run('resume', session);
    await rests(messages => messages.at(-1)?.content === 'answer to later');

    const notes = await until(
      () => (existsSync(join(home, 'notes.txt')) ? readFileSync(join(home, 'notes.txt'), 'utf8') : ''),
      text => text.includes('"idle"'),
    );
    const told = notes
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(told.filter(({on}) => on === 'approval')).toMatchObject([{agent: 'worker', text: 'command: rm -r build'}]);

    const {total, rows} = await run('cost', '--by', 'agent');
    expect(rows).toMatchObject([{name: 'worker', turns: total.turns}]);
    expect(total.cost_usd).toBeGreaterThan(0);
    expect(await run('rm', session)).toMatchObject([{session, path: `sessions/archive/${session}.session.yaml`}]);
    expect(await run('sessions')).toEqual([]);
    expect((await run('sessions', '--all')).map(({id}: {id: string}) => id)).toEqual([session]);
    expect((await run('cost', '--by', 'agent')).total).toEqual(total);
    const next = await run('send', 'hello');
    expect(next.session).not.toBe(session);
    await second.stop();
    expect(model.violations).toEqual([]);
    await model.close();
  });
});
