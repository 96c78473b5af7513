import {mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {parseSession} from '../../src/formats/session/session.ts';
import {listSessions} from '../../src/home/session-files.ts';
import {committed, serve, settled, subjects} from '../daemon/serve.ts';
import {installed, terminal} from '../daemon/terminal.ts';
import {agentdir, git, main, newHome, startAgentdir} from './run.ts';

const read = (home: string, path: string) => readFileSync(join(home, path), 'utf8');
/** What people said in it. */
const contents = (home: string, path: string) =>
  parseSession(read(home, path)).messages.flatMap(({role, content}) => (role === 'user' ? [content] : []));

interface Sent {
  session: string;
  path: string;
  message: {timestamp: string; role: string; from: string; content: string};
}

async function sent(home: string, ...args: string[]): Promise<Sent> {
  const {code, stdout, stderr} = await agentdir(home, ['send', '--json', ...args]);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Sent;
}

const written = (status: string, more = '') => `# mine
agent_id: planner-001
status: ${status}   # kept
${more}messages:
  - role: user
    content: first   # also kept
`;

describe('agentdir send', () => {
  it('makes the shared session of the default agent, complete, and goes on with it', async () => {
    const home = await newHome();
    const first = await sent(home, 'Is', 'Redis up?');
    expect(first.path).toMatch(/^sessions\/planner-001\/planner-001-[0-9a-hjkmnp-tv-z]{12}\.session\.yaml$/);
    expect(first.message).toMatchObject({role: 'user', from: 'human', content: 'Is Redis up?'});
    const text = read(home, first.path);
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=../../schemas/session.json');
    const {header, problems} = parseSession(text);
    expect(problems).toEqual([]);
    expect(header).toMatchObject({
      session_id: first.session,
      agent_id: 'planner-001',
      agent_type: 'planner',
      model: 'default',
      status: 'active',
      shared: true,
      created: first.message.timestamp,
      updated: first.message.timestamp,
    });
    expect(header?.system_prompt).toContain('planner');
    const second = await sent(home, 'And now?', '--to', '@planner');
    expect(second.path).toBe(first.path);
    expect(contents(home, first.path)).toEqual(['Is Redis up?', 'And now?']);
    expect((await agentdir(home, ['check'])).code).toBe(0);
  });

  it('changes the lines it must and no others', async () => {
    const home = await newHome({'sessions/deep/mine.session.yaml': written('sleeping')});
    const {message} = await sent(home, 'second', '--session', 'mine');
    expect(read(home, 'sessions/deep/mine.session.yaml')).toBe(`# mine
agent_id: planner-001
status: active   # kept
messages:
  - role: user
    content: first   # also kept
  - timestamp: '${message.timestamp}'
    role: user
    from: human
    content: second
`);
  });

  it.each([
    ['error', 'error: no key\n', 'active'],
    ['paused', '', 'paused'],
    ['waiting', 'waiting_for: approval-1\n', 'waiting'],
    ['active', '', 'active'],
  ])('to a session that is %s', async (before, more, after) => {
    const home = await newHome({'sessions/mine.session.yaml': written(before, more)});
    const {code, stderr} = await agentdir(home, ['send', 'go on', '--session', 'mine']);
    expect(code).toBe(0);
    const {header} = parseSession(read(home, 'sessions/mine.session.yaml'));
    expect(header?.status).toBe(after);
    expect(header?.error).toBeUndefined();
    if (before === 'paused') expect(stderr).toContain('is paused');
    if (before === 'waiting') expect(stderr).toContain('is waiting for your decision on approval-1');
  });

  it('refuses a session that is completed, and says what to do; another shared one is made', async () => {
    const home = await newHome({'sessions/mine.session.yaml': written('completed', 'shared: true\n')});
    const before = read(home, 'sessions/mine.session.yaml');
    expect(await agentdir(home, ['send', 'x', '--session', 'mine'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('agentdir new planner-001'),
    });
    expect(read(home, 'sessions/mine.session.yaml')).toBe(before);
    expect((await sent(home, 'x')).session).not.toBe('mine');
  });

  it('a shared session is found wherever it lies, with its keys below the messages too', async () => {
    const long = `${'words '.repeat(20)}\n  `.repeat(150);
    const home = await newHome({
      'sessions/a/other.session.yaml': written('sleeping'),
      'sessions/b/mine.session.yaml': `${written('sleeping')}  - role: assistant\n    content: |\n      ${long.replaceAll('\n', '\n    ')}\nshared: true\n`,
    });
    expect((await sent(home, 'x')).session).toBe('mine');
    const {code, stderr} = await agentdir(home, ['new', 'planner-001', '--shared']);
    expect({code, stderr}).toMatchObject({code: 1, stderr: expect.stringContaining('sessions/b/mine.session.yaml')});
  });

  it('an agent with "context: fresh" gets a new session each time', async () => {
    const template = 'id: fresh\ntype: t\nsystem_prompt: Be fresh.\ncontext: fresh\ncapabilities: [read_file]\n';
    const home = await newHome({'templates/fresh.agent.yaml': template});
    const first = await sent(home, 'one', '--to', 'fresh');
    expect((await sent(home, 'two', '--to', 'fresh')).path).not.toBe(first.path);
    expect(parseSession(read(home, first.path)).header?.shared).toBeUndefined();
  });

  it('reads the message from a pipe', async () => {
    const home = await newHome();
    const text = 'two lines:\n  - "quoted" #1\n\u001b[31m€ 😀';
    expect((await startAgentdir(home, ['send', '--json'], `${text}\n`).ended).code).toBe(0);
    expect((await startAgentdir(home, ['send', '-'], '- dash').ended).code).toBe(0);
    expect(contents(home, listSessions(home)[0]?.path ?? '')).toEqual([text, '- dash']);
    expect(await startAgentdir(home, ['send'], '\n').ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('nothing to send'),
    });
  });

  describe.skipIf(!installed('script'))('on a terminal, without a text', () => {
    /** An editor that writes this above what it is given, and keeps a copy of that. */
    const editor = (home: string, text: string) => {
      const place = join(dirname(home), 'editor');
      const script = `#!/bin/sh\ncp "$1" ${place}.given\n{ printf '%s' '${text}'; cat ${place}.given; } > "$1"\n`;
      writeFileSync(place, script, {mode: 0o755});
      return {given: () => readFileSync(`${place}.given`, 'utf8'), env: `env EDITOR=${place}`};
    };

    it('opens the editor, and sends what was written without the comment lines', async () => {
      const home = await newHome();
      const {given, env} = editor(home, 'Is Redis up?\n\n# mine\n  and Postgres?\n');
      const screen = terminal(home, `${env} ${process.execPath} ${main} send --to planner`);
      await screen.shows(/sent to planner-001-/);
      expect(await screen.exited).toBe(0);
      expect(given()).toMatch(/^\n# Message to planner-001 in .*\n# Lines that start with # are ignored\./);
      expect(contents(home, listSessions(home)[0]?.path ?? '')).toEqual(['Is Redis up?\n\n  and Postgres?']);
    });

    it('sends no empty message, opens no editor for an unknown agent, and keeps a message that cannot be sent', async () => {
      const home = await newHome({'sessions/done.session.yaml': written('completed')});
      const nothing = terminal(home, `${editor(home, '# only this\n').env} ${process.execPath} ${main} send`);
      await nothing.shows(/the message is empty, so nothing was sent/);
      expect(await nothing.exited).toBe(1);
      expect(listSessions(home)).toHaveLength(1);
      const {env} = editor(home, 'Long thoughts\n');
      const unknown = terminal(home, `${env} ${process.execPath} ${main} send --to nobody`);
      await unknown.shows(/no agent "nobody"/);
      const kept = terminal(home, `${env} ${process.execPath} ${main} send --session done`);
      const [, path = ''] = /kept in (\S+)/.exec(await kept.shows(/kept in \S+\.md/)) ?? [];
      expect(readFileSync(path, 'utf8')).toBe('Long thoughts\n');
      rmSync(dirname(path), {recursive: true});
      await kept.shows(/done is completed/);
    });
  });

  it('works without a daemon, and says so; --wait exits 5 with the message written', async () => {
    const home = await newHome();
    expect(await agentdir(home, ['send', 'one'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('sent to planner-001-'),
      stderr: expect.stringContaining('agentdir start'),
    });
    expect((await agentdir(home, ['send', 'two', '--wait'])).code).toBe(5);
    const {code, stdout} = await agentdir(home, ['send', 'three', '--wait', '--json']);
    expect(code).toBe(5);
    expect(JSON.parse(stdout)).toMatchObject({answer: null, usage: null, status: 'active'});
    expect(contents(home, listSessions(home)[0]?.path ?? '')).toEqual(['one', 'two', 'three']);
  });

  it('tells an agent or session that is not there, or not clear, or has errors', async () => {
    const home = await newHome({
      'sessions/red-1.session.yaml': written('sleeping'),
      'sessions/red-2.session.yaml': written('sleeping'),
      'sessions/broken.session.yaml':
        'agent_id: executor-001\nshared: true\nstatus: actve\nmessages:\n  - role: user\n    content: x\n',
      'templates/odd.agent.yaml': 'id: odd\ntype: x\n',
    });
    const failing = async (code: number, said: string, ...args: string[]) =>
      expect(await agentdir(home, ['send', 'x', ...args])).toMatchObject({code, stderr: expect.stringContaining(said)});
    await failing(2, 'did you mean planner-001?', '--to', 'planer-001');
    await failing(2, '"001" is ambiguous: evaluator-001', '--to', '001');
    await failing(2, '"red" is ambiguous: red-1, red-2', '--session', 'red');
    await failing(2, 'no session "blue"', '--session', 'blue');
    await failing(2, 'is a session of planner-001', '--session', 'red-1', '--to', 'executor-001');
    await failing(4, 'sessions/broken.session.yaml:3:9: status: expected active', '--session', 'broken');
    await failing(4, 'sessions/broken.session.yaml:3:9', '--to', 'executor-001');
    await failing(4, 'templates/odd.agent.yaml', '--to', 'odd');
    expect(readdirSync(join(home, 'sessions')).sort()).toEqual(
      ['.gitkeep', 'broken.session.yaml', 'red-1.session.yaml', 'red-2.session.yaml'].sort(),
    );
  });

  it('of many at once every message arrives, each sender in order, in one session', async () => {
    const home = await newHome();
    const senders = Array.from({length: 4}, async (_, sender) => {
      for (let i = 0; i < 4; i++) await sent(home, `${sender}.${i}`);
    });
    await Promise.all(senders);
    const files = listSessions(home);
    expect(files).toHaveLength(1);
    const found = contents(home, files[0]?.path ?? '');
    expect([...found].sort()).toEqual(Array.from({length: 16}, (_, i) => `${i >> 2}.${i & 3}`));
    for (let sender = 0; sender < 4; sender++)
      expect(found.filter(text => text?.startsWith(`${sender}.`))).toEqual([0, 1, 2, 3].map(i => `${sender}.${i}`));
    expect(readdirSync(join(home, '.agentdir/replaced'))).toEqual([]);
    expect(readdirSync(join(home, '.agentdir/locks'))).toEqual([]);
  });

  it('beside a daemon that answers: each message is committed as a person’s, none lost or doubled', async () => {
    const home = await newHome();
    const daemon = await serve(home);
    const {path} = await sent(home, 'message 0');
    for (let i = 1; i < 5; i++) await sent(home, `message ${i}`);
    await settled(home, path, text => text.includes('message 4') && text.includes('status: sleeping'));
    expect(contents(home, path)).toEqual([0, 1, 2, 3, 4].map(i => `message ${i}`));
    expect((await subjects(home)).filter(line => line.startsWith('Ada: ')).length).toBeGreaterThan(0);
    expect(await git(home, 'log', '--format=%s', '--', 'conflicts')).toBe('');
    await daemon.stop();
  });
});

describe('agentdir new', () => {
  it('makes a file that an editor and send can go on with, and the daemon takes', async () => {
    const home = await newHome();
    const {code, stdout} = await agentdir(home, ['new', 'general']);
    expect(code).toBe(0);
    const path = /sessions\/\S+/.exec(stdout)?.[0] ?? '';
    expect(stdout).toContain(`--session ${listSessions(home)[0]?.id} --wait`);
    const text = read(home, path);
    expect(parseSession(text)).toMatchObject({messages: [], problems: [], header: {status: 'sleeping'}});
    expect((await agentdir(home, ['check'])).code).toBe(0);
    const daemon = await serve(home);
    await committed(home, path, found => found === text);
    writeFileSync(join(home, path), `${text}  - role: user\n    content: by hand\n`);
    await committed(home, path, found => /timestamp:/.test(found));
    await sent(home, 'by send', '--session', 'general');
    await committed(home, path, found => found.includes('by send'));
    expect(contents(home, path)).toEqual(['by hand', 'by send']);
    await daemon.stop();
  });

  it('--json, --shared', async () => {
    const home = await newHome();
    const {stdout} = await agentdir(home, ['new', 'executor-001', '--shared', '--json']);
    const made = JSON.parse(stdout) as {session: string; path: string; shared: boolean};
    expect(made).toMatchObject({agent: 'executor-001', shared: true});
    expect((await sent(home, 'x', '--to', 'executor-001')).session).toBe(made.session);
    expect(await agentdir(home, ['new', 'nobody'])).toMatchObject({code: 2});
  });

  it('a place that cannot be written is told in a sentence', async () => {
    const home = await newHome();
    mkdirSync(dirname(join(home, 'sessions/planner-001')), {recursive: true});
    writeFileSync(join(home, 'sessions/planner-001'), 'in the way');
    const {code, stderr} = await agentdir(home, ['new', 'planner-001']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^agentdir: sessions\/planner-001\/\S+ cannot be written: E/);
  });
});
