import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {parseSession} from '../../src/formats/session/session.ts';
import {fieldOf} from '../../src/formats/task/task.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {agentdir, git, newHome, until} from '../cli/run.ts';
import {calling, resultsOf} from './calling.ts';
import {openHouse} from './house.ts';
import {read, serve, settled} from './serve.ts';

const SESSION = 'sessions/s.session.yaml';
const TASKS = 'tasks/t.task.md';
/** Nobody is to answer: only what happens to the file is of interest. */
const LEAST = 'agent_id: planner-001\nstatus: paused\nmessages:\n  - role: user\n    content: one\n';

describe('a buffer that was opened before the daemon wrote', () => {
  it('saved later, with more in it: both are in a task file', async () => {
    const buffer = '# Mine\n- [ ] @away/planner "check redis"\n- [ ] @away/planner "b"\n';
    const home = await newHome({[TASKS]: buffer});
    const {events, stop} = await serve(home);
    const full = await settled(home, TASKS, t => (t.match(/created:/g) ?? []).length === 2);
    writeFileSync(
      join(home, TASKS),
      buffer.replace('check redis', 'check redis twice').concat('- [ ] @away/planner "c"\n'),
    );
    const merged = await settled(home, TASKS, t => (t.match(/created:/g) ?? []).length === 3);
    const ids = parseTasks(full).tasks.map(task => fieldOf(task, 'id'));
    expect(parseTasks(merged).tasks.map(task => task.title)).toEqual(['check redis twice', 'b', 'c']);
    expect(
      parseTasks(merged)
        .tasks.map(task => fieldOf(task, 'id'))
        .slice(0, 2),
    ).toEqual(ids);
    expect(events.filter(e => e.event === 'merged')).toHaveLength(1);
    await stop();
  });

  it('saved while no daemon ran: the same at the next start, with or without a cache', async () => {
    for (const cache of [true, false]) {
      const home = await newHome({[TASKS]: '- [ ] @away/planner "a"\n'});
      expect((await agentdir(home, ['start', '--once'])).code).toBe(0);
      const id = fieldOf(parseTasks(read(home, TASKS)).tasks[0] as never, 'id');
      expect(id).toMatch(/^task-/);
      if (!cache) rmSync(join(home, '.agentdir'), {recursive: true});
      writeFileSync(join(home, TASKS), '- [ ] @away/planner "a"\n- [ ] mine\n');
      expect((await agentdir(home, ['start', '--once'])).code).toBe(0);
      const [a, mine] = parseTasks(read(home, TASKS)).tasks;
      expect(a && fieldOf(a, 'id')).toBe(id);
      expect(mine?.title).toBe('mine');
      expect(await git(home, 'status', '--porcelain')).toBe('');
    }
  });

  it('before many versions: it is merged with the one it was made from, not with the next', async () => {
    const buffer = '- [ ] @away/planner "a"\n  id: a\n';
    const home = await newHome({[TASKS]: buffer});
    const version = async (text: string) => {
      writeFileSync(join(home, TASKS), text);
      await git(home, 'add', TASKS);
      await git(home, 'commit', '-qm', 'tasks(t): noted\n\nAgent: planner-001\nCause: settled');
    };
    await version(buffer);
    let text = `${buffer}  created: 2026-01-01T00:00:00.000Z\n`;
    await version(text);
    text += '  notes:\n';
    for (let i = 10; i < 29; i++) {
      text += `    - 2026-01-01T00:00:${i}.000Z @planner-001: note ${i}\n`;
      await version(text);
    }
    const {stop} = await serve(home);
    writeFileSync(join(home, TASKS), buffer.replace('"a"', '"b"'));
    expect(await settled(home, TASKS, t => t.includes('"b"') && t.includes('note 28'))).toBe(
      text.replace('"a"', '"b"'),
    );
    await stop();
  });

  it('does not undo a start mark, a result or `updated` of a session', async () => {
    const home = await newHome({[SESSION]: LEAST});
    expect((await agentdir(home, ['start', '--once'])).code).toBe(0);
    const opened = read(home, SESSION);
    // What a later daemon writes: a call that was started, and its result.
    const worked = `${opened.replace(/updated: .*/, "updated: '2031-01-01T00:00:00.000Z'")}  - role: assistant
    timestamp: '2031-01-01T00:00:00.000Z'
    content: I look.
    tool_calls:
      - id: call_1
        function: {name: read_file, arguments: '{}'}
        started: '2031-01-01T00:00:00.000Z'
  - role: tool_result
    timestamp: '2031-01-01T00:00:00.000Z'
    tool_call_id: call_1
    content: '{"success": true}'
`;
    writeFileSync(join(home, SESSION), worked);
    await git(home, 'commit', '-qam', 'session(s): assistant turn\n\nAgent: planner-001\nCause: turn');
    const {stop} = await serve(home);
    writeFileSync(
      join(home, SESSION),
      opened.replace('content: one', 'content: one, please').concat('  - role: user\n    content: two\n'),
    );
    const merged = await settled(home, SESSION, t => t.includes('call_1') && t.includes('two'));
    const {messages, problems} = parseSession(merged);
    expect(problems).toEqual([]);
    expect(messages.map(({role, content}) => `${role}: ${content}`)).toEqual([
      'user: one, please',
      'assistant: I look.',
      'tool_result: {"success": true}',
      'user: two',
    ]);
    expect(messages[1]?.tool_calls?.[0]?.started).toBe('2031-01-01T00:00:00.000Z');
    await stop();
  });

  it('is not what a person makes who takes back what they added, or most of the file', async () => {
    const home = await newHome({[TASKS]: '- [ ] @away/planner "a"\n'});
    const {events, stop} = await serve(home);
    const one = await settled(home, TASKS, t => t.includes('created:'));
    for (let i = 0; i < 2; i++) {
      writeFileSync(join(home, TASKS), `${one}- [ ] @away/planner "b"\n- [x] c\n`);
      await settled(home, TASKS, t => t.includes('completed:') && (t.match(/id:/g) ?? []).length === 2);
      // In an editor that was not reloaded, or that was: all the same.
      writeFileSync(join(home, TASKS), one);
      await settled(home, TASKS, t => t === one);
    }
    expect(events.filter(e => e.event === 'merged')).toEqual([]);
    await stop();
  });

  it('is kept in conflicts/ where both changed the same thing, and is a problem until it is removed', async () => {
    const home = await newHome({[TASKS]: '- [ ] @away/planner "a"\n'});
    const {stop} = await serve(home);
    const full = await settled(home, TASKS, t => t.includes('created:'));
    const mine = '- [ ] @away/planner "a"\n  id: my-own-id\n';
    writeFileSync(join(home, TASKS), mine);
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text.includes('UNMERGED'),
    );
    await settled(home, TASKS, t => t === full);
    const [copy = ''] = readdirSync(join(home, 'conflicts/tasks'));
    expect(read(home, `conflicts/tasks/${copy}`)).toBe(mine);
    expect(await git(home, 'show', `HEAD:conflicts/tasks/${copy}`)).toBe(mine);
    rmSync(join(home, 'conflicts'), {recursive: true});
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => !text.includes('UNMERGED'),
    );
    await stop();
  });
});

describe('a buffer of a file of the memory', () => {
  const PREFS = 'memory/team-prefs.md';
  const house = openHouse(() => ({
    'templates/talker.agent.yaml': 'id: talker\ntype: talker\nsystem_prompt: You read.\ncapabilities: [remember]\n',
    'allowlist.yaml': 'version: 1\ntools: {remember: allow}\n',
  }));
  const remember = async (id: string, text: string) => {
    calling(house, id, [{name: 'remember', arguments: {file: 'team-prefs', text}}]);
    expect(await resultsOf(house, id)).toEqual([{success: true, path: PREFS}]);
  };

  it('undoes no note that agents left since, wherever the person wrote; a note that is taken out stays out', async () => {
    const {home} = house;
    const first = read(home, PREFS);
    await remember('one', 'Redis moved to 6380.\nAll of it.');
    writeFileSync(join(home, PREFS), first.replace('\n', '\nmine, above\n'));
    const second = await settled(home, PREFS, t => t.includes('mine, above') && t.includes('6380.\n  All of it.\n'));
    await remember('two', 'Postgres moved to 5433.');
    writeFileSync(join(home, PREFS), `${second}\nmine, below\n`);
    const both = await settled(home, PREFS, t => t.includes('mine, below') && t.includes('5433') && t.includes('6380'));
    const without = both.replace(/\n- [^\n]*5433.\n/, '');
    writeFileSync(join(home, PREFS), without);
    await settled(home, PREFS, t => t === without);
    expect(house.daemon.events.filter(({event}) => event === 'merged')).toHaveLength(2);
  });

  it('undoes no note while the branch is locked, so that git lacks the note', async () => {
    const {home} = house;
    const first = read(home, PREFS);
    const merges = () => house.daemon.events.filter(({event}) => event === 'merged').length;
    const before = merges();
    const lock = join(home, '.git', `${(await git(home, 'symbolic-ref', 'HEAD')).trim()}.lock`);
    writeFileSync(lock, '');
    try {
      await remember('locked', 'Grafana moved to 3001.');
      writeFileSync(join(home, PREFS), first.replace('\n', '\nmine, meanwhile\n'));
      await until(merges, count => count > before);
      expect(read(home, PREFS)).toMatch(/mine, meanwhile[\s\S]*3001/);
    } finally {
      rmSync(lock);
    }
  });
});

describe('a file that was emptied', () => {
  it('is no save from a stale buffer, however short its first version was', async () => {
    const home = await newHome({[TASKS]: '- [ ] @away/planner "a"\n'});
    expect((await agentdir(home, ['start', '--once'])).code).toBe(0);
    writeFileSync(join(home, TASKS), `${read(home, TASKS)}- [ ] @away/planner "b"\n`);
    expect((await agentdir(home, ['start', '--once'])).code).toBe(0);
    writeFileSync(join(home, TASKS), '');
    expect((await agentdir(home, ['start', '--once'])).code).toBe(0);
    expect(read(home, TASKS)).toBe('');
    expect(await git(home, 'show', `HEAD:${TASKS}`)).toBe('');
  });
});

describe('a buffer from after the daemon wrote, saved when somebody at a shell has written since', () => {
  it('undoes neither a message nor its own change', async () => {
    const home = await newHome({[SESSION]: LEAST});
    const {stop} = await serve(home);
    const buffer = await settled(home, SESSION, t => t.includes('updated:'));
    appendFileSync(join(home, SESSION), '  - role: user\n    content: IMPORTANT\n');
    await settled(home, SESSION, t => (t.match(/timestamp:/g) ?? []).length === 2);
    writeFileSync(join(home, SESSION), buffer.replace('status: active', 'status: paused'));
    const merged = await settled(home, SESSION, t => t.includes('paused') && t.includes('IMPORTANT'));
    writeFileSync(join(home, SESSION), merged.replace(/ {2}- role: user\n {4}content: IMPORTANT\n(?: {4}.*\n)*/, ''));
    // Made from what is there, a removal is a removal.
    await settled(home, SESSION, t => !t.includes('IMPORTANT'));
    // Both append.
    const now = read(home, SESSION);
    appendFileSync(join(home, SESSION), '  - role: user\n    content: from the shell\n');
    await settled(home, SESSION, t => (t.match(/timestamp:/g) ?? []).length === 2);
    writeFileSync(join(home, SESSION), `${now}  - role: user\n    content: from the editor\n`);
    await settled(home, SESSION, t => t.includes('from the shell') && t.includes('from the editor'));
    await stop();
  });

  it('undoes no tick', async () => {
    const home = await newHome({[TASKS]: '## TODO\n- [ ] @away/planner "A"\n- [ ] @away/planner "B"\n'});
    const {stop} = await serve(home);
    const buffer = await settled(home, TASKS, t => (t.match(/created:/g) ?? []).length === 2);
    writeFileSync(join(home, TASKS), buffer.replace('- [ ] @away/planner "A"', '- [x] @away/planner "A"'));
    const ticked = await settled(home, TASKS, t => t.includes('completed:'));
    writeFileSync(join(home, TASKS), buffer.replace('"B"', '"B new"'));
    await settled(home, TASKS, t => t === ticked.replace('"B"', '"B new"'));
    writeFileSync(join(home, TASKS), buffer);
    await settled(home, TASKS, t => t.includes('[x] @away/planner "A"') && t.includes('completed:'));
    await stop();
  });
});

describe('what git brings back is meant', () => {
  it('a revert of what the daemon filled in stands until there is a reason to fill in again', async () => {
    const home = await newHome({[TASKS]: '- [x] done\n'});
    const {events, stop} = await serve(home);
    await settled(home, TASKS, t => t.includes('completed:'));
    await git(home, 'revert', '--no-edit', 'HEAD');
    // The box still says it is done, so a time is filled in anew; nothing was merged back.
    await until(
      () => git(home, 'log', '--format=%s'),
      log => (log.match(/filled in/g) ?? []).length === 3,
    );
    expect(events.filter(e => e.event === 'merged')).toEqual([]);
    await stop();
  });
});

describe('an editor that writes into the file which the daemon has just replaced', () => {
  it('loses nothing', async () => {
    const home = await newHome({[SESSION]: LEAST});
    const fd = openSync(join(home, SESSION), 'r+');
    const {stop} = await serve(home);
    await settled(home, SESSION, t => t.includes('updated:'));
    // Still the old file.
    writeSync(fd, `${LEAST}  - role: user\n    content: late\n`, 0);
    closeSync(fd);
    const merged = await settled(home, SESSION, t => t.includes('late'));
    expect(parseSession(merged).messages.map(({content}) => content)).toEqual(['one', 'late']);
    expect(merged).toContain('updated:');
    await until(
      () => readdirSync(join(home, '.agentdir/replaced')),
      left => left.length === 0,
    );
    await stop();
  });

  it('undoes nothing either if it showed an older version than that', async () => {
    const home = await newHome();
    const {stop} = await serve(home);
    const buffer = '- [ ] @away/planner "a"\n  id: t1\n';
    writeFileSync(join(home, TASKS), buffer);
    await settled(home, TASKS, t => t.includes('created:'));
    expect((await agentdir(home, ['task', 'note', 't1', 'first words'])).code).toBe(0);
    await settled(home, TASKS, t => t.includes('first words'));
    // It begins to save, and meanwhile another file takes the place of this one.
    const fd = openSync(join(home, TASKS), 'r+');
    expect((await agentdir(home, ['task', 'note', 't1', 'more words'])).code).toBe(0);
    await settled(home, TASKS, t => t.includes('more words'));
    ftruncateSync(fd);
    writeSync(fd, `${buffer}- [ ] @away/planner "b"\n`, 0);
    closeSync(fd);
    const merged = await settled(home, TASKS, t => t.match(/^ {2}created: /gm)?.length === 2);
    const [a, b] = parseTasks(merged).tasks;
    expect(a?.notes.map(({text}) => text)).toEqual(['first words', 'more words']);
    expect([a && fieldOf(a, 'created') !== undefined, b?.title]).toEqual([true, 'b']);
    await stop();
  });

  it('however slowly it writes', async () => {
    const home = await newHome();
    const {stop} = await serve(home);
    const path = join(home, TASKS);
    const fd = openSync(path, 'w');
    writeSync(fd, '- [ ] @away/planner "first"\n');
    await settled(home, TASKS, t => t.includes('id:'));
    // Longer than an editor takes: it is the open file that counts.
    await new Promise(resolve => setTimeout(resolve, 4_000));
    writeSync(fd, '- [ ] second\n');
    closeSync(fd);
    const merged = await settled(home, TASKS, t => t.includes('second'));
    expect(merged).toMatch(/^- \[ \] @away\/planner "first"\n {2}id: .*\n {2}created: .*\n- \[ \] second\n$/);
    await stop();
  });
});
