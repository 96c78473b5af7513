import {spawnSync} from 'node:child_process';
import {chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {forgetHistory} from '../../src/effects/workspace/history.ts';
import {readChanges} from '../../src/effects/workspace/read-history.ts';
import {commitCall, keepFound, openWorkspace} from '../../src/effects/workspace/repository.ts';
import {undoCommit} from '../../src/effects/workspace/undo.ts';
import {nodeDisk} from '../../src/home/disk/disk.ts';
import {tryLock} from '../../src/home/disk/lock.ts';
import {newWorkspace, type TestWorkspace, workspaceIn} from '../effects/workspace-home.ts';
import {agentdir, environment, main, put, startAgentdir, temporary, until} from './run.ts';

/** With two calls of coder: one that makes a file of five lines, one that changes the second and makes another file. */
async function withCalls(): Promise<TestWorkspace> {
  const home = temporary();
  put(home, {'agentdir.yaml': 'format: 1\n'});
  const w = workspaceIn(home);
  await w.call('call_one', () => w.put({'a.txt': '1\n2\n3\n4\n5\n'}));
  await w.call('call_two', () => w.put({'a.txt': '1\ntwo\n3\n4\n5\n', 'deep/b.txt': 'b\n'}));
  return w;
}

const read = (w: TestWorkspace, path: string) => readFileSync(join(w.dir, path), 'utf8');

describe('agentdir workspace', () => {
  it('lists, logs and shows what calls changed', async () => {
    const w = await withCalls();
    w.put({'a.txt': 'by hand\u001b[31m\n'});
    const [list, log, diff, one] = await Promise.all([
      agentdir(w.home, ['workspace', '--json']),
      agentdir(w.home, ['workspace', 'log', 'coder', '-n', '1']),
      agentdir(w.home, ['workspace', 'diff', 'cod']),
      agentdir(w.home, ['workspace', 'diff', 'coder', 'two', '--json']),
    ]);
    expect(JSON.parse(list.stdout)).toMatchObject([
      {agent: 'coder', branch: 'main', commits: 2, uncommitted: 1, last: {call: 'call_two', session: 'coder-1'}},
    ]);
    expect(log.stdout).toMatch(/coder +call call_two call_two [0-9a-f]{7}\n… and 1 before: -n 10\n$/);
    expect(diff.stderr).toContain('not committed yet');
    expect(diff.stdout).toContain('+by hand⟨U+001B⟩[31m\n');
    expect(JSON.parse(one.stdout)).toMatchObject({
      change: {call: 'call_two'},
      paths: ['a.txt', 'deep/b.txt'],
      diff: expect.stringContaining('-2\n+two\n'),
    });
    expect([list, log, diff, one].map(({code}) => code)).toEqual([0, 0, 0, 0]);
    expect(await w.git('log', '--format=%s')).toBe('call call_two\ncall call_one\n');
  });

  it('names the call of a diff without escape sequences of its own, in colour too', async () => {
    const w = await withCalls();
    const {stdout, stderr} = await agentdir(w.home, ['workspace', 'diff', 'coder'], {...environment, FORCE_COLOR: '1'});
    expect(stdout).toContain('\u001b[32m+two');
    expect(stderr).toContain('call call_two');
    expect(stderr).not.toContain('U+001B');
  });

  it('takes a call back by a commit on top, keeps what came later, and takes that back again', async () => {
    const w = await withCalls();
    w.put({'a.txt': '1\ntwo\n3\n4\nfive by hand\n'});
    const first = await agentdir(w.home, ['workspace', 'undo', 'coder', '--json']);
    expect(first.stderr).toBe('');
    expect(JSON.parse(first.stdout)).toMatchObject({undone: {call: 'call_two'}, files: ['a.txt', 'deep/b.txt']});
    expect(read(w, 'a.txt')).toBe('1\n2\n3\n4\nfive by hand\n');
    expect(() => read(w, 'deep/b.txt')).toThrow('ENOENT');
    expect(await w.git('log', '--format=%an: %s')).toBe(
      'Ada: undo: call call_two\nAda: a.txt changed by hand\ncoder: call call_two\ncoder: call call_one\n',
    );
    expect(await w.git('status', '--porcelain')).toBe('');
    const again = await agentdir(w.home, ['workspace', 'undo', 'coder', 'call_two']);
    expect(again).toMatchObject({code: 1, stderr: expect.stringContaining('already undone')});
    const {commit} = JSON.parse(first.stdout) as {commit: string};
    expect((await agentdir(w.home, ['workspace', 'undo', 'coder', commit.slice(0, 8)])).code).toBe(0);
    expect(read(w, 'a.txt')).toBe('1\ntwo\n3\n4\nfive by hand\n');
    expect(read(w, 'deep/b.txt')).toBe('b\n');
  });

  it('refuses where a later change is at the same place, names it, and writes nothing', async () => {
    const w = await withCalls();
    await w.call('call_three', () => w.put({'a.txt': '1\nTWO\n3\n4\n5\n', 'deep/b.txt': undefined}));
    const head = await w.git('rev-parse', 'HEAD');
    const done = await agentdir(w.home, ['workspace', 'undo', 'coder', 'call_two']);
    expect(done.code).toBe(1);
    expect(done.stderr).toContain('a.txt was changed since at the same place: line 2');
    expect(read(w, 'a.txt')).toBe('1\nTWO\n3\n4\n5\n');
    expect(await w.git('rev-parse', 'HEAD')).toBe(head);
    expect(await w.git('status', '--porcelain')).toBe('');
  });

  it('takes no call for another: of one commit, or of one id', async () => {
    const w = await withCalls();
    const other = {session: 'coder-2'};
    // None can be committed while a person merges: so both are in the next commit.
    writeFileSync(join(w.gitDir, 'MERGE_HEAD'), `${(await w.git('rev-parse', 'HEAD')).trim()}\n`);
    await w.call('x1', () => w.put({'x1.txt': 'x\n'}));
    await w.call('x2', () => w.put({'x2.txt': 'x\n'}), undefined, other);
    rmSync(join(w.gitDir, 'MERGE_HEAD'));
    await w.call('call_one', () => w.put({'again.txt': 'x\n'}), undefined, other);
    const log = await agentdir(w.home, ['--json', 'workspace', 'log', 'coder', '-n', '2']);
    const [, both] = log.stdout.split('\n').map(line => JSON.parse(line || '{}'));
    const calls = [
      {session: 'coder-1', call: 'x1'},
      {session: 'coder-2', call: 'x2'},
    ];
    expect(both.calls.toSorted((a: {call: string}, b: {call: string}) => (a.call < b.call ? -1 : 1))).toEqual(calls);
    const [id, x1, x2, diff] = await Promise.all([
      agentdir(w.home, ['workspace', 'diff', 'coder', 'call_one']),
      agentdir(w.home, ['workspace', 'undo', 'coder', 'x1']),
      agentdir(w.home, ['workspace', 'undo', 'coder', 'x2']),
      agentdir(w.home, ['workspace', 'diff', 'coder', 'x2']),
    ]);
    expect(id.stderr).toMatch(
      /call_one is a call of several sessions: \w{7} of coder-2, \w{7} of coder-1\n.*name the com/s,
    );
    for (const {code, stderr} of [x1, x2]) {
      expect({code, stderr}).toEqual({code: 1, stderr: expect.stringMatching(/undone together: x\d, x\d\n/)});
      expect(stderr).toContain(`agentdir workspace undo coder ${both.commit.slice(0, 7)}`);
    }
    expect(diff.stdout).toMatch(/x1\.txt.*x2\.txt/s);
    expect((await agentdir(w.home, ['workspace', 'undo', 'coder', both.commit])).code).toBe(0);
    expect(await w.git('ls-files')).toBe('a.txt\nagain.txt\ndeep/b.txt\n');
  });

  it("takes nothing back that came with a clone, be it another agent's call", async () => {
    const w = await withCalls();
    const other = workspaceIn(w.home, 'tester');
    await openWorkspace(other, {clone: '.workspaces/coder.git'});
    const run = async (...args: string[]) => agentdir(w.home, ['workspace', ...args]);
    expect(await run('undo', 'tester')).toMatchObject({code: 1, stderr: expect.stringContaining('no call of tester')});
    expect(await run('undo', 'tester', 'call_two')).toMatchObject({code: 2});
    expect((await run('diff', 'tester')).stdout).toBe('');
    const listed = async () => JSON.parse((await run('list', 'tester', '--json')).stdout);
    expect(await listed()).toMatchObject([{commits: 2, last: null}]);
    await other.call('call_two', () => other.put({'mine.txt': 'x\n'}));
    expect(await listed()).toMatchObject([{commits: 3, last: {call: 'call_two'}}]);
    expect((await run('undo', 'tester', 'two')).stdout).toContain('(mine.txt)');
    const {commit} = (await readChanges(other.gitDir)).find(({cloned}) => cloned) ?? {commit: ''};
    expect((await run('undo', 'tester', commit)).stdout).toContain('(a.txt, deep/b.txt)');
  });

  it('names the call before one of which nothing is left', async () => {
    const w = await withCalls();
    await w.call('call_three', () => w.put({'c.txt': 'c\n'}));
    w.put({'c.txt': undefined});
    const nothing = await agentdir(w.home, ['workspace', 'undo', 'coder']);
    expect(nothing).toMatchObject({code: 0, stdout: 'the files are already as before: call call_three\n'});
    const [, id] = /to undo the one before it: agentdir workspace undo coder (\w{7})\n/.exec(nothing.stderr) ?? [];
    const done = await agentdir(w.home, ['workspace', 'undo', 'coder', id ?? '']);
    expect(done.stdout).toContain('undone: call call_two');
  });

  it('takes nothing from under a call that runs', async () => {
    const w = await withCalls();
    const call = {session: 'coder-1', call: 'call_now', words: 'execute_command `make`'};
    await keepFound(w, undefined, call);
    w.put({'early.txt': 'x\n'});
    const run = (...args: string[]) => agentdir(w.home, ['workspace', 'undo', 'coder', ...args]);
    const refusal = {code: 1, stderr: expect.stringContaining('execute_command `make` of coder is still running\n')};
    expect(await run()).toMatchObject(refusal);
    expect(await run('call_now')).toMatchObject(refusal);
    expect(read(w, 'early.txt')).toBe('x\n');
    expect((await run('call_two')).stdout).toContain('undone: call call_two');
    await commitCall(w, call);
    expect((await run('call_now')).stdout).toContain('undone: execute_command `make` (early.txt)');
  });

  it('waits for whoever is at work in the workspace', async () => {
    const w = await withCalls();
    const locks = join(w.home, '.agentdir/locks');
    const lock = tryLock(nodeDisk(w.home), '.agentdir/locks/workspace-coder.lock');
    const before = statSync(locks).mtimeMs;
    const running = startAgentdir(w.home, ['workspace', 'undo', 'coder']);
    // Whoever tries to take it leaves a trace in the folder.
    await until(
      () => statSync(locks).mtimeMs,
      now => now > before,
    );
    expect(read(w, 'deep/b.txt')).toBe('b\n');
    if ('release' in lock) lock.release();
    expect((await running.ended).code).toBe(0);
    expect(() => read(w, 'deep/b.txt')).toThrow('ENOENT');
  });

  it('is not slow where a long history was cloned', async () => {
    const w = await withCalls();
    const person = 'Ada <ada@example.org> 1700000000 +0000';
    const commits = Array.from({length: 12_000}, () => `commit refs/heads/main\ncommitter ${person}\ndata 5\nmany\n\n`);
    commits[0] = commits[0]?.replace('\n\n', '\nfrom refs/heads/main^0\n\n') ?? '';
    spawnSync('git', ['fast-import', '--quiet'], {cwd: w.gitDir, env: environment, input: commits.join('')});
    const took = async (work: () => Promise<unknown>) => {
      const began = performance.now();
      await work();
      return performance.now() - began;
    };
    const plain = await took(() => w.git('log', '--format=%H%n%P%n%an%n%aI%n%s%n%(trailers:only,unfold)'));
    expect(await took(() => readChanges(w.gitDir))).toBeLessThan(3 * plain + 2_000);
    const {code, stdout} = await agentdir(w.home, ['workspace', 'log', 'coder', '-n', '2']);
    expect({code, last: stdout.split('\n').at(-2)}).toEqual({code: 0, last: '… and 12000 before: -n 20'});
  });

  it('says what it does not know', async () => {
    const w = await withCalls();
    const none = await agentdir(w.home, ['workspace', 'diff', 'coder', 'nothing-like-it']);
    expect(none).toMatchObject({code: 2, stderr: expect.stringContaining('no call "nothing-like-it"')});
    const agent = await agentdir(w.home, ['workspace', 'log', 'painter']);
    expect(agent).toMatchObject({code: 2, stderr: expect.stringContaining('no workspace "painter"')});
  });
});

describe('undo is all or nothing', () => {
  async function withMany(): Promise<TestWorkspace> {
    const w = await withCalls();
    await w.call('call_base', () => w.put({'a.txt': 'a\n', 'ro/b.txt': 'b\n', 'z.txt': 'z\n'}));
    await w.call('call_many', () =>
      w.put({'a.txt': undefined, 'added.txt': 'new\n', 'ro/b.txt': 'B\n', 'z.txt': 'Z\n', 'more/c.txt': 'c\n'}),
    );
    return w;
  }
  const uid = 61_234;
  /** Whether another user can run the program from here at all. */
  const possible =
    process.getuid?.() === 0 &&
    spawnSync(process.execPath, [main, '--version'], {uid, gid: uid, cwd: '/'}).status === 0;

  it.skipIf(!possible)('(needs root) where one file cannot be written', async () => {
    const w = await withMany();
    spawnSync('chown', ['-R', `${uid}:${uid}`, w.home]);
    chmodSync(join(w.dir, 'ro'), 0o555);
    const args = [main, 'workspace', 'undo', 'coder'];
    const run = () =>
      spawnSync(process.execPath, args, {uid, gid: uid, cwd: w.home, env: environment, encoding: 'utf8'});
    const refused = run();
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(/^agentdir: nothing was undone: EACCES: [^\n]*\n$/);
    expect(readdirSync(w.dir).sort()).toEqual(['.git', 'added.txt', 'deep', 'more', 'ro', 'z.txt']);
    expect([read(w, 'added.txt'), read(w, 'ro/b.txt'), read(w, 'z.txt')]).toEqual(['new\n', 'B\n', 'Z\n']);
    chmodSync(join(w.dir, 'ro'), 0o755);
    const done = run();
    expect(done, done.stderr).toMatchObject({status: 0});
    expect([read(w, 'a.txt'), read(w, 'ro/b.txt'), read(w, 'z.txt')]).toEqual(['a\n', 'b\n', 'z\n']);
  });

  it.each(['move:1', 'move:3', 'journal-index-temp:1'])('killed at %s: the next use finishes it', async at => {
    const w = await withMany();
    const doomed = spawnSync(process.execPath, [main, 'workspace', 'undo', 'coder'], {
      cwd: w.home,
      env: {...environment, AGENTDIR_CRASH_AT: at},
    });
    expect(doomed.signal).toBe('SIGKILL');
    if (at === 'move:3') w.put({'added.txt': 'by hand meanwhile\n'});
    forgetHistory(w);
    expect(await openWorkspace(w)).toMatchObject({notes: []});
    const [undone] = (await readChanges(w.gitDir)).filter(({cause}) => cause === 'undo');
    expect(undone?.subject).toBe('undo: call call_many');
    const now = at === 'move:3' ? 'by hand meanwhile\n' : undefined;
    expect(existsSync(join(w.dir, 'added.txt')) ? read(w, 'added.txt') : undefined).toBe(now);
    expect([read(w, 'a.txt'), read(w, 'ro/b.txt'), read(w, 'z.txt')]).toEqual(['a\n', 'b\n', 'z\n']);
    expect(existsSync(join(w.dir, 'more'))).toBe(false);
    expect(await w.git('status', '--porcelain')).toBe('');
    const again = await agentdir(w.home, ['workspace', 'undo', 'coder', 'call_many']);
    expect(again.stderr).toContain('is already undone');
  });
});

describe('undo', () => {
  const last = (id: string) => (changes: readonly {call: string | undefined}[]) =>
    changes.find(({call}) => call === id) as never;

  it('brings back what was removed: links, modes, names that are no text', async () => {
    const w = await newWorkspace();
    const odd = Buffer.concat([Buffer.from(`${w.dir}/`), Buffer.from([0xff, 0x66])]);
    await w.call('c1', () => {
      w.put({'d/run.sh': {run: '#!/bin/sh\n'}, 'd/l': {link: 'run.sh'}});
      writeFileSync(odd, 'odd\n');
    });
    const before = await w.git('ls-tree', '-r', 'HEAD');
    await w.call('c2', () => w.put({d: undefined}));
    await w.call('c3', () => writeFileSync(odd, 'other\n'));
    expect(await undoCommit(w, last('c2'))).toHaveProperty('commit');
    expect(await undoCommit(w, last('c3'))).toHaveProperty('commit');
    expect(await w.git('ls-tree', '-r', 'HEAD')).toBe(before);
    expect(await w.git('status', '--porcelain')).toBe('');
  });

  it('leaves who may read a file as it is', async () => {
    const w = await newWorkspace();
    await w.call('c1', () => w.put({secret: 'one\n', 'run.sh': {run: '#!/bin/sh\n'}}));
    chmodSync(join(w.dir, 'secret'), 0o600);
    chmodSync(join(w.dir, 'run.sh'), 0o700);
    await w.call('c2', () => {
      writeFileSync(join(w.dir, 'secret'), 'two\n');
      writeFileSync(join(w.dir, 'run.sh'), '#!/bin/bash\n');
    });
    expect(await undoCommit(w, last('c2'))).toHaveProperty('commit');
    expect(['secret', 'run.sh'].map(name => statSync(join(w.dir, name)).mode & 0o777)).toEqual([0o600, 0o700]);
    expect(read(w, 'secret')).toBe('one\n');
  });

  it('does not write through what stands in the way now', async () => {
    const w = await newWorkspace();
    await w.call('c1', () => w.put({'d/a': 'a\n', e: 'e\n'}));
    await w.call('c2', () => w.put({d: undefined, e: undefined}));
    w.put({d: {link: '/tmp'}, 'e/x': 'x'});
    expect(await undoCommit(w, last('c2'))).toMatchObject({
      conflicts: [
        {path: 'd/a', why: 'is below something that is no longer a folder'},
        {path: 'e', why: 'is a folder now'},
      ],
    });
  });
});
