import {spawn} from 'node:child_process';
import {readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {agentdir, environment, git, main, newHome, put, until} from './run.ts';

describe('agentdir log', () => {
  it('tells in plain words who did what, oldest first', async () => {
    const home = await newHome({
      'tasks/a.task.md': '- [ ] @planner-001 "Is Redis up?"\n  id: redis-check\n',
      'sessions/s1.session.yaml': 'agent_id: planner-001\nmessages: []\n',
    });
    await agentdir(home, ['start', '--once']);
    const {code, stdout} = await agentdir(home, ['log']);
    expect(code).toBe(0);
    const lines = stdout.trim().split('\n');
    expect(lines[0]).toContain('home: created by agentdir init');
    expect(stdout).toMatch(/Ada +tasks a: created by hand \(found at startup\) [0-9a-f]{7}/);
    expect(stdout).toMatch(/agentdir +session s1: filled in session_id, /);
    const last = (await agentdir(home, ['log', '-n', '1'])).stdout.trimEnd().split('\n');
    expect(last.filter(line => !/^ +\+ /.test(line))).toHaveLength(2);
  });

  it('names the changes of other files in a commit, one on a line', async () => {
    const home = await newHome();
    put(home, {'tasks/a.task.md': '- [ ] "Is Redis up?"\n'});
    await git(home, 'add', '-A');
    const steps = ['session(s1): results', 'state(spend): 2026-11-20: 1 turn'].map(step => `Step: ${step}\n`);
    await git(home, 'commit', '-qm', `session(s1): assistant turn; results\n\n${steps.join('')}Cause: turn`);
    const {stdout} = await agentdir(home, ['log']);
    expect(stdout).toMatch(/session s1: assistant turn; results [0-9a-f]{7}\n {34,}\+ state spend: \S+: 1 turn\n$/);
  });

  it('about one task, session, agent or file, by any unique part of its name', async () => {
    const home = await newHome({
      'tasks/a.task.md': '- [ ] @planner-001 "x"\n  id: redis-check\n- [ ] @human "y"\n  id: redis-runtime\n',
      'sessions/s1.session.yaml': 'agent_id: planner-001\nmessages: []\n',
    });
    await agentdir(home, ['start', '--once']);
    const changes = async (...args: string[]) =>
      (await agentdir(home, ['log', '--json', ...args])).stdout
        .trim()
        .split('\n')
        .map(line => JSON.parse(line) as {subject: string; trailers: Record<string, unknown>});
    expect((await changes('s1')).map(({subject}) => subject)).toEqual([
      'session(s1): created by hand',
      expect.stringMatching(/^session\(s1\): filled in/),
    ]);
    expect((await changes('redis-ch')).every(({trailers}) => [trailers.Task].flat().includes('redis-check'))).toBe(
      true,
    );
    expect((await changes('planner-001')).length).toBeGreaterThan(1);
    const both = await agentdir(home, ['log', 'redis']);
    expect(both.code).toBe(2);
    expect(both.stderr).toContain('redis-check, redis-runtime');
    const none = await agentdir(home, ['log', 'nothing-like-it']);
    expect(none).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('has no change about nothing-like-it'),
    });
    expect((await agentdir(home, ['log', '-n', '0'])).code).toBe(2);
  });

  it('leaves out commits that change no file of the home, unless all are asked for; names are kept short', async () => {
    const home = await newHome({'src/main.ts': 'one\n'});
    const commit = async (words: string, ...paths: string[]) => {
      await git(home, 'add', ...paths);
      await git(
        home,
        '-c',
        'user.name=x',
        'commit',
        '-qm',
        words,
        '--author=Somebody With A Long Name <s@example.org>',
      );
    };
    await commit('feat: source', 'src/main.ts');
    put(home, {'memory/m.md': 'note\n', 'src/main.ts': 'two\n'});
    await commit('docs: a note', 'memory/m.md', 'src/main.ts');
    put(home, {'memory/README.txt': 'no note\n', 'src/main.ts': 'three\n'});
    await commit('chore: text', 'memory/README.txt', 'src/main.ts');
    const {stdout} = await agentdir(home, ['log']);
    expect(stdout).toMatch(/Somebody With… docs: a note/);
    expect(stdout).not.toMatch(/source|chore/);
    const all = await agentdir(home, ['log', '--all']);
    expect(all.stdout).toMatch(/feat: source.*docs: a note.*chore: text/s);
    expect((await agentdir(home, ['log', '--all', '-n', '1'])).stdout).toContain('agentdir log --all -n 10');
    const changes = (await agentdir(home, ['log', '--json'])).stdout.trim().split('\n');
    expect(changes.map(line => JSON.parse(line).subject)).toEqual([
      expect.stringMatching(/^home: created/),
      'docs: a note',
    ]);
    expect(JSON.parse(changes[1] ?? '').paths).toEqual(['memory/m.md', 'src/main.ts']);
  });

  it('says so where there is no repository', async () => {
    const home = await newHome();
    rmSync(join(home, '.git'), {recursive: true});
    const said = expect.stringContaining('is not in a git repository');
    expect(await agentdir(home, ['log'])).toMatchObject({code: 1, stdout: '', stderr: said});
    const {code, stdout} = await agentdir(home, ['log', '--json']);
    expect([code, JSON.parse(stdout)]).toEqual([1, {error: said, hint: 'make one: agentdir init .'}]);
    const start = await agentdir(home, ['start', '--json']);
    expect([start.code, JSON.parse(start.stdout)]).toEqual([1, {error: said, hint: 'make one: agentdir init .'}]);
  });

  it('an odd file name is written out on its line, and whole in JSON', async () => {
    const odd = 'a\nb\t"é"\x1e\x1f\x07';
    const shown = 'a⟨U+000A⟩b⟨U+0009⟩"é"⟨U+001E⟩⟨U+001F⟩⟨U+0007⟩';
    const home = await newHome({
      [`memory/${odd}.md`]: 'x\n',
      [`tasks/${odd}.task.md`]: '- [?] x\n',
      'templates/y.agent.yaml': 'id: y\ntype: "a\\nb"\nsystem_prompt: p\ncapabilities: ["read\\nfile"]\n',
    });
    const start = await agentdir(home, ['start', '--once']);
    const isLine = /^(?:\d\d:\d\d:\d\d |tasks\/|templates\/| {2}= | +\d* \|)/;
    expect(
      start.stdout
        .trimEnd()
        .split('\n')
        .filter(line => !isLine.test(line)),
    ).toEqual([]);
    expect(start.stdout).toContain(`committed memory(${shown}): created by hand`);
    expect(start.stdout).toContain(`tasks/${shown}.task.md:1:`);
    const checked = (await agentdir(home, ['check'])).stdout;
    expect(checked).toContain(`tasks/${shown}.task.md:1:`);
    expect(checked).toContain('unknown tool "read⟨U+000A⟩file"');
    const needs = readFileSync(join(home, 'NEEDS_YOU.md'), 'utf8');
    expect(needs).toContain('a⟨U+000A⟩b⟨U+0009⟩');
    expect(needs).toContain('unknown tool "read⟨U+000A⟩file"');
    expect((await agentdir(home, ['log'])).stdout).toContain(` memory ${shown}: created by hand`);
    const {stdout} = await agentdir(home, ['log', '--json']);
    const changes = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as {subject: string; paths: string[]});
    expect(changes[0]?.paths).toContain('agentdir.yaml');
    expect(
      changes
        .slice(1)
        .map(({paths}) => paths)
        .sort(),
    ).toEqual([[`memory/${odd}.md`], [`tasks/${odd}.task.md`], ['templates/y.agent.yaml']]);
  });

  it('-f goes on as things happen', async () => {
    const home = await newHome();
    const child = spawn(process.execPath, [main, 'log', '-f', '--json'], {cwd: home, env: environment});
    onTestFinished(() => void child.kill());
    let out = '';
    child.stdout.on('data', chunk => {
      out += chunk;
    });
    await until(
      () => out,
      text => text.includes('created by agentdir init'),
    );
    put(home, {'memory/new.md': 'x\n'});
    await agentdir(home, ['start', '--once']);
    await until(
      () => out,
      text => text.includes('memory(new): created by hand'),
    );
    expect(out.match(/created by agentdir init/g)).toHaveLength(1);
  });
});

describe('agentdir doctor', () => {
  it('finds a good home good, and names what is wrong with what to do', async () => {
    const home = await newHome();
    const good = await agentdir(home, ['doctor']);
    expect(good.code).toBe(0);
    expect(good.stdout).toMatch(/0 problems, \d+ notes?\n$/);
    writeFileSync(join(home, '.git/index.lock'), '');
    const bad = await agentdir(home, ['doctor', '--json'], {...environment, OPENAI_API_KEY: 'short12'});
    expect(bad.code).toBe(1);
    const findings = JSON.parse(bad.stdout) as {name: string; state: string; hint?: string}[];
    expect(findings.filter(({state}) => state === 'bad')).toMatchObject([
      {name: 'repository', hint: expect.stringContaining('index.lock')},
    ]);
    expect(bad.stdout).toContain('OPENAI_API_KEY has fewer than 8 characters');
    expect(good.stdout).not.toContain('OPENAI_API_KEY');
    rmSync(join(home, '.git/index.lock'));
    const branch = (await git(home, 'symbolic-ref', 'HEAD')).trim();
    const locks = ['HEAD.lock', `${branch}.lock`, 'packed-refs.lock'];
    for (const lock of locks) writeFileSync(join(home, '.git', lock), '');
    const {stdout} = await agentdir(home, ['doctor', '--json']);
    for (const lock of locks) expect(stdout).toContain(`rm ${join(home, '.git', lock)}`);
    for (const lock of locks) rmSync(join(home, '.git', lock));
    const object = (await git(home, 'rev-parse', 'HEAD:agentdir.yaml')).trim();
    rmSync(join(home, `.git/objects/${object.slice(0, 2)}/${object.slice(2)}`));
    expect((await agentdir(home, ['doctor'])).stdout).toMatch(/✗ journal +.*missing/);
  });
});

describe('a part of an id', () => {
  const request = (id: string) =>
    `- [x] A @human #approval "Approve more turns"\n  id: ${id}\n  type: approval_request\n  approval_type: budget\n  status: approved\n\n`;

  it('means the session, not the requests for more turns that are named after it; of those, the last', async () => {
    const id = (n: number) => `budget-planner-001-k7x9-20261118T100000000Z-turns-${n}`;
    const home = await newHome({
      'sessions/planner-001-k7x9.session.yaml': 'agent_id: planner-001\nmessages: []\n',
      'tasks/approvals.task.md': `## TODO\n\n${[2, 10, 9].map(n => request(id(n))).join('')}`,
    });
    const shown = async (part: string) => {
      const {code, stdout, stderr} = await agentdir(home, ['show', part, '--json']);
      return code === 0 ? (JSON.parse(stdout) as Record<string, unknown>) : stderr;
    };
    expect(await shown('k7x9')).toMatchObject({kind: 'session', file: 'sessions/planner-001-k7x9.session.yaml'});
    expect(await shown('budget-planner')).toMatchObject({kind: 'approval', id: id(10)});
    expect(await shown('turns')).toMatchObject({kind: 'approval', id: id(10)});
    expect(await shown(id(2))).toMatchObject({kind: 'approval', id: id(2)});
    await agentdir(home, ['start', '--once']);
    expect((await agentdir(home, ['log', 'k7x9'])).stdout).toContain('session planner-001-k7x9: created by hand');
  });
});
