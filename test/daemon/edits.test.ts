import {appendFileSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {parseSession} from '../../src/formats/session/session.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {agentdir, git, newHome, put, until} from '../cli/run.ts';
import {clean, read, serve, settled, subjects} from './serve.ts';

/** Nobody is to answer: only what happens to the file is of interest. */
const LEAST = 'agent_id: planner-001 # mine\nstatus: paused\nmessages:\n  - role: user\n    content: Is Redis up?\n';

describe('what a person leaves out is filled in', () => {
  it('in a session: around what is there, as a commit of its own', async () => {
    const home = await newHome();
    const {stop} = await serve(home);
    put(home, {'sessions/s1.session.yaml': LEAST});
    const text = await settled(home, 'sessions/s1.session.yaml', t => t.includes('updated:'));
    const {header, messages, problems} = parseSession(text);
    expect(problems).toEqual([]);
    expect(header).toMatchObject({
      session_id: 's1',
      agent_id: 'planner-001',
      agent_type: 'planner',
      model: 'default',
      status: 'paused',
    });
    expect(header?.system_prompt).toContain('plan');
    expect(messages).toMatchObject([{role: 'user', content: 'Is Redis up?', from: 'human'}]);
    expect(messages[0]?.timestamp).toMatch(/^\d{4}-/);
    // Every line of the person's is still there, in order.
    let at = 0;
    for (const line of LEAST.split('\n')) {
      expect(text.indexOf(line, at)).toBeGreaterThanOrEqual(0);
      at = text.indexOf(line, at);
    }
    const [first, second, ...rest] = await subjects(home);
    expect(first).toBe('Ada: session(s1): created by hand');
    expect(second).toMatch(/^agentdir: session\(s1\): filled in session_id, /);
    expect(rest).toEqual([]);
    expect(await git(home, 'show', 'HEAD~1:sessions/s1.session.yaml')).toBe(LEAST);
    expect(
      await git(home, 'log', '-1', '--format=%(trailers:key=Session,valueonly)%(trailers:key=Agent,valueonly)'),
    ).toMatch(/s1\n+planner-001/);
    await stop();
  });

  it('in tasks: ids and times, and what a box means', async () => {
    const home = await newHome();
    const {stop} = await serve(home);
    put(home, {'tasks/a.task.md': '# Mine\n\n- [ ] @away/planner "x"\n- [ ] a list of my own\n- [x] done\n\nProse.\n'});
    const text = await settled(home, 'tasks/a.task.md', t => t.includes('completed:'));
    const [assigned, own, done] = parseTasks(text).tasks;
    expect(assigned?.fields.map(f => f.key)).toEqual(['id', 'created']);
    expect(own?.fields).toEqual([]);
    expect(done?.fields.map(f => f.key)).toEqual(['completed']);
    expect(text.endsWith('\n\nProse.\n')).toBe(true);
    // Ticked, then set back.
    writeFileSync(join(home, 'tasks/a.task.md'), text.replace('- [ ] @away/planner', '- [x] @away/planner'));
    const ticked = await settled(home, 'tasks/a.task.md', t => (t.match(/completed:/g) ?? []).length === 2);
    writeFileSync(join(home, 'tasks/a.task.md'), ticked.replace('- [x] @away/planner', '- [ ] @away/planner'));
    const back = await settled(home, 'tasks/a.task.md', t => (t.match(/completed:/g) ?? []).length === 1);
    expect(back).toBe(text);
    await stop();
  });

  it('not in a file with errors; and at once when they are gone, also by another file', async () => {
    const home = await newHome();
    const {events, stop} = await serve(home);
    put(home, {'sessions/s.session.yaml': LEAST.replace('planner-001', 'nobody-7')});
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text.includes('MISSING_TEMPLATE'),
    );
    expect(read(home, 'sessions/s.session.yaml')).toBe(LEAST.replace('planner-001', 'nobody-7'));
    put(home, {
      'templates/nobody-7.agent.yaml': 'id: nobody-7\ntype: x\nsystem_prompt: Be.\ncapabilities: [read_file]\n',
    });
    await settled(home, 'sessions/s.session.yaml', t => t.includes('system_prompt: Be.'));
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => !text.includes('MISSING_TEMPLATE'),
    );
    expect(events.filter(e => e.event === 'problem')).toHaveLength(1);
    expect(events.filter(e => e.event === 'cleared')).toHaveLength(1);
    await stop();
  });
});

describe('a file that is wrong for a while', () => {
  it.each([
    ['sessions/s.session.yaml', LEAST, 'agent_id: planner-001\nmessages: [\n'],
    ['tasks/t.task.md', '- [ ] @human "x"\n', '- [ ] @human "x"\n- [?] y\n```\n'],
  ])('%s: nothing acted on, nothing lost, one problem shown and cleared', async (path, good, bad) => {
    const home = await newHome({[path]: good});
    const {events, stop} = await serve(home);
    const full = await settled(home, path, t => t !== good);
    writeFileSync(join(home, path), bad);
    await settled(home, path, t => t === bad);
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => /^## (Files|Tasks) with errors/m.test(text),
    );
    writeFileSync(join(home, path), full);
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => !/^## (Files|Tasks) with errors/m.test(text),
    );
    await settled(home, path, t => t === full);
    const problems = events.filter(e => e.event === 'problem');
    expect(events.filter(e => e.event === 'cleared')).toHaveLength(problems.length);
    expect(await git(home, 'show', `HEAD~1:${path}`)).toBe(bad);
    await stop();
  });

  it('torn for less than a second: never shown, never committed', async () => {
    const home = await newHome({'tasks/t.task.md': '- [ ] @away/planner "x"\n- [ ] @away/planner "y"\n'});
    const {events, stop} = await serve(home);
    const full = await settled(home, 'tasks/t.task.md', t => (t.match(/created:/g) ?? []).length === 2);
    const count = await git(home, 'rev-list', '--count', 'HEAD');
    for (const part of ['', full.slice(0, 20), full.slice(0, 60)]) {
      writeFileSync(join(home, 'tasks/t.task.md'), part);
      await until(
        () => events.filter(e => e.event === 'seen').length,
        n => n > 0,
      );
      events.length = 0;
    }
    rmSync(join(home, 'tasks/t.task.md'));
    writeFileSync(join(home, 'tasks/t.task.md'), full);
    put(home, {'memory/after.md': 'x\n'});
    await settled(home, 'memory/after.md', t => t === 'x\n');
    expect(await git(home, 'rev-list', '--count', 'HEAD')).toBe(`${Number(count) + 1}\n`);
    expect(events.filter(e => e.event === 'problem')).toEqual([]);
    await stop();
  });
});

describe('however an editor saves', () => {
  const savers: Record<string, (path: string, text: string) => void> = {
    'in place': (path, text) => writeFileSync(path, text),
    'emptied, then in pieces': (path, text) => {
      writeFileSync(path, '');
      for (let at = 0; at < text.length; at += 7) appendFileSync(path, text.slice(at, at + 7));
    },
    'a new file renamed over it (sed -i, VS Code atomic)': (path, text) => {
      writeFileSync(`${path}.tmp`, text);
      renameSync(`${path}.tmp`, path);
    },
    'the old one moved away first (vim, emacs)': (path, text) => {
      renameSync(path, `${path}~`);
      writeFileSync(path, text);
      rmSync(`${path}~`);
    },
  };
  it.each(Object.entries(savers))('%s: each save is committed whole, none is lost', async (_name, save) => {
    const home = await newHome({'memory/m.md': 'start\n'});
    const {stop} = await serve(home);
    await settled(home, 'memory/m.md', t => t === 'start\n');
    let text = 'start\n';
    for (let i = 0; i < 8; i++) {
      text += `line ${i} ${'x'.repeat(40)}\n`;
      save(join(home, 'memory/m.md'), text);
      // The next save comes 10 to 40 ms later, as a nervous person's would.
      if (i % 2) await clean(home);
      else await new Promise(resolve => setTimeout(resolve, 10 + i * 4));
    }
    await settled(home, 'memory/m.md', t => t === text);
    expect(await git(home, 'show', 'HEAD:memory/m.md')).toBe(text);
    const versions = (await git(home, 'log', '--format=%H', '--', 'memory/m.md')).trim().split('\n');
    for (const version of versions) {
      const then = await git(home, 'show', `${version}:memory/m.md`);
      expect(text.startsWith(then) && then.endsWith('\n') && then !== '').toBe(true);
    }
    await stop();
  });
});

describe('without the watch', () => {
  it('the scan alone leads to the same', async () => {
    const home = await newHome();
    const {stop} = await serve(home, {AGENTDIR_NO_WATCH: '1'});
    put(home, {'sessions/deep/er/s1.session.yaml': LEAST, 'tasks/a.task.md': '- [x] @away/planner "x"\n'});
    await settled(home, 'sessions/deep/er/s1.session.yaml', t => t.includes('updated:'));
    await settled(home, 'tasks/a.task.md', t => t.includes('completed:'));
    rmSync(join(home, 'tasks/a.task.md'));
    await until(
      () => git(home, 'log', '-1', '--format=%s'),
      subject => subject === 'tasks(a): removed by hand\n',
    );
    await stop();
    expect((await agentdir(home, ['start', '--once'])).code).toBe(0);
    expect(await git(home, 'status', '--porcelain')).toBe('');
  });
});

describe('NEEDS_YOU.md', () => {
  it('names what waits for a person, and what does not any more', async () => {
    const home = await newHome();
    const {stop} = await serve(home);
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text !== '',
    );
    put(home, {'tasks/h.task.md': '- [ ] @human "Choose a name"\n'});
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text.includes('Choose a name') && text.includes('(tasks/h.task.md#L1)'),
    );
    const path = join(home, 'tasks/h.task.md');
    await settled(home, 'tasks/h.task.md', t => t.includes('id:'));
    writeFileSync(path, readFileSync(path, 'utf8').replace('[ ]', '[x]'));
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => !text.includes('Choose a name'),
    );
    expect(await git(home, 'check-ignore', 'NEEDS_YOU.md')).toBe('NEEDS_YOU.md\n');
    await stop();
  });
});
