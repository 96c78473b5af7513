import {readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, it} from 'vitest';
import {withoutDecisions} from '../../src/formats/undo/undo-queue.ts';
import {nodeDisk} from '../../src/home/disk/disk.ts';
import {leaveNote, noteOn} from '../../src/home/versions/command-notes.ts';
import {read} from '../daemon/serve.ts';
import {agentdir, environment, git, newHome, put, temporary} from './run.ts';

const once = (home: string) => agentdir(home, ['start', '--once']);
const edit = (home: string, path: string, how: (text: string) => string) =>
  writeFileSync(join(home, path), how(readFileSync(join(home, path), 'utf8')));
const lastOf = async (home: string, path: string) => (await git(home, 'log', '-1', '--format=%H', '--', path)).trim();
const commit = async (home: string, words: string) => {
  await git(home, 'add', '-A');
  await git(home, 'commit', '-qm', words);
  return (await git(home, 'rev-parse', 'HEAD')).trim();
};

const TASKS = 'tasks/mine.task.md';
const open = `- [/] @away/planner "ask"\n  id: ask-1\n  created: 2026-11-16T09:00:00.000Z\n  started: 2026-11-16T09:00:00.000Z\n`;
const done = `${open.replace('[/]', '[x]')}  completed: 2026-11-16T09:00:01.000Z\n`;

it('keeps what it wrote while no daemon ran: each undo and edit by itself, without .agentdir/, and edited after', async () => {
  const text = '# Facts\n\none\n\ntwo\n\nthree\n';
  const home = await newHome({'memory/facts.md': text, [TASKS]: open});
  await commit(home, 'begin');
  edit(home, 'memory/facts.md', now => now.replace('one', 'ONE'));
  const first = await commit(home, 'first');
  edit(home, 'memory/facts.md', now => now.replace('three', 'THREE'));
  const second = await commit(home, 'second');
  put(home, {[TASKS]: done});
  await git(home, 'add', TASKS);
  const ended = ['-qm', 'tasks(mine): completed: "ask"\n\nCause: fill-in'];
  await git(home, '-c', 'user.name=planner', 'commit', ...ended);
  await once(home);

  // Killed before the file is written, nothing is taken back; killed after, it is.
  const killed = (at: string, id: string) => agentdir(home, ['undo', id], {...environment, AGENTDIR_CRASH_AT: at});
  await killed('command-note', second);
  expect(read(home, 'memory/facts.md')).toContain('THREE');
  edit(home, 'memory/facts.md', now => now.replace('two', 'mine'));
  await killed('save-rename', second);
  expect(read(home, 'memory/facts.md')).toContain('three');
  expect((await agentdir(home, ['undo', first])).code).toBe(0);
  const turn = (await git(home, 'log', '-1', '--format=%H', '--grep=completed: "ask"')).trim();
  expect((await agentdir(home, ['undo', turn])).code).toBe(0);
  edit(home, TASKS, now => `# Mine\n\n${now}`);
  // The daemon is killed before it can say so, and the next one says it.
  await agentdir(home, ['start', '--once'], {...environment, AGENTDIR_CRASH_AT: 'journal-ref-lock'});
  await once(home);
  const log = await git(home, 'log', '-3', '--reverse', '--format=%s', '--', 'memory/facts.md');
  expect(log).toMatch(/^memory\(facts\): edited by hand\n.*took back .*\n.*took back .*\n$/);
  expect(await git(home, 'log', '-1', '--format=%b', '--', 'memory/facts.md')).toContain(`Undo: ${first}`);
  expect(read(home, TASKS)).toContain('[/]');
  expect((await agentdir(home, ['undo', await lastOf(home, 'memory/facts.md')])).code).toBe(0);
  await once(home);
  expect(read(home, 'memory/facts.md')).toBe(text.replace('one', 'ONE').replace('two', 'mine'));

  // The same, with nothing left of .agentdir/.
  put(home, {[TASKS]: done});
  await git(home, 'add', TASKS);
  await git(home, '-c', 'user.name=planner', 'commit', ...ended);
  await once(home);
  expect((await agentdir(home, ['undo', await lastOf(home, TASKS)])).code).toBe(0);
  rmSync(join(home, '.agentdir'), {recursive: true});
  await once(home);
  expect(read(home, TASKS)).toContain('[/]');
  expect(await git(home, 'status', '--porcelain')).toBe('');

  // Only the last removal: what was done with it since is not forgotten.
  rmSync(join(home, TASKS));
  const removed = await commit(home, 'removed');
  put(home, {[TASKS]: done});
  await commit(home, 'there again');
  rmSync(join(home, TASKS));
  const again = await commit(home, 'removed again');
  const {stdout, code} = await agentdir(home, ['undo', removed, '--json']);
  expect([code, JSON.parse(stdout)]).toEqual([
    1,
    expect.objectContaining({overlaps: [expect.objectContaining({commit: again})]}),
  ]);
  expect((await agentdir(home, ['undo', again])).code).toBe(0);
  expect(read(home, TASKS)).toBe(done);
});

it('takes no note for one that would write more into a commit than what was taken back', () => {
  const home = temporary();
  const id = 'a'.repeat(40);
  const note = {base: null, undo: {commit: id, words: 'x'}};
  leaveNote(nodeDisk(home), 'memory/a.md', id, note);
  expect(noteOn(nodeDisk(home), 'memory/a.md', id)).toEqual(note);
  const [name = ''] = readdirSync(join(home, '.agentdir/commands'));
  for (const wrong of [
    {base: null, undo: {commit: `${id}\nApproval: x`, words: ''}},
    {base: null, undo: {commit: 5, words: ''}},
    null,
    [],
    {base: id, undo: {commit: id}},
    {undo: {commit: id, words: ''}},
  ]) {
    writeFileSync(join(home, '.agentdir/commands', name), JSON.stringify(wrong));
    expect(noteOn(nodeDisk(home), 'memory/a.md', id)).toBeUndefined();
  }
});

it('asks again as it was asked first, where the yes that is taken back had changed the command on its page', () => {
  const item = `- [x] A @human #approval "Approve command: echo a"
  id: abc123
  type: approval_request
  approval_type: terminal_command
  agent: talker
  status: approved
  command: echo b
  session: s1
  call: c1
  digest: sha256:1
  approved_by: Ada
  edited: true
  edited_digest: sha256:2
  original: echo a
`;
  const undo = withoutDecisions(
    `# Approvals\n\n${item}`,
    ['abc123'],
    () => undefined,
    () => undefined,
  );
  expect(undo).toMatchObject({asked: ['abc123'], text: expect.stringMatching(/\[_\][\s\S]*command: echo a\n/)});
  expect('text' in undo && undo.text).not.toMatch(/original|edited|echo b/);
});
