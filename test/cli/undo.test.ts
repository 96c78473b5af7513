import {chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, it} from 'vitest';
import {parseSession} from '../../src/formats/session/session.ts';
import {itemsOf, pagesIn} from '../daemon/deciding.ts';
import {committed, read, serve} from '../daemon/serve.ts';
import {agentdir, git, newHome, put, until} from './run.ts';

const idOf = async (home: string, grep: string) =>
  (await git(home, 'log', '-1', '--format=%H', '--fixed-strings', `--grep=${grep}`)).trim();
const edit = (home: string, path: string, change: (text: string) => string) =>
  writeFileSync(join(home, path), change(read(home, path)));
const json = async (home: string, ...args: string[]) => {
  const {code, stdout} = await agentdir(home, [...args, '--json']);
  return {code, ...JSON.parse(stdout)} as {code: number; files: unknown; next: unknown; cannot: unknown};
};

it('takes changes of files back beside a running daemon, by commit or by name, and an undo too', async () => {
  const tasks = '## TODO\n\n- [ ] @human "one"\n  id: first\n  created: 2026-11-16\n';
  const home = await newHome({'tasks/a.task.md': tasks, 'memory/facts.md': '# Facts\n\none\n'});
  await git(home, 'add', '-A');
  await git(home, 'commit', '-qm', 'mine');
  await serve(home);
  const head = () => git(home, 'log', '-1', '--format=%B');

  // A tick, and the time that the daemon wrote beside it.
  edit(home, 'tasks/a.task.md', text => text.replace('[ ]', '[x]'));
  await committed(home, 'tasks/a.task.md', text => text.includes('completed:'));
  const tick = await idOf(home, 'ticked "one" by hand');
  expect(await json(home, 'undo', tick.slice(0, 8), '--dry-run')).toMatchObject({
    ...{code: 0, dry_run: true, undone: {commit: tick}, files: [{path: 'tasks/a.task.md', what: 'edited'}]},
  });
  expect(read(home, 'tasks/a.task.md')).toContain('[x]');
  expect(await agentdir(home, ['undo', tick])).toMatchObject({code: 0, stdout: expect.stringContaining('undone')});
  await committed(home, 'tasks/a.task.md', text => text === tasks);
  const undone = await idOf(home, `Undo: ${tick}`);
  expect(await git(home, 'show', '-s', '--format=%an %B', undone)).toMatch(
    /^Ada tasks\(a\): took back [0-9a-f]{7} \(ticked "one"\) by hand[\s\S]*Cause: edit/,
  );
  expect((await agentdir(home, ['log', '-n', '3'])).stdout).toContain(`took back ${tick.slice(0, 7)}`);
  await agentdir(home, ['undo', undone]);
  await committed(home, 'tasks/a.task.md', text => text.includes('[x]') && text.includes('completed:'));

  // What was changed by others since is told, and stays.
  edit(home, 'memory/facts.md', text => text.replace('one', 'two'));
  await committed(home, 'memory/facts.md', text => text.includes('two'));
  const first = (await git(home, 'log', '-1', '--format=%H', '--', 'memory/facts.md')).trim();
  edit(home, 'memory/facts.md', text => text.replace('two', 'three'));
  await committed(home, 'memory/facts.md', text => text.includes('three'));
  const later = (await git(home, 'log', '-1', '--format=%H', '--', 'memory/facts.md')).trim();
  expect(await json(home, 'undo', first)).toMatchObject({
    code: 1,
    overlaps: [{path: 'memory/facts.md', line: 3, commit: later}],
  });
  expect(read(home, 'memory/facts.md')).toContain('three');
  await agentdir(home, ['undo', 'memory/facts.md']);
  await committed(home, 'memory/facts.md', text => text.includes('two'));

  // Made, made executable, removed.
  const template = 'id: extra\ntype: x\nsystem_prompt: hi\n';
  put(home, {'templates/extra.agent.yaml': template});
  await committed(home, 'templates/extra.agent.yaml', text => text === template);
  chmodSync(join(home, 'templates/extra.agent.yaml'), 0o755);
  await until(head, text => text.includes('made executable'));
  expect((await agentdir(home, ['undo', 'templates/extra.agent.yaml'])).code).toBe(0);
  expect(statSync(join(home, 'templates/extra.agent.yaml')).mode & 0o111).toBe(0);
  await until(head, text => text.includes('took back'));
  const made = (await git(home, 'log', '--diff-filter=A', '--format=%H', '--', 'templates/extra.agent.yaml')).trim();
  expect((await json(home, 'undo', made)).files).toEqual([
    {path: 'templates/extra.agent.yaml', what: 'removed', diff: ''},
  ]);
  await until(head, text => text.includes(`Undo: ${made}`));
  expect(existsSync(join(home, 'templates/extra.agent.yaml'))).toBe(false);
  await agentdir(home, ['undo', (await git(home, 'rev-parse', 'HEAD')).trim()]);
  await committed(home, 'templates/extra.agent.yaml', text => text === template);

  // What is no change of the journal, or nothing to take back.
  put(home, {'README.md': 'x\n'});
  await git(home, 'add', 'README.md');
  await git(home, 'commit', '-qm', 'readme');
  const refused = async (id: string) => (await agentdir(home, ['undo', id])).stderr;
  expect(await refused((await git(home, 'rev-parse', 'HEAD')).trim())).toContain('by git: git revert');
  expect(await refused((await git(home, 'rev-list', '--max-parents=0', 'HEAD')).trim())).toContain('the first commit');
  expect((await agentdir(home, ['undo', 'zzzz'])).code).toBe(2);
  expect(await agentdir(home, ['undo', 'f'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/is ambiguous: [0-9a-f]{7} [\s\S]*the last about f/),
  });
});

it('takes back a yes until it runs, never gives one, and hides results without running anything again', async () => {
  const home = await newHome();
  await agentdir(home, ['send', 'show me an approval', '--to', 'executor-001']);
  const daemon = await serve(home);
  const id = await until(
    () => itemsOf(home)[0]?.id ?? '',
    found => pagesIn(home, 'pending').includes(found),
  );
  const path = (await git(home, 'ls-files', 'sessions/executor-001')).trim();
  const session = () => parseSession(read(home, path));
  // Paused, it does not go on: the yes is taken, and nothing runs yet.
  edit(home, path, text => text.replace(/^status: .*$/m, 'status: paused'));
  await committed(home, path, text => text.includes('status: paused'));
  expect((await agentdir(home, ['approve', id])).code).toBe(0);
  const yes = await until(
    () => idOf(home, `approved ${id} by hand`),
    commit => commit !== '',
  );
  await until(
    () => itemsOf(home)[0],
    item => item?.status === 'approved',
  );
  // Gone, its yes would stand, and run it if the answer came back.
  expect(await agentdir(home, ['undo', await idOf(home, 'assistant turn, calls')])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`is approved (${id})`),
  });
  const back = await json(home, 'undo', yes);
  expect(back).toMatchObject({code: 0, next: [expect.stringContaining('is pending again')]});
  await until(
    () => itemsOf(home)[0],
    item => item?.status === 'pending' && item.decision === undefined && pagesIn(home, 'pending').includes(id),
  );
  const undone = await until(
    () => idOf(home, `Undo: ${yes}`),
    commit => commit !== '',
  );
  const again = await agentdir(home, ['undo', undone]);
  expect(again).toMatchObject({code: 1, stderr: expect.stringContaining('only a fresh decision may do that')});
  edit(home, path, text => text.replace('status: paused', 'status: active'));
  expect((await agentdir(home, ['approve', id])).code).toBe(0);
  const made = join(home, 'workspaces/executor-001/hello.txt');
  await committed(home, path, text => text.includes('You approved the command') && text.includes('status: sleeping'));
  expect(await agentdir(home, ['undo', await idOf(home, `approved ${id} by hand`)])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/has run[\s\S]*agentdir workspace undo executor-001 call_/),
  });
  for (const words of ['asks about bash', `${id} asked`])
    expect(await agentdir(home, ['undo', (await idOf(home, words)) || 'none']), words).toMatchObject({stdout: ''});

  // The result goes, the call stays answered; and back again. Nothing is run, and the bytes are what they were.
  rmSync(made);
  const before = read(home, path);
  const result = await idOf(home, 'result of bash');
  expect(await json(home, 'undo', result)).toMatchObject({
    cannot: expect.arrayContaining([
      expect.stringContaining('was done'),
      expect.stringMatching(/^to undo its file changes: agentdir workspace undo executor-001 call_/),
    ]),
  });
  await committed(home, path, text => text.includes('UNDONE'));
  expect(session().messages).toHaveLength(4);
  await agentdir(home, ['undo', await until(() => idOf(home, `Undo: ${result}`), Boolean)]);
  await committed(home, path, text => text === before);
  expect(existsSync(made)).toBe(false);

  // Without a daemon it is an edit like others, and the next start says what it was.
  await daemon.stop();
  const answer = (await git(home, 'log', '-1', '--format=%H', '--grep=: assistant turn$')).trim();
  const {code, stdout} = await agentdir(home, ['undo', answer]);
  expect([code, stdout]).toEqual([0, expect.stringContaining('no daemon is running')]);
  expect(session().messages).toHaveLength(3);
  await agentdir(home, ['start', '--once']);
  expect(await idOf(home, `Undo: ${answer}`)).not.toBe('');
  // The same model, asked the same, says the same; what ran is not run again.
  expect(session().messages.map(({role}) => role)).toEqual(['user', 'assistant', 'tool_result', 'assistant']);
  expect(existsSync(made)).toBe(false);
  expect(readFileSync(join(home, 'tasks/approvals.task.md'), 'utf8').match(/Hello/g)?.length).toBeGreaterThan(0);
});
