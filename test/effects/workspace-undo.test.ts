import {chmodSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {forgetHistory} from '../../src/effects/workspace/history.ts';
import type {WorkspaceCommit} from '../../src/effects/workspace/read-history.ts';
import {commitCall, keepFound} from '../../src/effects/workspace/repository.ts';
import {undoCommit} from '../../src/effects/workspace/undo.ts';
import {agentdir, put} from '../cli/run.ts';
import {newWorkspace, type TestWorkspace} from './workspace-home.ts';

const last = (id: string) => (changes: readonly WorkspaceCommit[]) =>
  changes.find(({call}) => call === id) as WorkspaceCommit;
const read = (w: TestWorkspace, path: string) => readFileSync(join(w.dir, path), 'utf8');
/** Newest first, `coder` or the person. */
const log = async (w: TestWorkspace) =>
  (await w.git('log', '--format=%an: %s'))
    .trim()
    .replaceAll(/^(?!coder).*?:/gm, 'person:')
    .split('\n');

it('who may read a file is as it was when it comes back, though git does not keep that', async () => {
  const w = await newWorkspace();
  const path = (name: string) => join(w.dir, name);
  const may = (name: string) => (statSync(path(name)).mode & 0o777).toString(8);
  await w.call('c1', () => {
    w.put({
      'key.pem': 'k\n',
      'group.txt': 'g\n',
      'later.txt': 'l\n',
      'open.txt': 'o\n',
      'run.sh': 'r\n',
      'again.txt': 'a\n',
    });
    for (const name of ['key.pem', 'again.txt']) chmodSync(path(name), 0o600);
    chmodSync(path('group.txt'), 0o640);
    chmodSync(path('run.sh'), 0o700);
    chmodSync(path('open.txt'), 0o644);
  });
  // Nothing that git would commit.
  await w.call('c2', () => {
    chmodSync(path('later.txt'), 0o600);
    chmodSync(path('again.txt'), 0o644);
  });
  const names = ['key.pem', 'group.txt', 'later.txt', 'open.txt', 'run.sh', 'again.txt'];
  await w.call('c3', () => {
    for (const name of names) rmSync(path(name));
  });
  forgetHistory(w);
  expect(await undoCommit(w, last('c3'))).toHaveProperty('commit');
  expect(names.map(may)).toEqual(['600', '640', '600', '644', '700', '644']);
});

describe('what a person has staged', () => {
  it("is the person's, and no undo takes it away", async () => {
    const w = await newWorkspace();
    await w.call('c1', () => w.put({'st.txt': 'one\n'}), ['st.txt']);
    await w.call('c2', () => w.put({'st.txt': 'two\n'}), ['st.txt']);
    w.put({'st.txt': 'two\nby hand, at the same place\n'});
    await w.git('add', 'st.txt');
    expect(await undoCommit(w, last('c1'))).toHaveProperty('conflicts');
    expect(read(w, 'st.txt')).toBe('two\nby hand, at the same place\n');
    expect(await w.git('show', 'HEAD:st.txt')).toBe('two\nby hand, at the same place\n');
    expect(await log(w)).toEqual(['person: st.txt changed by hand', 'coder: call c2', 'coder: call c1']);
    expect(await w.git('status', '--porcelain')).toBe('');
  });

  it.each([
    ['named', ['st.txt']],
    ['any', undefined],
  ])('is committed before a call that may change it: %s', async (_, paths) => {
    const w = await newWorkspace();
    await w.call('c1', () => w.put({'a.txt': 'a\n', 'gone.txt': 'x\n'}));
    w.put({'st.txt': 'by hand\n'});
    await w.git('add', 'st.txt');
    await w.git('rm', '-q', 'gone.txt');
    w.put({'st.txt': 'by hand, and more\n'});
    await w.call('c2', () => w.put({'st.txt': 'by the agent\n'}), paths);
    expect(await log(w)).toEqual([
      'coder: call c2',
      'person: st.txt changed by hand',
      paths ? 'person: st.txt changed by hand' : 'person: 2 files changed by hand',
      'coder: call c1',
    ]);
    expect(await w.git('show', 'HEAD~2:st.txt')).toBe('by hand\n');
    expect(await w.git('status', '--porcelain')).toBe(paths ? 'D  gone.txt\n' : '');
    expect(await undoCommit(w, last('c2'))).toHaveProperty('commit');
    expect(read(w, 'st.txt')).toBe('by hand, and more\n');
  });

  it.each(['at the first use in a process', 'during a command'])('is committed as it was staged, %s', async when => {
    const w = await newWorkspace();
    await w.call('c1', () => w.put({'a.txt': 'a\n'}));
    const stage = async () => {
      w.put({'st.txt': 'STAGED\n'});
      await w.git('add', 'st.txt');
      w.put({'st.txt': 'OTHER\n'});
    };
    const call = {session: 'coder-1', call: 'c2', words: 'call c2'};
    if (when !== 'during a command') {
      await stage();
      forgetHistory(w);
    }
    await keepFound(w, undefined, call);
    if (when === 'during a command') await stage();
    await commitCall(w, call);
    const second = when === 'during a command' ? 'coder: call c2' : 'person: st.txt changed by hand';
    expect(await log(w)).toEqual([second, 'person: st.txt changed by hand', 'coder: call c1']);
    expect(await w.git('show', 'HEAD~1:st.txt')).toBe('STAGED\n');
    expect(await w.git('show', 'HEAD:st.txt')).toBe('OTHER\n');
  });

  it.each([false, true])('during a call is its own only if it could stage: %s', async unconfined => {
    const w = await newWorkspace();
    await w.call('c1', () => w.put({'a.txt': 'a\n'}));
    const call = {session: 'coder-1', call: 'c2', words: 'call c2', unconfined};
    const paths = unconfined ? undefined : ['a.txt'];
    await keepFound(w, paths, call);
    w.put({'a.txt': 'b\n', 'st.txt': 'by hand\n'});
    await w.git('add', 'st.txt');
    await commitCall(w, call, paths);
    if (unconfined) {
      await keepFound(w);
      expect(await log(w)).toEqual(['coder: call c2', 'coder: call c2', 'coder: call c1']);
      return;
    }
    expect(await w.git('show', '--name-only', '--format=%an', 'HEAD')).toBe('coder\n\na.txt\n');
    await keepFound(w, ['other.txt']);
    expect(await w.git('status', '--porcelain')).toBe('A  st.txt\n');
    await keepFound(w);
    expect(await log(w)).toEqual(['person: st.txt changed by hand', 'coder: call c2', 'coder: call c1']);
  });
});

describe('undo refuses', () => {
  it('where the file is not what was committed last', async () => {
    const w = await newWorkspace();
    await w.call('c1', () => w.put({'a.bin': 'a\n'}));
    truncateSync(join(w.dir, 'a.bin'), 51 * 1024 * 1024);
    expect(await undoCommit(w, last('c1'))).toMatchObject({
      conflicts: [{path: 'a.bin', why: 'is not what was committed last'}],
    });
    await w.call('c2', () => w.put({'a.bin': undefined, '.gitignore': '*.bin\n'}));
    w.put({'a.bin': 'by hand, ignored\n'});
    expect(await undoCommit(w, last('c2'))).toMatchObject({conflicts: [{path: 'a.bin'}]});
    expect(read(w, 'a.bin')).toBe('by hand, ignored\n');
  });
});

describe('undo puts back', () => {
  it('a folder that became a file, and a file that became a folder', async () => {
    const w = await newWorkspace();
    await w.call('c1', () => w.put({'dd/a': 'a\n', 'dd/e/b': 'b\n', f: 'f\n'}));
    const before = await w.git('ls-tree', '-r', 'HEAD');
    await w.call('c2', () => {
      w.put({dd: 'file\n', f: undefined, 'f/x': 'x\n', 'f/g/y': 'y\n'});
      mkdirSync(join(w.dir, 'f/empty/deep'), {recursive: true});
    });
    w.put({'f/mine': 'by hand\n'});
    expect(await undoCommit(w, last('c2'))).toMatchObject({conflicts: [{path: 'f', why: 'is a folder now'}]});
    expect(read(w, 'dd')).toBe('file\n');
    rmSync(join(w.dir, 'f/mine'));
    expect(await undoCommit(w, last('c2'))).toHaveProperty('commit');
    expect(await w.git('ls-tree', '-r', 'HEAD')).toBe(before);
    expect(read(w, 'dd/e/b') + read(w, 'f')).toBe('b\nf\n');
    expect(await w.git('status', '--porcelain')).toBe('');
  });
});

describe('what is ignored', () => {
  it("is in the history where a tool names it, and never becomes the person's by the agent's rules", async () => {
    const w = await newWorkspace();
    await w.call('c1', () => w.put({'.gitignore': 'evil.sh\n/build/\n'}), ['.gitignore']);
    await w.call('c2', () => w.put({'evil.sh': 'evil\n'}), ['evil.sh']);
    await w.call('c3', () => w.put({'build/x.sh': 'evil\n', 'node_modules/x.js': 'evil\n'}));
    await w.call('c4', () => w.put({'build/a': 'a\n', 'node_modules/a': 'a\n'}), ['build/a', 'node_modules/a']);
    await keepFound(w);
    expect(await log(w)).toEqual(['coder: call c4', 'coder: call c2', 'coder: call c1']);
    w.put({'mine.txt': 'by hand\n'});
    await w.call('c5', () => w.put({'.gitignore': '.gitignore\n'}), ['.gitignore']);
    await keepFound(w);
    expect(await w.git('show', '--name-only', '--format=%an', 'HEAD')).toBe('coder\n\n.gitignore\nbuild/x.sh\n');
    expect((await log(w)).slice(0, 2)).toEqual(['coder: call c5', 'person: mine.txt changed by hand']);
    expect(await undoCommit(w, last('c2'))).toHaveProperty('commit');
    expect(() => read(w, 'evil.sh')).toThrow('ENOENT');
  });

  it('is not passed over: undo of the last call says that the history has nothing of it', async () => {
    const w = await newWorkspace();
    put(w.home, {'agentdir.yaml': 'format: 1\n'});
    await w.call('c1', () => w.put({'.gitignore': '*.log\n', 'a.txt': 'a\n'}));
    await w.call('c2', () => w.put({'a.log': 'x'}));
    const refused = await agentdir(w.home, ['workspace', 'undo', 'coder']);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('call c2, changed nothing that can be undone'),
    });
    const [, id] = /agentdir workspace undo coder (\w{7})\n/.exec(refused.stderr) ?? [];
    expect(await w.git('log', '-1', '--format=%s', id ?? '')).toBe('call c1\n');
    expect(read(w, 'a.txt')).toBe('a\n');
    await w.call('c3', () => w.put({'a.txt': 'b\n'}), ['a.txt']);
    const done = await undoCommit(w, (changes, {empty}) => {
      expect(empty).toBeUndefined();
      return last('c3')(changes);
    });
    expect(done).toHaveProperty('commit');
  });
});

it('what is not kept is told once, and again when it comes back', async () => {
  const w = await newWorkspace();
  const large = () => {
    w.put({'large.bin': ''});
    truncateSync(join(w.dir, 'large.bin'), 51 * 1024 * 1024);
  };
  const note = ['not in the history: large.bin is larger than 50 MB'];
  expect((await w.call('c1', large)).notes).toEqual(note);
  expect((await keepFound(w)).notes).toEqual([]);
  expect((await w.call('c2', () => w.put({'a.txt': 'a\n'}))).notes).toEqual([]);
  await w.call('c3', () => w.put({'large.bin': undefined}));
  expect((await w.call('c4', large)).notes).toEqual(note);
});
