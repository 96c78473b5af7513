import {type ChildProcess, spawn} from 'node:child_process';
import {readFileSync, rmSync, truncateSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {describe, expect, it, onTestFinished} from 'vitest';
import {agentdir, environment, git, main, newHome, put, until} from './run.ts';

interface Served {
  child: ChildProcess;
  events: {event: string; [key: string]: unknown}[];
  stop: () => Promise<number | null>;
}

async function serve(home: string): Promise<Served> {
  const child = spawn(process.execPath, [main, 'start', '--json'], {
    cwd: home,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const events: Served['events'] = [];
  createInterface({input: child.stdout as NodeJS.ReadableStream}).on('line', line =>
    events.push(JSON.parse(line) as Served['events'][number]),
  );
  const exited = new Promise<number | null>(resolve => child.once('exit', code => resolve(code)));
  const stop = () => {
    child.kill('SIGTERM');
    return exited;
  };
  onTestFinished(async () => {
    if (child.exitCode === null) child.kill('SIGKILL');
    await exited;
  });
  await until(
    () => events,
    seen => seen.some(e => e.event === 'serving'),
  );
  return {child, events, stop};
}

const log = (home: string) => git(home, 'log', '--format=%an|%s', '--name-only');

describe('agentdir start --once', () => {
  it('on a fresh home exits 0 and commits nothing', async () => {
    const home = await newHome();
    expect((await agentdir(home, ['start', '--once'])).code).toBe(0);
    expect(await git(home, 'rev-list', '--count', 'HEAD')).toBe('1\n');
  });

  it('commits each edit as the person’s, one by one, and nothing that is none of its business', async () => {
    const home = await newHome({
      'tasks/a.task.md': '## TODO\n- [ ] x\n',
      'notes.txt': 'mine',
      'memory/new.md': '# New\n',
      'inbox/x.jsonl': '{"direction":"out","text":"hi"}\n',
    });
    await git(home, 'add', 'notes.txt');
    expect((await agentdir(home, ['start', '--once'])).code).toBe(0);
    expect((await log(home)).split('Ada|').slice(1, 3).sort()).toEqual([
      'memory(new): created by hand\n\nmemory/new.md\n',
      'tasks(a): created by hand\n\ntasks/a.task.md\n',
    ]);
    expect(await git(home, 'status', '--porcelain')).toBe('A  notes.txt\n');
  });

  it('exits 1 if it could not commit', async () => {
    const home = await newHome({'memory/a.md': 'a\n'});
    writeFileSync(join(home, '.git/index.lock'), '');
    const {code, stdout} = await agentdir(home, ['start', '--once']);
    expect(code).toBe(1);
    expect(stdout).toContain('index.lock');
    rmSync(join(home, '.git/index.lock'));
    expect((await agentdir(home, ['start', '--once'])).code).toBe(0);
    expect(await git(home, 'status', '--porcelain')).toBe('');
  });

  it('does not wait for ever for what only a person can end', async () => {
    const home = await newHome({'tasks/a.task.md': '- [ ] @away/planner "x"\n'});
    truncateSync(join(home, 'tasks/a.task.md'), 70 * 1024 * 1024);
    expect((await agentdir(home, ['start', '--once'])).code).toBe(4);
    put(home, {'tasks/a.task.md': '- [ ] @away/planner "x"\n'});
    // A rebase: nothing is committed, and nothing completed.
    put(home, {'.git/rebase-merge/head-name': 'refs/heads/x\n'});
    expect((await agentdir(home, ['start', '--once'])).code).toBe(1);
    expect(readFileSync(join(home, 'tasks/a.task.md'), 'utf8')).toBe('- [ ] @away/planner "x"\n');
    rmSync(join(home, '.git/rebase-merge'), {recursive: true});
    expect((await agentdir(home, ['start', '--once'])).code).toBe(0);
    expect(readFileSync(join(home, 'tasks/a.task.md'), 'utf8')).toContain('id: ');
  });

  it('exits 3 if something waits for a human, 4 if a file has errors, 1 if a session is in error', async () => {
    const home = await newHome({'tasks/a.task.md': '## TODO\n- [ ] @human "decide"\n'});
    expect((await agentdir(home, ['start', '--once'])).code).toBe(3);
    put(home, {'tasks/b.task.md': '## TODO\n- [?] x\n'});
    expect((await agentdir(home, ['start', '--once'])).code).toBe(4);
    put(home, {'sessions/s.session.yaml': 'agent_id: planner-001\nstatus: error\nmessages: []\n'});
    expect((await agentdir(home, ['start', '--once'])).code).toBe(1);
  });
});

describe('agentdir start', () => {
  it('sees an edit, says what is wrong, sees it mended, and commits what the person did', async () => {
    const home = await newHome();
    const {events, stop} = await serve(home);
    const session = join(home, 'sessions/s.session.yaml');
    writeFileSync(session, 'agent_id: planner-001\nstatus: actve\nmessages: []\n');
    await until(
      () => events,
      seen => seen.some(e => e.event === 'problem' && (e.problem as {code: string}).code === 'BAD_STATUS'),
    );
    writeFileSync(session, 'agent_id: planner-001\nstatus: active\nmessages: []\n');
    await until(
      () => events,
      seen => seen.some(e => e.event === 'cleared'),
    );
    await until(
      () => git(home, 'show', 'HEAD:sessions/s.session.yaml').catch(() => ''),
      text => text === readFileSync(session, 'utf8') && /^status: sleeping$/m.test(text),
    );
    rmSync(session);
    await until(
      () => git(home, 'log', '-1', '--format=%s'),
      subject => subject === 'session(s): removed by hand\n',
    );
    expect(await stop()).toBe(0);
    expect(events.at(-1)?.event).toBe('stopped');
  });

  it('waits while the person is in the middle of a git command', async () => {
    const home = await newHome();
    const {events, stop} = await serve(home);
    writeFileSync(join(home, '.git/MERGE_HEAD'), `${(await git(home, 'rev-parse', 'HEAD')).trim()}\n`);
    put(home, {'memory/a.md': 'a\n'});
    await until(
      () => events,
      seen => seen.some(e => e.event === 'trouble'),
    );
    expect(await git(home, 'rev-list', '--count', 'HEAD')).toBe('1\n');
    rmSync(join(home, '.git/MERGE_HEAD'));
    await until(
      () => git(home, 'rev-list', '--count', 'HEAD'),
      count => count === '2\n',
    );
    await stop();
  });

  it('commits on the branch the person is on, and in a home below the top of a repository', async () => {
    const home = await newHome();
    await git(home, 'checkout', '-q', '-b', 'mine');
    put(home, {'memory/a.md': 'a\n'});
    await agentdir(home, ['start', '--once']);
    expect(await git(home, 'log', '-1', '--format=%D %s')).toContain('mine');
    const sub = join(home, 'deep');
    put(home, {'deep/agentdir.yaml': 'format: 1\n', 'deep/memory/b.md': 'b\n', 'deep/other.txt': 'x'});
    expect((await agentdir(sub, ['start', '--once'])).code).toBe(0);
    expect(await git(home, 'status', '--porcelain', '-uall')).toBe('?? deep/other.txt\n');
  });
});

describe('a name with the characters of a pattern', () => {
  it('is that file alone', async () => {
    const home = await newHome({'memory/[a].md': 'x\n', 'memory/a.md': 'y\n'});
    expect((await agentdir(home, ['start', '--once'])).code).toBe(0);
    expect(await git(home, 'log', '-2', '--format=%s', '--name-only')).toBe(
      'memory(a): created by hand\n\nmemory/a.md\nmemory([a]): created by hand\n\nmemory/[a].md\n',
    );
    expect(await git(home, 'status', '--porcelain')).toBe('');
  });
});
