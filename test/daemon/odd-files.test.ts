import {execFileSync} from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {dirname, join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {agentdir, git, newHome, put, until} from '../cli/run.ts';
import {read, serve, settled, subjects} from './serve.ts';

const LEAST = 'agent_id: planner-001\nstatus: paused\nmessages:\n  - role: user\n    content: one\n';

describe('what is no plain file of the home', () => {
  it('a link: git gets the link, nothing is written through it, and its target is nobody’s secret', async () => {
    const home = await newHome();
    const outside = dirname(home);
    writeFileSync(join(outside, 'secret.md'), 'TOP SECRET\n');
    writeFileSync(join(outside, 's.session.yaml'), LEAST);
    const {stop} = await serve(home);
    symlinkSync('../../secret.md', join(home, 'memory/link.md'));
    symlinkSync(join(outside, 's.session.yaml'), join(home, 'sessions/s.session.yaml'));
    await until(
      () => git(home, 'log', '--format=%s'),
      log => log.includes('memory(link): created') && log.includes('session(s): created'),
    );
    expect(await git(home, 'ls-tree', 'HEAD', 'memory/link.md')).toMatch(/^120000 /);
    expect(await git(home, 'show', 'HEAD:memory/link.md')).toBe('../../secret.md');
    writeFileSync(join(outside, 'secret.md'), 'MORE SECRET\n');
    put(home, {'memory/after.md': 'x\n'});
    await settled(home, 'memory/after.md', text => text === 'x\n');
    expect(readFileSync(join(outside, 's.session.yaml'), 'utf8')).toBe(LEAST);
    expect(lstatSync(join(home, 'memory/link.md')).isSymbolicLink()).toBe(true);
    expect(await git(home, 'log', '-p', '--all')).not.toContain('SECRET');
    await stop();
    expect((await agentdir(home, ['start', '--once'])).code).toBe(0);
    expect(await git(home, 'status', '--porcelain')).toBe('');
  });

  it('a submodule and a nested repository stay what they are', async () => {
    const home = await newHome();
    const other = join(dirname(home), 'other');
    mkdirSync(other);
    await git(other, 'init', '-q');
    writeFileSync(join(other, 'x.md'), 'x\n');
    await git(other, 'add', '.');
    await git(other, 'commit', '-qm', 'x');
    const {stop} = await serve(home);
    await git(home, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', other, 'memory/sub');
    put(home, {'memory/after.md': 'x\n'});
    await until(
      () => git(home, 'log', '--format=%s'),
      log => log.includes('memory(after)'),
    );
    await git(home, 'commit', '-qm', 'sub');
    mkdirSync(join(home, 'memory/nest'));
    await git(join(home, 'memory/nest'), 'init', '-q');
    put(home, {'memory/nest/y.md': 'y\n', 'memory/sub/z.md': 'z\n', 'memory/after.md': 'y\n'});
    await until(
      () => git(home, 'show', 'HEAD:memory/after.md'),
      text => text === 'y\n',
    );
    await stop();
    expect((await agentdir(home, ['start', '--once'])).code).toBe(0);
    expect(await git(home, 'ls-tree', 'HEAD', 'memory/sub')).toMatch(/^160000 commit /);
    expect(await git(home, 'ls-tree', '-r', '--name-only', 'HEAD', 'memory')).not.toMatch(/nest|z\.md/);
  });

  it('a pipe does not stop the daemon', async () => {
    const home = await newHome();
    const {stop} = await serve(home);
    execFileSync('mkfifo', [join(home, 'tasks/p.task.md')]);
    put(home, {'tasks/q.task.md': '- [x] q\n'});
    await until(
      () => read(home, 'tasks/q.task.md'),
      text => text.includes('completed:'),
    );
    expect(await stop()).toBe(0);
  });

  it('conflict markers that git left are not committed', async () => {
    const home = await newHome({'memory/n.md': 'base\n'});
    const {stop} = await serve(home);
    await settled(home, 'memory/n.md', () => true);
    await git(home, 'checkout', '-q', '-b', 'side');
    put(home, {'memory/n.md': 'side\n'});
    await settled(home, 'memory/n.md', () => true);
    await git(home, 'checkout', '-q', '-');
    put(home, {'memory/n.md': 'main\n'});
    await settled(home, 'memory/n.md', () => true);
    // As a stash that does not apply: unmerged, and no merge under way.
    await git(home, 'merge', '-q', 'side').catch(() => undefined);
    rmSync(join(home, '.git/MERGE_HEAD'));
    expect(read(home, 'memory/n.md')).toContain('<<<<<<<');
    put(home, {'memory/other.md': 'x\n'});
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => /merge conflicts|unmerged/i.test(text),
    );
    put(home, {'memory/n.md': 'both\n'});
    await git(home, 'add', 'memory/n.md');
    await settled(home, 'memory/n.md', text => text === 'both\n');
    expect(await git(home, 'log', '-p', '--', 'memory/n.md')).not.toContain('<<<<<<<');
    await stop();
  });
});

describe('of a file more than its content', () => {
  it('that it may be executed, or no longer, is committed as the person’s, also what was done meanwhile', async () => {
    const home = await newHome({'memory/a.md': 'a\n', 'memory/b.md': 'b\n', 'memory/c.md': 'c\n'});
    chmodSync(join(home, 'memory/b.md'), 0o755);
    const {stop} = await serve(home);
    await settled(home, 'memory/a.md', () => true);
    chmodSync(join(home, 'memory/a.md'), 0o755);
    chmodSync(join(home, 'memory/b.md'), 0o644);
    await settled(home, 'memory/a.md', () => true);
    expect((await subjects(home)).slice(3).sort()).toEqual([
      'Ada: memory(a): made executable by hand',
      'Ada: memory(b): made not executable by hand',
    ]);
    expect(await stop()).toBe(0);
    chmodSync(join(home, 'memory/c.md'), 0o755);
    expect((await agentdir(home, ['start', '--once'])).code).toBe(0);
    chmodSync(join(home, 'memory/a.md'), 0o644);
    rmSync(join(home, '.agentdir'), {recursive: true});
    expect((await agentdir(home, ['start', '--once'])).code).toBe(0);
    expect((await subjects(home)).slice(5)).toEqual([
      'Ada: memory(c): made executable by hand',
      'Ada: memory(a): made not executable by hand',
    ]);
    expect(await git(home, 'status', '--porcelain')).toBe('');
    // Where the file system cannot say, git does not ask.
    await git(home, 'config', 'core.fileMode', 'false');
    chmodSync(join(home, 'memory/a.md'), 0o755);
    expect((await agentdir(home, ['start', '--once'])).code).toBe(0);
    expect(await subjects(home)).toHaveLength(7);
  });

  it('a name that is not UTF-8 is a problem, told once, and over when it is renamed', async () => {
    const home = await newHome();
    const {events, stop} = await serve(home);
    const odd = Buffer.concat([Buffer.from(join(home, 'memory/caf')), Buffer.from([0xe9]), Buffer.from('.md')]);
    const problems = (event: string) => events.filter(e => e.event === event).map(e => e.problem);
    writeFileSync(odd, 'x\n');
    await until(
      () => problems('problem'),
      seen => seen.length > 0,
    );
    expect(problems('problem')).toMatchObject([
      {code: 'NOT_UTF8', file: 'memory/caf\ufffd.md', message: expect.stringContaining('file name')},
    ]);
    // Once more noticed, not once more told.
    writeFileSync(odd, 'y\n');
    expect((await agentdir(home, ['check'])).stdout).toContain('memory/caf\ufffd.md:1:1: error NOT_UTF8');
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text.includes('NOT_UTF8') && !text.includes('1970'),
    );
    renameSync(odd, join(home, 'memory/café.md'));
    await until(
      () => problems('cleared'),
      seen => seen.length > 0,
    );
    await settled(home, 'memory/café.md', text => text === 'y\n');
    expect(problems('problem')).toHaveLength(1);
    expect(await stop()).toBe(0);
  });
});

describe('what the daemon derives, removed while it runs', () => {
  it('is made again, and no second daemon can start', async () => {
    const home = await newHome();
    const {pid, stop} = await serve(home);
    await until(
      () => existsSync(join(home, 'NEEDS_YOU.md')),
      there => there,
    );
    rmSync(join(home, '.agentdir'), {recursive: true});
    writeFileSync(join(home, 'NEEDS_YOU.md'), 'garbage\n');
    await until(
      () => read(home, '.agentdir/daemon.pid'),
      text => text === `${pid}\n`,
    );
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text.includes('othing'),
    );
    const second = await agentdir(home, ['start', '--once']);
    expect(second.code).toBe(5);
    expect(second.stderr).toContain(`process ${pid}`);
    expect((await agentdir(home, ['status'])).code).toBe(0);
    expect(await stop()).toBe(0);
  });
});
