import {execFile, spawn, spawnSync} from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {createServer} from 'node:http';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import fc from 'fast-check';
import {describe, expect, it, onTestFinished, vi} from 'vitest';
import {markName, markOf} from '../../src/effects/sandbox/environment.ts';
import {forgetHistory} from '../../src/effects/workspace/history.ts';
import {readChanges} from '../../src/effects/workspace/read-history.ts';
import {commitCall, keepFound, openWorkspace} from '../../src/effects/workspace/repository.ts';
import {runs} from '../arbitrary.ts';
import {environment, git, temporary, thorough} from '../cli/run.ts';
import {newWorkspace, type TestWorkspace, workspaceIn} from './workspace-home.ts';

const subjects = async (w: TestWorkspace, format = '%an: %s') =>
  (await w.git('log', `--format=${format}`)).trim().split('\n');

describe('the history of a workspace', () => {
  it('has a commit for each call that changed something, by its agent', async () => {
    const w = await newWorkspace();
    const files = {'a.txt': 'one\n', 'deep/b.txt': 'b\n', 'run.sh': {run: '#!/bin/sh\n'}, l: {link: '/etc/passwd'}};
    expect((await w.call('c1', () => w.put(files))).notes).toEqual([]);
    expect((await w.call('c2', () => {})).commit).toBeUndefined();
    await w.call('c3', () => w.put({'a.txt': 'two\n'}), ['a.txt'], {approval: 'ap1'});
    expect(await w.git('log', '--format=%an <%ae> %cn|%s|%(trailers:separator=%x2C)')).toBe(
      'coder <coder@home> agentdir|call c3|Session: coder-1,Call: c3,Approval: ap1,Cause: call\n' +
        'coder <coder@home> agentdir|call c1|Session: coder-1,Call: c1,Cause: call\n',
    );
    expect(await w.git('status', '--porcelain')).toBe('');
    expect(await w.git('ls-tree', '-r', '--name-only', 'HEAD')).toBe('a.txt\ndeep/b.txt\nl\nrun.sh\n');
    expect(await w.git('ls-tree', '-r', 'HEAD', 'l', 'run.sh')).toMatch(/^120000 .*\n100755 /);
    expect(await w.git('fsck', '--strict')).toBe('');
    expect(statSync(w.gitDir).mode & 0o777).toBe(0o700);
  });

  it("keeps what a person did between calls as the person's", async () => {
    const w = await newWorkspace();
    await w.call('c1', () => w.put({'a.txt': 'one\n'}));
    w.put({'a.txt': 'by hand\n', 'b.txt': 'by hand\n'});
    await w.call('c2', () => w.put({'b.txt': 'by the call\n'}), ['b.txt']);
    await w.call('c3', () => w.put({'c.txt': 'c\n'}));
    expect(await subjects(w, '%an: %s')).toEqual([
      'coder: call c3',
      expect.stringMatching(/^(?!coder).*: a\.txt changed by hand$/),
      'coder: call c2',
      expect.stringMatching(/^(?!coder).*: b\.txt changed by hand$/),
      'coder: call c1',
    ]);
  });

  it('sees a change that no size and no time stamp of the file shows', async () => {
    const w = await newWorkspace();
    await w.call('c1', () => w.put({'a.txt': 'one\n'}));
    const {mtime} = statSync(join(w.dir, 'a.txt'));
    await w.call('c2', () => {
      writeFileSync(join(w.dir, 'a.txt'), 'two\n');
      utimesSync(join(w.dir, 'a.txt'), mtime, mtime);
    });
    expect(await w.git('show', 'HEAD:a.txt')).toBe('two\n');
  });

  it('leaves out what is ignored, too large or no file, and says so', async () => {
    const w = await newWorkspace();
    const done = await w.call('c1', () => {
      w.put({
        '.gitignore': '*.log\n/build/\n!keep.log\n',
        'a.log': 'x',
        'keep.log': 'x',
        'build/x': 'x',
        'sub/.gitignore': 'y\n',
        'sub/y': 'x',
        'sub/z': 'x',
        'node_modules/m/index.js': 'x',
        '.output/long.txt': 'x',
        '.untrusted/page.txt': 'x',
        'large.bin': '',
      });
      truncateSync(join(w.dir, 'large.bin'), 51 * 1024 * 1024);
      mkdirSync(join(w.dir, 'empty'));
    });
    expect(done.notes).toEqual(['not in the history: large.bin is larger than 50 MB']);
    expect(await w.git('ls-files')).toBe('.gitignore\nkeep.log\nsub/.gitignore\nsub/z\n');
    // Tracked, it is kept, whatever is ignored later.
    await w.call('c2', () => w.put({'.gitignore': '*\n', 'sub/z': 'changed'}), ['.gitignore', 'sub/z']);
    expect(await w.git('show', 'HEAD:sub/z')).toBe('changed');
  });

  it('keeps large files too, byte for byte', async () => {
    const w = await newWorkspace();
    const text = 'line \r\n $Id$\n'.repeat(100_000);
    await w.call('c1', () =>
      w.put({'.gitattributes': '* text=auto ident eol=crlf\n', 'big.txt': text, 's.txt': 'a\r\n$Id$\n'}),
    );
    expect(await w.git('show', 'HEAD:big.txt')).toBe(text);
    expect(await w.git('show', 'HEAD:s.txt')).toBe('a\r\n$Id$\n');
    expect(await w.git('status', '--porcelain')).toBe('');
  });

  it('is what the files are, whatever was done to them', async () => {
    const name = fc.constantFrom('a', 'a b', 'd/a', 'd/e/ä', 'd', '-x', 'e\nf', 'd.x', 'd/e');
    const step = fc.record({name, text: fc.constantFrom('1\n', '2\n', '', undefined), run: fc.boolean()});
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, {maxLength: 4}), {maxLength: 4}), fc.boolean(), async (calls, named) => {
        const w = await newWorkspace();
        for (const [i, steps] of calls.entries()) {
          const paths = steps.map(({name}) => name);
          const work = () => {
            for (const {name, text, run} of steps) {
              // A file in the way of a folder would have to be named, too.
              if (named && paths.some(other => other !== name && `${name}/`.startsWith(`${other}/`))) continue;
              if (inTheWay(w.dir, name)) continue;
              w.put({[name]: text === undefined ? undefined : run ? {run: text} : text});
            }
          };
          expect((await w.call(`c${i}`, work, named ? paths : undefined)).notes).toEqual([]);
        }
        expect(await committed(w)).toEqual(onDisk(w.dir));
        expect(await w.git('status', '--porcelain')).toBe('');
      }),
      runs(6),
    );
  });

  it('is committed where HEAD is, and never over what a person commits at the same time', async () => {
    const w = await newWorkspace();
    await w.call('c1', () => w.put({'a.txt': 'one\n'}));
    await w.git('checkout', '-q', '-b', 'other');
    await w.call('c2', () => w.put({'a.txt': 'two\n'}));
    await w.git('checkout', '-q', '--detach');
    const person = (async () => {
      for (let i = 0; i < 6; i++) await w.git('commit', '-q', '--allow-empty', '-m', `person ${i}`);
    })();
    for (let i = 0; i < 6; i++)
      expect((await w.call(`d${i}`, () => w.put({'a.txt': `${i}\n`}), ['a.txt'])).notes).toEqual([]);
    await person;
    const all = await subjects(w, '%s');
    for (let i = 0; i < 6; i++) {
      expect(all).toContain(`person ${i}`);
      expect(all).toContain(`call d${i}`);
    }
    expect(await w.git('log', '--format=%s', 'other')).toBe('call c2\ncall c1\n');
    expect(await w.git('status', '--porcelain')).toBe('');
  });

  it('waits while a person is in the middle of something, and then says whose it was', async () => {
    const w = await newWorkspace();
    await w.call('c1', () => w.put({'a.txt': 'one\n'}));
    writeFileSync(join(w.gitDir, 'MERGE_HEAD'), `${(await w.git('rev-parse', 'HEAD')).trim()}\n`);
    const done = await w.call('c2', () => w.put({'a.txt': 'two\n'}));
    expect(done).toEqual({notes: [expect.stringContaining('not committed yet')]});
    rmSync(join(w.gitDir, 'MERGE_HEAD'));
    await keepFound(w);
    expect(await w.git('log', '-1', '--format=%an %(trailers:key=Call)')).toContain('coder Call: c2');
  });
});

describe('the .git of a workspace', () => {
  it.each<[string, (w: TestWorkspace) => void]>([
    ['a folder', w => mkdirSync(join(w.dir, '.git/hooks'), {recursive: true})],
    ['a link', w => w.put({'.git': {link: '/tmp'}})],
    ['another text', w => w.put({'.git': 'gitdir: /tmp/elsewhere.git\n'})],
  ])('is put back when it is %s, and what was there kept aside', async (_, plant) => {
    const w = await newWorkspace();
    const done = await w.call('c1', () => {
      rmSync(join(w.dir, '.git'));
      plant(w);
      w.put({'a.txt': 'one\n'});
    });
    expect(done.notes).toEqual([expect.stringContaining('moved to .git-found-1')]);
    expect(readFileSync(join(w.dir, '.git'), 'utf8')).toBe('gitdir: ../../.workspaces/coder.git\n');
    expect(lstatSync(join(w.dir, '.git-found-1'))).toBeDefined();
    expect(await w.git('ls-files')).toBe('a.txt\n');
    expect(await w.git('status', '--porcelain')).toBe('');
  });
});

describe('killed', () => {
  const labels = ['object', 'index-temp', 'ref-lock', 'index-lock', 'index-rename', 'ref-rename', 'unlock', 'reflog'];
  it.each(thorough ? labels : ['index-temp', 'index-rename'])(
    'at journal-%s: the next open commits what is left',
    async label => {
      const w = await newWorkspace();
      await w.call('c1', () => w.put({'a.txt': 'one\n'}));
      forgetHistory(w);
      expect(await killed(w.home, `journal-${label}`)).toBe(true);
      expect(await openWorkspace(w)).toMatchObject({notes: []});
      expect(await w.git('show', 'HEAD:a.txt')).toBe('from the call\n');
      expect(await w.git('show', 'HEAD:new.txt')).toBe('new\n');
      const said = await w.git('log', '-1', '--format=%an %(trailers:separator=%x2C)');
      expect(said).toMatch(/^coder Session: coder-1,Call: crashed,Cause: (?:call|recovered)\n$/);
      if (label === 'index-temp') expect(said).toContain('recovered');
      expect(await w.git('fsck', '--strict', '--no-dangling')).toBe('');
      expect(await w.git('status', '--porcelain')).toBe('');
      expect(readdirSync(w.gitDir).filter(name => /\.lock$|^agentdir-\d/.test(name))).toEqual([]);
      expect(readdirSync(join(w.gitDir, 'agentdir-calls'))).toEqual([]);
    },
  );
});

describe('a workspace that is cloned', () => {
  async function source(home: string): Promise<string> {
    const dir = join(home, 'source');
    mkdirSync(join(dir, 'lib'), {recursive: true});
    writeFileSync(join(dir, 'lib/a.txt'), 'a\r\n');
    writeFileSync(join(dir, '.gitattributes'), '* filter=evil text\n');
    await git(dir, 'init', '-q', '-b', 'trunk');
    await git(dir, 'add', '-A');
    await git(dir, 'commit', '-qm', 'first');
    await git(dir, 'branch', 'feature');
    await git(dir, 'config', 'filter.evil.smudge', `touch ${home}/canary`);
    writeFileSync(join(dir, '.git/hooks/post-checkout'), `#!/bin/sh\ntouch ${home}/canary\n`, {mode: 0o755});
    return dir;
  }

  it('has its history, its remote and a branch of its own, and nothing else of it', async () => {
    const w = workspaceIn(temporary());
    const dir = await source(w.home);
    expect(await openWorkspace(w, {clone: './source'})).toEqual({notes: []});
    expect(await w.git('log', '--format=%s %D')).toBe('first HEAD -> agentdir/coder, origin/trunk, origin/feature\n');
    expect((await w.git('remote', 'get-url', 'origin')).trim()).toBe(dir);
    expect(readFileSync(join(w.dir, 'lib/a.txt'), 'utf8')).toBe(await git(dir, 'show', 'HEAD:lib/a.txt'));
    expect(await w.git('status', '--porcelain')).toBe('');
    expect(existsSync(join(w.home, 'canary'))).toBe(false);
    expect(existsSync(join(w.gitDir, 'objects/info/alternates'))).toBe(false);
    expect(readFileSync(join(w.gitDir, 'config'), 'utf8')).not.toContain('evil');
    await w.call('c1', () => w.put({'lib/a.txt': 'mine\n'}));
    expect(await openWorkspace(w, {clone: './source'})).toEqual({notes: []});
    expect(await git(dir, 'log', '--format=%s', '--all')).toBe('first\n');
    expect(readdirSync(join(w.home, '.workspaces'))).toEqual(['coder.git']);
  });

  it.each(['a branch', 'no branch'])('from one that is shallow has what that has: HEAD on %s', async head => {
    const w = workspaceIn(temporary());
    const dir = await source(w.home);
    for (const name of ['second', 'third']) await git(dir, 'commit', '-q', '--allow-empty', '-m', name);
    await git(w.home, 'clone', '-q', '--depth', '2', '--no-single-branch', `file://${dir}`, 'shallow');
    if (head === 'no branch') {
      await git(join(w.home, 'shallow'), 'checkout', '-q', '--detach');
      await git(join(w.home, 'shallow'), 'commit', '-q', '--allow-empty', '-m', 'apart');
    }
    expect(await openWorkspace(w, {clone: 'shallow'})).toEqual({notes: []});
    await w.call('c1', () => w.put({'lib/a.txt': 'mine\n'}));
    const all = ['call c1', ...(head === 'no branch' ? ['apart'] : []), 'third', 'second'];
    expect(await subjects(w, '%s')).toEqual(all);
    expect((await readChanges(w.gitDir)).map(({subject}) => subject)).toEqual(all);
    expect(await w.git('fsck', '--strict')).toBe('');
    // Without the boundary it is a history with a hole.
    rmSync(join(w.gitDir, 'shallow'));
    await expect(readChanges(w.gitDir)).rejects.toThrow('cannot be read: git log: error: Could not read');
  });

  it.each(['bob:pa55@word', 'pa55token'])('from an address with a secret keeps that nowhere: %s', async user => {
    const w = workspaceIn(temporary());
    await source(w.home);
    await git(w.home, 'clone', '-q', '--bare', 'source', 'bare');
    await git(join(w.home, 'bare'), 'update-server-info');
    const given: (string | undefined)[] = [];
    const server = createServer(({url = '', headers: {authorization}}, response) => {
      given.push(authorization && Buffer.from(authorization.slice(6), 'base64').toString());
      const path = join(w.home, (url.split('?')[0] ?? '').slice(1));
      const code = authorization === undefined ? 401 : existsSync(path) ? 200 : 404;
      response.writeHead(code, {'www-authenticate': 'Basic realm="x"'}).end(code === 200 ? readFileSync(path) : '');
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const {port} = server.address() as {port: number};
    const written = user.replace('@', '%40');
    expect(await openWorkspace(w, {clone: `http://${written}@127.0.0.1:${port}/bare`})).toEqual({notes: []});
    expect(given.find(Boolean)).toContain(user);
    expect(await subjects(w, '%s')).toEqual(['first']);
    expect((await w.git('remote', 'get-url', 'origin')).trim()).toBe(`http://127.0.0.1:${port}/bare`);
    expect(spawnSync('grep', ['-rlE', 'pa55|bob', join(w.home, '.workspaces'), w.dir], {encoding: 'utf8'}).stdout).toBe(
      '',
    );
  });

  it('begins with the only branch where HEAD there names none, and asks which of several', async () => {
    const w = workspaceIn(temporary());
    await git(w.home, 'init', '-q', '--bare', '-b', 'master', 'bare');
    const empty = workspaceIn(w.home, 'empty');
    expect(await openWorkspace(empty, {clone: 'bare'})).toEqual({notes: []});
    const dir = await source(w.home);
    await git(dir, 'push', '-q', '../bare', 'trunk');
    expect(await openWorkspace(w, {clone: 'bare'})).toEqual({notes: []});
    expect(await subjects(w, '%s %D')).toEqual(['first HEAD -> agentdir/coder, origin/trunk']);
    await git(dir, 'push', '-q', '../bare', 'feature');
    const other = workspaceIn(w.home, 'tester');
    expect(await openWorkspace(other, {clone: 'bare'})).toMatchObject({
      success: false,
      error: expect.stringContaining('its HEAD names no branch that is there; name one as branch: feature, trunk'),
    });
    expect(await openWorkspace(other, {clone: 'bare', branch: 'feature'})).toEqual({notes: []});
  });

  it("is found below the person's own home, and stays what it is when the template says something else", async () => {
    const w = workspaceIn(temporary());
    await source(w.home);
    vi.stubEnv('HOME', w.home);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await openWorkspace(w, {clone: '~/source'})).toEqual({notes: []});
    expect(await subjects(w, '%s')).toEqual(['first']);
    const note =
      'the workspace was cloned from ~/source, branch agentdir/coder, and stays so, whatever the template says now';
    expect(await openWorkspace(w, {clone: '~/source', branch: 'feature'})).toEqual({notes: [note]});
    await w.call('c1', () => {});
    expect(await openWorkspace(w, {clone: '~/other'})).toEqual({notes: []});
  });

  it('goes on where a process was killed: with nothing, or with all of it', async () => {
    const w = workspaceIn(temporary());
    await source(w.home);
    mkdirSync(join(w.home, '.workspaces/coder.clone/files/half'), {recursive: true});
    expect(await openWorkspace(w, {clone: 'source', branch: 'feature'})).toEqual({notes: []});
    expect((await w.git('branch', '--show-current')).trim()).toBe('feature');
    expect(readdirSync(w.dir).sort()).toEqual(['.git', '.gitattributes', 'lib']);
    // Killed between the two moves: the files are there, the history is not.
    const aside = join(w.home, '.workspaces/coder.clone');
    mkdirSync(aside);
    renameSync(w.gitDir, join(aside, 'git'));
    writeFileSync(join(aside, 'ready'), '');
    expect(await openWorkspace(w, {clone: 'source', branch: 'feature'})).toEqual({notes: []});
    expect(await w.git('log', '--format=%s')).toBe('first\n');
    expect(await w.git('status', '--porcelain')).toBe('');
  });

  it('ends what a killed daemon still fetches, however early it was killed', async () => {
    const w = workspaceIn(temporary());
    await source(w.home);
    const env = {PATH: process.env.PATH, [markName]: markOf('clone', w.home, 'coder')};
    const orphan = spawn('sleep', ['1000'], {env, stdio: 'ignore', detached: true});
    onTestFinished(() => void orphan.kill('SIGKILL'));
    const ended = new Promise(resolve => orphan.once('exit', (_, signal) => resolve(signal)));
    expect(await openWorkspace(w, {clone: 'source'})).toEqual({notes: []});
    expect(await ended).toBe('SIGKILL');
  });

  it.each([
    ['source', (w: TestWorkspace) => w.put({'mine.txt': 'x'}), /has files already, and is not overwritten/],
    ['nowhere', () => {}, /nowhere: .*(?:does not appear|not a git repository|does not exist)/],
    ['ext::sh -c "touch canary"', () => {}, /ext:: addresses run programs/],
    ['fd::7', () => {}, /fd:: addresses run programs/],
    ['javascript://x', () => {}, /not among https, ssh, git and file/],
    ['source', () => {}, /HEAD is not a branch name/, 'HEAD'],
  ])('fails in clear words: %s', async (clone, prepare, words, branch?: string) => {
    const w = workspaceIn(temporary());
    await source(w.home);
    prepare(w);
    expect(await openWorkspace(w, {clone, branch})).toMatchObject({
      success: false,
      error: expect.stringMatching(words),
    });
    expect(existsSync(w.gitDir)).toBe(false);
    expect(readdirSync(join(w.home, '.workspaces'))).toEqual([]);
  });
});

it('two workspaces, and two sessions in one, do not disturb each other', async () => {
  const w = await newWorkspace();
  const other = workspaceIn(w.home, 'tester');
  await Promise.all([
    ...[1, 2, 3].map(i => w.call(`a${i}`, () => w.put({[`a${i}`]: 'x'}), [`a${i}`])),
    ...[1, 2, 3].map(i => other.call(`b${i}`, () => other.put({[`b${i}`]: 'x'}))),
  ]);
  expect((await subjects(w, '%s')).sort()).toEqual(['call a1', 'call a2', 'call a3']);
  expect(await other.git('ls-files')).toBe('b1\nb2\nb3\n');
  expect(await commitCall(w, {session: 's', call: 'none', words: 'nothing'})).toEqual({notes: []});
});

function killed(home: string, at: string): Promise<boolean> {
  const child = fileURLToPath(new URL('workspace-crash.mjs', import.meta.url));
  const env = {...environment, AGENTDIR_CRASH_AT: at};
  return new Promise((resolve, reject) =>
    execFile(process.execPath, [child, home], {env}, (error, _, stderr) =>
      error && error.signal !== 'SIGKILL' ? reject(new Error(stderr)) : resolve(error !== null),
    ),
  );
}

function inTheWay(dir: string, name: string): boolean {
  const parents = name.split('/').slice(0, -1);
  return parents.some((_, i) => lstatSync(join(dir, ...parents.slice(0, i + 1)), {throwIfNoEntry: false})?.isFile());
}

function onDisk(dir: string, prefix = ''): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(join(dir, prefix), {withFileTypes: true})) {
    const path = `${prefix}${entry.name}`;
    if (path === '.git') continue;
    if (entry.isDirectory()) Object.assign(found, onDisk(dir, `${path}/`));
    else
      found[path] = `${lstatSync(join(dir, path)).mode & 0o100 ? '100755' : '100644'} ${readFileSync(join(dir, path))}`;
  }
  return found;
}

async function committed(w: TestWorkspace): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  if ((await w.git('for-each-ref', 'refs/heads')) === '') return found;
  for (const line of (await w.git('ls-tree', '-r', '-z', 'HEAD')).split('\0').filter(Boolean)) {
    const [head = '', path = ''] = line.split('\t');
    const [mode, , id = ''] = head.split(' ');
    found[path] = `${mode} ${await w.git('cat-file', 'blob', id)}`;
  }
  return found;
}
