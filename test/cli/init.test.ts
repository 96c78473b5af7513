import {existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {ignoredInHome} from '../../src/home/create.ts';
import {agentdir, environment, git, newHome, put, root, temporary} from './run.ts';

describe('agentdir init', () => {
  it('makes a home from the files of the package, with a first commit and nothing left over', async () => {
    const dir = temporary();
    const {code, stdout, stderr} = await agentdir(dir, ['init', 'mine']);
    expect({code, stderr}).toEqual({code: 0, stderr: ''});
    expect(stdout).toContain('agentdir start');
    const home = join(dir, 'mine');
    for (const folder of ['templates', 'memory', 'playbooks', 'workflows', 'schemas']) {
      const shipped = readdirSync(join(root, folder)).filter(name => !name.startsWith('.'));
      expect(readdirSync(join(home, folder))).toEqual(shipped);
      for (const name of shipped)
        expect(readFileSync(join(home, folder, name), 'utf8')).toBe(readFileSync(join(root, folder, name), 'utf8'));
    }
    expect(readFileSync(join(home, 'allowlist.yaml'), 'utf8')).toBe(readFileSync(join(root, 'allowlist.yaml'), 'utf8'));
    expect(readFileSync(join(home, 'agentdir.yaml'), 'utf8')).toBe(
      readFileSync(join(root, 'agentdir.yaml'), 'utf8').replace('name: home', 'name: mine'),
    );
    expect(await git(home, 'status', '--porcelain')).toBe('');
    expect(await git(home, 'log', '--format=%an <%ae> %s')).toBe(
      'Ada <ada@example.org> home: created by agentdir init\n',
    );
    expect((await agentdir(home, ['check'])).stdout).toMatch(/no problems/);
    // Installed from the package, the program finds these files there.
    const {files} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {files: string[]};
    const copied = (await git(home, 'ls-files'))
      .split('\n')
      .filter(path => /^\w/.test(path) && !/\.gitkeep$/.test(path));
    expect(copied.filter(path => !files.some(each => path === each || path.startsWith(`${each}/`)))).toEqual([]);
  });

  it('never overwrites, and adds what is missing', async () => {
    const dir = temporary();
    await git(dir, 'init', '-q');
    writeFileSync(join(dir, 'mine.txt'), 'mine');
    put(dir, {
      'allowlist.yaml': 'version: 1\n',
      '.gitignore': 'node_modules\n',
      'templates/planner-001.agent.yaml': '# mine\n',
    });
    await git(dir, 'add', 'mine.txt');
    const first = await agentdir(dir, ['init']);
    expect(first.code).toBe(0);
    expect(first.stdout).toMatch(/unchanged:.*allowlist\.yaml/);
    expect(readFileSync(join(dir, 'allowlist.yaml'), 'utf8')).toBe('version: 1\n');
    expect(readFileSync(join(dir, 'templates/planner-001.agent.yaml'), 'utf8')).toBe('# mine\n');
    expect(readFileSync(join(dir, '.gitignore'), 'utf8')).toMatch(/^node_modules\n\n# Agentdir\n/);
    // What the person had staged is still theirs to commit.
    expect(await git(dir, 'diff', '--cached', '--name-only')).toBe('mine.txt\n');
    const commits = await git(dir, 'rev-list', '--count', 'HEAD');
    const second = await agentdir(dir, ['init', '.']);
    expect(second.stdout).toMatch(/is already a home/);
    expect(await git(dir, 'rev-list', '--count', 'HEAD')).toBe(commits);
  });

  it('works without a git identity, and says so if there is no git', async () => {
    const dir = temporary();
    const {
      GIT_AUTHOR_NAME: _a,
      GIT_AUTHOR_EMAIL: _b,
      GIT_COMMITTER_NAME: _c,
      GIT_COMMITTER_EMAIL: _d,
      ...anonymous
    } = environment;
    expect((await agentdir(dir, ['init', 'a'], {...anonymous, USER: 'grace'})).code).toBe(0);
    mkdirSync(join(dir, 'empty'));
    const none = await agentdir(dir, ['init', 'b'], {...anonymous, PATH: join(dir, 'empty')});
    expect(none.code).toBe(1);
    expect(none.stderr).toMatch(/git is needed/);
  });

  it('refuses a file in the way', async () => {
    const dir = temporary();
    writeFileSync(join(dir, 'x'), '');
    expect(await agentdir(dir, ['init', 'x'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not a directory'),
    });
  });

  it('does not hand on what the package’s own home waits for', async () => {
    const home = await newHome();
    expect(readFileSync(join(home, 'tasks/approvals.task.md'), 'utf8')).toMatch(/## TODO\n$/);
  });

  it('the repository itself ignores what a home ignores', () => {
    const lines = readFileSync(join(root, '.gitignore'), 'utf8').split('\n');
    for (const line of ignoredInHome) expect(lines).toContain(line);
  });

  it('prints JSON and nothing else with --json, wherever it stands', async () => {
    const dir = temporary();
    const {stdout} = await agentdir(dir, ['init', '--json', 'j']);
    expect(JSON.parse(stdout)).toMatchObject({newRepository: true, left: []});
    expect(existsSync(join(dir, 'j/agentdir.yaml'))).toBe(true);
  });
});
