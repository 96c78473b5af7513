import {rmSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {parseSession} from '../../src/formats/session/session.ts';
import {agentdir, git, put} from '../cli/run.ts';
import {recordedAndKilled} from './recorded.ts';
import {read} from './serve.ts';
import {expectSound, homes} from './sound.ts';

const newHome = homes({});
const SESSION = 'sessions/s.session.yaml';
/** Nobody is to answer: only what happens to the file is of interest. */
const LEAST = 'agent_id: planner-001\nstatus: paused\nmessages:\n  - role: user\n    content: one\n';
const TIME = "'2036-01-01T00:00:00.000Z'";
const WORK = `  - role: assistant
    timestamp: ${TIME}
    content: I look.
    tool_calls:
      - id: call_1
        function: {name: read_file, arguments: '{}'}
        started: ${TIME}
  - role: tool_result
    timestamp: ${TIME}
    tool_call_id: call_1
    content: '{"success": true}'
`;
const message = (words: string) => `  - role: user\n    content: ${words}\n`;
const wordsOf = (home: string) => parseSession(read(home, SESSION)).messages.map(({content}) => content);
const commit = (home: string, words = 'mine') => git(home, 'commit', '-qam', words);
const once = async (home: string) => {
  const run = await agentdir(home, ['start', '--once']);
  expect(run, run.stdout).toMatchObject({code: 0, stderr: ''});
};

/** What a person opened, and what a daemon made of it since: a call that was started, and its result. */
async function opened() {
  const home = newHome();
  put(home, {[SESSION]: LEAST});
  await once(home);
  const buffer = read(home, SESSION);
  const worked = buffer.replace(/^updated: .*/m, `updated: ${TIME}`) + WORK;
  return {home, buffer, worked};
}

/** The same, and the daemon committed it before it ended. */
async function worked() {
  const found = await opened();
  put(found.home, {[SESSION]: found.worked});
  await git(found.home, 'commit', '-qam', 'session(s): assistant turn\n\nAgent: planner-001\nCause: turn');
  return found;
}

describe('a stale buffer that a person saved and committed while no daemon ran', () => {
  const RESULT = ['one, please', 'I look.', '{"success": true}', 'two'];
  const stale = (buffer: string) => buffer.replace('content: one', 'content: one, please') + message('two');

  it.each([true, false])('undoes nothing that ran; there is a cache: %s', async cache => {
    const {home, buffer} = await worked();
    if (cache) await once(home);
    else rmSync(join(home, '.agentdir'), {recursive: true});
    put(home, {[SESSION]: stale(buffer)});
    await commit(home);
    await once(home);
    expect(wordsOf(home)).toEqual(RESULT);
    expect(read(home, SESSION)).toContain(`started: ${TIME}`);
    await expectSound(home);
  });

  it('nor if they committed again, or saved more, before the next daemon', async () => {
    const {home, buffer} = await worked();
    put(home, {[SESSION]: stale(buffer)});
    await commit(home);
    put(home, {[SESSION]: stale(buffer) + message('three')});
    await commit(home);
    put(home, {[SESSION]: stale(buffer) + message('three') + message('four')});
    await once(home);
    expect(wordsOf(home)).toEqual([...RESULT, 'three', 'four']);
    await expectSound(home);
  });

  it('nor what a killed daemon could not commit', async () => {
    const {home, buffer, worked} = await opened();
    await recordedAndKilled(home, SESSION, worked);
    put(home, {[SESSION]: stale(buffer)});
    await commit(home);
    await once(home);
    expect(wordsOf(home)).toEqual(RESULT);
    await expectSound(home);
  });
});

describe('what a person brings back and commits while no daemon runs is meant', () => {
  const ways: Record<string, (home: string) => Promise<unknown>> = {
    revert: home => git(home, 'revert', '--no-edit', 'HEAD'),
    'checkout of an older version': async home => {
      await git(home, 'checkout', '-q', 'HEAD~1', '--', SESSION);
      await commit(home);
    },
    'checkout of an older version, then an edit of that': async home => {
      await git(home, 'checkout', '-q', 'HEAD~1', '--', SESSION);
      await commit(home);
      put(home, {[SESSION]: read(home, SESSION).replace('content: one', 'content: ONE')});
      await commit(home, 'and more');
    },
    reset: home => git(home, 'reset', '-q', '--hard', 'HEAD~1'),
  };

  it.each(Object.entries(ways))('%s', async (_name, way) => {
    const {home} = await worked();
    await once(home);
    await way(home);
    await once(home);
    expect(wordsOf(home).join().toLowerCase()).toBe('one');
    await expectSound(home);
  });

  it('what a daemon wrote since, and they committed before it could, is newer than all that it committed', async () => {
    const home = newHome();
    const path = 'tasks/t.task.md';
    const at = (n: number) => `2026-01-01T00:00:0${n}.000Z`;
    const task = (box: string, fields: string) =>
      `- [${box}] @away/planner "a"\n  id: a\n  created: ${at(0)}\n${fields}`;
    put(home, {[path]: task(' ', `  assigned: ${at(1)}\n`)});
    await git(home, 'add', path);
    await commit(home, 'tasks(t): given\n\nCause: task');
    put(home, {[path]: task('x', `  assigned: ${at(1)}\n  completed: ${at(2)}\n`)});
    await commit(home, 'tasks(t): filled in\n\nCause: fill-in');
    // Set back by hand, and given to the agent again.
    const again = task(' ', `  assigned: ${at(3)}\n`);
    put(home, {[path]: again});
    await recordedAndKilled(home, path, again);
    await commit(home);
    await once(home);
    expect(read(home, path)).toBe(again);
  });

  it('an edit of what was known last is just that', async () => {
    const {home, worked: last} = await worked();
    put(home, {[SESSION]: last + message('two')});
    await commit(home);
    await once(home);
    expect(wordsOf(home)).toEqual(['one', 'I look.', '{"success": true}', 'two']);
    expect(await git(home, 'log', '--format=%s', '--', SESSION)).not.toContain('merged');
    await expectSound(home);
  });
});
