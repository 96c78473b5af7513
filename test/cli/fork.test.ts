import {rmSync} from 'node:fs';
import {join} from 'node:path';
import {expect, it} from 'vitest';
import {parseSession} from '../../src/formats/session/session.ts';
import {read} from '../daemon/serve.ts';
import {agentdir, git, newHome, put} from './run.ts';

const head = (id: string, more = '') =>
  `session_id: ${id}\nagent_id: planner-001\nstatus: sleeping\n${more}messages:\n`;
const user = (text: string) =>
  `  - timestamp: '2026-11-16T09:00:00.000Z'\n    role: user\n    from: human\n    content: ${text}\n`;
const answer = (text: string) =>
  `  - timestamp: '2026-11-16T09:00:01.000Z'\n    role: assistant\n    content: ${text}\n`;

it('begins a session anew as it is, was at a commit or message, before it was rewritten, removed or cut', async () => {
  const path = 'sessions/planner-001/planner-001-aaa.session.yaml';
  const home = await newHome({[path]: head('planner-001-aaa') + user('first') + answer('one') + user('second')});
  const commit = async (words: string) => {
    await git(home, 'add', '-A');
    await git(home, 'commit', '-qm', words);
    return (await git(home, 'rev-parse', 'HEAD')).trim();
  };
  const fork = async (...args: string[]) => {
    const {stdout, stderr, code} = await agentdir(home, ['fork', ...args, '--json']);
    expect([code, stderr]).toEqual([0, '']);
    const made = JSON.parse(stdout) as {path: string; answers: boolean; forked_from: object};
    return {...made, ...parseSession(read(home, made.path)), said: saidIn(read(home, made.path))};
  };
  const saidIn = (text: string) => parseSession(text).messages.map(({content}) => content);

  const first = await commit('one');
  put(home, {[path]: head('planner-001-aaa') + user('rewritten') + answer('one')});
  const second = await commit('two');

  expect(await fork('aaa')).toMatchObject({
    ...{said: ['rewritten', 'one'], answers: false},
    header: {status: 'sleeping', forked_from: {session: 'planner-001-aaa', commit: second, message: 2}},
  });
  expect(await fork('aaa', '--at', '1')).toMatchObject({
    said: ['rewritten'],
    answers: true,
    header: {status: 'active'},
  });
  expect(await fork('aaa', '--at', '1', '--paused')).toMatchObject({answers: false, header: {status: 'paused'}});
  expect(await fork('aaa', '--at', first.slice(0, 9))).toMatchObject({said: ['first', 'one', 'second']});
  expect(await fork('aaa', '--at', `${second}^`)).toMatchObject({said: ['first', 'one', 'second']});
  expect(await fork('aaa', '--at', `${first}:2`)).toMatchObject({said: ['first', 'one']});
  expect(await agentdir(home, ['fork', 'aaa', '--at', '3'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('has no message 3: it has 2'),
  });
  expect((await agentdir(home, ['show', 'planner-001-aaa'])).stdout).toMatch(/^#2 {2}assistant/m);

  // Gone from the disk.
  await commit('forks');
  rmSync(join(home, path));
  const gone = await commit('removed');
  expect(await fork('planner-001-aaa')).toMatchObject({said: ['rewritten', 'one']});
  expect((await agentdir(home, ['fork', 'aaa', '--at', gone])).code).toBe(2);

  // Older messages are in a file of their own: it is shared as long as it is there as it was.
  const segment = 'sessions/archive/planner-001-bbb.1.session.yaml';
  put(home, {
    [segment]: head('planner-001-bbb.1') + user('old') + answer('older'),
    'sessions/planner-001-bbb.session.yaml': head('planner-001-bbb', `segments:\n  - ${segment}\n`) + user('new'),
  });
  await commit('segments');
  expect(await fork('bbb')).toMatchObject({said: ['new'], header: {segments: [segment]}, forked_from: {message: 3}});
  expect(await fork('planner-001-bbb', '--at', '#1')).toMatchObject({said: ['old']});
  expect((await agentdir(home, ['show', 'planner-001-bbb'])).stdout).toMatch(/^#3 {2}human/m);
  rmSync(join(home, segment));
  await commit('gone');
  // A call that a person parted from its result is not left without one.
  const parted = `${answer('look')}    tool_calls:\n      - id: c1\n        function: {name: bash, arguments: '{}'}\n`;
  const result = `  - role: tool_result\n    tool_call_id: c1\n    content: '{}'\n`;
  put(home, {
    'sessions/archive/planner-001-ccc.1.session.yaml': head('planner-001-ccc.1') + user('old') + parted,
    'sessions/planner-001-ccc.session.yaml':
      head('planner-001-ccc', 'segments:\n  - sessions/archive/planner-001-ccc.1.session.yaml\n') +
      result +
      user('new'),
  });
  for (const [at, roles] of [
    ['2', ['user', 'assistant', 'tool_result']],
    ['4', ['user', 'assistant', 'tool_result', 'user']],
  ] as const)
    expect((await fork('planner-001-ccc', '--at', at)).messages.map(({role}) => role)).toEqual(roles);
  put(home, {'sessions/planner-001-ccc.session.yaml': 'messages: [\n'});
  expect(await agentdir(home, ['fork', 'planner-001-ccc'])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('as it was: agentdir fork planner-001-ccc --at COMMIT'),
  });
  expect((await fork('planner-001-bbb')).said).toEqual(['old', 'older', 'new']);
});
