import {spawnSync} from 'node:child_process';
import {existsSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {agentdir, git, newHome, put, thorough, until} from '../cli/run.ts';
import {askedBy, decideInQueue, pageOf, whenItem} from './deciding.ts';
import {openHouse} from './house.ts';
import {committed, read, serve, spawnDaemon} from './serve.ts';
import {atRest, begin, leastForm, pathOf, sessionOf, setStage, whenIt} from './talk.ts';

/** Of these tests those that need it; the others hold with and without. */
const hasSandbox = spawnSync('bwrap', ['--dev-bind', '/', '/', 'true']).status === 0;
const SANDBOXED = hasSandbox ? 'sandbox' : 'host';

const RUNNER = `id: talker
type: talker
system_prompt: You run commands.
capabilities: [execute_command, read_file]
`;
const COMMANDS = `version: 1
commands:
  allow:
    - "echo *"
    - "cat *"
    - "seq *"
    - "sleep *"
    - "touch *"
    - "head *"
    - "yes"
    - "env"
    - "false"
    - "tee -a count.txt"
    - "ls /"
    - {match: "ls -a /", sandbox: host}
    - {match: "printenv HOME", sandbox: host}
  deny: ["rm -rf *"]
`;

const house = openHouse(() => ({'templates/talker.agent.yaml': RUNNER, 'allowlist.yaml': COMMANDS}));
const workspace = () => join(house.home, 'workspaces/talker');

interface Result {
  success: boolean;
  code?: string;
  error?: string;
  exit_code?: number;
  stdout?: string;
  stderr?: string;
  stdout_file?: string;
  ran?: string;
  duration_ms?: number;
  changed_files?: {path: string; change: string}[];
}

let count = 0;

/** What the model is told of one command, in a session of its own. */
async function result(args: Record<string, unknown>, meanwhile?: (id: string) => Promise<void>): Promise<Result> {
  const id = `run${++count}`;
  house.stage.parts.set(id, (_, nth) =>
    nth > 0 ? {text: 'done'} : {calls: [{id: 'call', name: 'execute_command', arguments: args}]},
  );
  begin(house.home, id, `${id} command`);
  await meanwhile?.(id);
  const {messages} = await whenIt(house.home, id, lines => lines.some(line => line.startsWith('result')));
  const found = messages.find(({role}) => role === 'tool_result');
  return JSON.parse(found?.content ?? '') as Result;
}

/** What the person who rejects a command is told of why it asks. */
async function rejected(args: Record<string, unknown>): Promise<string> {
  let why = '';
  const found = await result(args, async id => {
    const item = await askedBy(house.home, id);
    why = pageOf(house.home, item.id).action['asks because'] ?? '';
    decideInQueue(house.home, item.id, '-');
  });
  expect(found).toMatchObject({success: false, code: 'REJECTED'});
  return why;
}

/** Processes, of whomever, with this word among theirs. */
const running = (word: string): string[] =>
  readdirSync('/proc').filter(pid => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(word);
    } catch {
      return false;
    }
  });

/** A number of seconds that no other command of the machine sleeps. */
const seconds = () => `${40 + Math.round(Math.random() * 1e9) / 1e9}`;

const started = (id: string) => /^ +started: /m.test(read(house.home, pathOf(id)));

describe('a command that the policy allows', () => {
  it('runs without a shell, and the result has what came of it', async () => {
    const found = await result({command: 'echo \'a  b\' "c;d" | cat && touch made.txt'});
    expect(found).toEqual({
      success: true,
      exit_code: 0,
      stdout: 'a  b c;d\n',
      stderr: '',
      duration_ms: expect.any(Number),
      ran: SANDBOXED,
      changed_files: [{path: 'made.txt', change: 'created'}],
    });
    expect(existsSync(join(workspace(), 'made.txt'))).toBe(true);
    const {messages} = await whenIt(house.home, `run${count}`, atRest);
    expect(messages[1]?.tool_calls?.[0]).toMatchObject({started: expect.any(String), run: expect.any(String)});
    const words = 'execute_command `echo \'a b\' "c;d" | cat && touch made.txt`';
    const log = await until(
      () => git(house.home, 'log', '--format=%s', '--', pathOf(`run${count}`)),
      lines => lines.includes('result of'),
    );
    expect(log).toContain(`started ${words}\n`);
    expect(log).toContain(`: result of ${words}\n`);
    const {stdout} = await agentdir(house.home, ['show', `run${count}`]);
    expect(stdout).toMatch(
      /\n#3 {2}result of execute_command `echo .*\n {2}exit code 0, \d+ ms, \w+\n {2}a {2}b c;d\n/,
    );
  });

  it('that fails says with which code, and what it printed', async () => {
    expect(await result({command: 'cat missing.txt'})).toMatchObject({
      success: false,
      code: 'FAILED',
      error: 'exit code 1',
      exit_code: 1,
      stderr: expect.stringContaining('missing.txt'),
    });
    expect(await result({command: 'false || echo yes | cat ; false && echo no'})).toMatchObject({
      exit_code: 1,
      stdout: 'yes\n',
    });
  });

  it('sees nothing of the environment of the daemon', async () => {
    const {stdout = ''} = await result({command: 'env'});
    expect(stdout).toContain('PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n');
    expect(stdout).not.toMatch(/OPENAI|NODE|BASH_ENV|LD_|127\.0\.0\.1/);
  });

  it('that runs too long is ended, with all it started', async () => {
    const time = seconds();
    const found = await result({command: `echo first; sleep ${time} | sleep ${time}`, timeout_seconds: 1});
    expect(found).toMatchObject({success: false, code: 'TIMEOUT', stdout: 'first\n'});
    expect(running(time)).toEqual([]);
  });

  it('that prints much is cut in the middle, and the whole is in a file that can be read', async () => {
    const found = await result({command: 'seq 1 20000'});
    expect(found.stdout).toMatch(/^1\n2\n3\n[\s\S]*characters left out; the whole is in [\s\S]*\n19999\n20000\n$/);
    expect(found.stdout?.length).toBeLessThan(17_000);
    expect(found.changed_files).toEqual([]);
    const path = join(workspace(), found.stdout_file ?? '');
    expect(readFileSync(path, 'utf8')).toBe(`${Array.from({length: 20_000}, (_, i) => i + 1).join('\n')}\n`);
    house.stage.parts.set('reads', (_, nth) =>
      nth > 0
        ? {text: 'done'}
        : {calls: [{id: 'call', name: 'read_file', arguments: {path: found.stdout_file, offset: 777, limit: 1}}]},
    );
    begin(house.home, 'reads', 'reads it');
    const {messages} = await whenIt(house.home, 'reads', atRest);
    expect(messages[2]?.content).toContain('777');
  });

  it('that prints for ever is ended', async () => {
    expect(await result({command: 'yes', timeout_seconds: 60})).toMatchObject({
      success: false,
      code: 'FAILED',
      error: 'it printed more than 64 MB and was ended',
    });
    expect(await result({command: 'yes | head -n 1'})).toMatchObject({success: true, stdout: 'y\n'});
  });

  it('is ended when a person sets the session to paused, and the result says so', async () => {
    const time = seconds();
    const found = await result({command: `sleep ${time}`}, async id => {
      await until(() => running(time).length > 0 && started(id), Boolean);
      const path = join(house.home, pathOf(id));
      writeFileSync(path, readFileSync(path, 'utf8').replace(/^status: .*/m, 'status: paused'));
    });
    expect(found).toMatchObject({
      success: false,
      code: 'INTERRUPTED',
      error: 'it was ended before it was done: the session is paused',
    });
    expect(running(time)).toEqual([]);
    expect(sessionOf(house.home, `run${count}`).header?.status).toBe('paused');
  });
});

describe('where a command runs', () => {
  it.skipIf(!hasSandbox)('in the sandbox unless its rule has sandbox: host', async () => {
    const inside = await result({command: 'ls /'});
    expect(inside).toMatchObject({success: true, ran: 'sandbox'});
    expect(inside.stdout?.split('\n')).not.toContain('root');
    const outside = await result({command: 'ls -a / | cat'});
    expect(outside).toMatchObject({success: true, ran: 'host, sandbox'});
    expect(outside.stdout?.split('\n')).toEqual(expect.arrayContaining(readdirSync('/')));
    // What needs the machine finds its user's own settings there.
    expect(await result({command: 'printenv HOME'})).toMatchObject({stdout: expect.stringMatching(/^\/.*\n$/)});
  });

  it.skipIf(!hasSandbox)('a call that asks for more than its rule grants waits for a person', async () => {
    for (const [more, words] of [
      [{sandbox: 'host'}, 'outside the sandbox'],
      [{network: true}, 'network access'],
    ] as const)
      expect(await rejected({command: 'echo x', ...more})).toContain(words);
  });

  it('is told at the start and in the status', async () => {
    const {events} = house.daemon;
    await until(
      () => events.some(({event}) => event === 'sandbox'),
      yes => yes,
    );
    expect(events.find(({event}) => event === 'sandbox')).toMatchObject({confines: hasSandbox});
    const {stdout} = await agentdir(house.home, ['status']);
    expect(stdout).toMatch(hasSandbox ? /^ {2}sandbox bubblewrap .*tested/m : /^ {2}sandbox none: /m);
  });
});

describe('a command that the policy does not allow', () => {
  it.each(['rm -rf x', 'echo x; rm -rf x'])('%s is DENIED, with the reason, and nobody is asked', async command => {
    const found = await result({command});
    expect(found).toMatchObject({success: false, code: 'DENIED', error: expect.stringContaining('rm -rf')});
    expect(started(`run${count}`)).toBe(false);
  });

  it.each([
    ['echo $(cat x)', /\$ expansion/],
    ['echo x > made-by-redirect', /redirects/],
    ['unknown', /no rule matches/],
    ['cat /etc/passwd', /outside the working directory/],
  ])('%s waits for a person, who is told why, and nothing runs', async (command, why) => {
    expect(await rejected({command})).toMatch(why);
    expect(started(`run${count}`)).toBe(false);
    expect(existsSync(join(workspace(), 'made-by-redirect'))).toBe(false);
  });
});

describe('a daemon that ends while a command runs', () => {
  const counting = (time: string) => `echo x | tee -a count.txt && sleep ${time}`;

  async function home(): Promise<{dir: string; stage: Awaited<ReturnType<typeof setStage>>; time: string}> {
    const stage = await setStage();
    const time = seconds();
    const dir = await newHome({'templates/talker.agent.yaml': RUNNER, 'allowlist.yaml': COMMANDS});
    stage.parts.set('long', (_, nth) =>
      nth > 0
        ? {text: 'I see'}
        : {calls: [{id: 'call', name: 'execute_command', arguments: {command: counting(time)}}]},
    );
    put(dir, {[pathOf('long')]: leastForm('long command', 'talker')});
    return {dir, stage, time};
  }
  const counted = (dir: string) => readFileSync(join(dir, 'workspaces/talker/count.txt'), 'utf8');

  it('by a stop: it is ended first, and the result is recorded', async () => {
    const {dir, stage, time} = await home();
    const daemon = await serve(dir, stage.env);
    await until(() => running(time).length > 0, Boolean);
    expect(await daemon.stop(), daemon.errors()).toBe(0);
    expect(running(time)).toEqual([]);
    const {messages} = sessionOf(dir, 'long');
    expect(JSON.parse(messages.at(-1)?.content ?? '')).toMatchObject({
      code: 'INTERRUPTED',
      error: expect.stringContaining('the daemon was stopped'),
      stdout: 'x\n',
      changed_files: [{path: 'count.txt', change: 'created'}],
    });
    expect(await git(dir, 'status', '--porcelain')).toBe('');
    await stage.server.close();
  });

  it.each(['auto', 'off'])(
    'by kill -9 (sandbox: %s): it is over before that is told, and never run again',
    async mode => {
      const {dir, stage, time} = await home();
      put(dir, {'agentdir.yaml': `format: 1\nsandbox: ${mode}\n`});
      const daemon = spawnDaemon(dir, stage.env);
      await until(() => running(time).length > 0, Boolean);
      await daemon.kill();
      const next = await serve(dir, stage.env);
      const {messages} = await whenIt(dir, 'long', atRest);
      expect(running(time)).toEqual([]);
      expect(JSON.parse(messages[2]?.content ?? '')).toMatchObject({
        code: 'INTERRUPTED',
        error: expect.stringContaining('outcome unknown'),
      });
      expect(counted(dir)).toBe('x\n');
      expect(await next.stop()).toBe(0);
      await stage.server.close();
    },
  );
});

describe('a command that waits for its turn', () => {
  it.runIf(thorough)('is judged by the policy as it is when it runs', async () => {
    const stage = await setStage();
    const dir = await newHome({
      'templates/talker.agent.yaml': RUNNER,
      'allowlist.yaml': COMMANDS,
    });
    const ids = Array.from({length: 33}, (_, i) => `s${i}`);
    for (const [i, id] of ids.entries())
      stage.parts.set(id, (_, nth) =>
        nth > 0
          ? {text: 'done'}
          : {calls: [{id: 'c', name: 'execute_command', arguments: {command: i < 32 ? 'sleep 600.25' : 'touch made'}}]},
      );
    const daemon = await serve(dir, stage.env);
    put(dir, Object.fromEntries(ids.slice(0, 32).map(id => [pathOf(id), leastForm(`${id} waits`, 'talker')])));
    const asleep = () =>
      running('600.25').filter(pid => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep'));
    await until(() => asleep().length === 32, Boolean);
    put(dir, {[pathOf('s32')]: leastForm('s32 waits', 'talker')});
    await until(() => read(dir, pathOf('s32')).includes('started:'), Boolean);
    put(dir, {'allowlist.yaml': COMMANDS.replace('deny: [', 'deny: ["touch *", ')});
    await committed(dir, 'allowlist.yaml', text => text.includes('touch *'));
    for (const pid of asleep()) process.kill(Number(pid));
    const {messages} = await whenIt(dir, 's32', atRest);
    expect(JSON.parse(messages[2]?.content ?? '')).toMatchObject({code: 'DENIED'});
    expect(existsSync(join(dir, 'workspaces/talker/made'))).toBe(false);
    for (const id of ids.slice(0, 32))
      expect(JSON.parse((await whenIt(dir, id, atRest)).messages[2]?.content ?? '')).toMatchObject({exit_code: 143});
    await daemon.stop();
    await stage.server.close();
  });
});

describe('without bubblewrap', () => {
  const missing = {AGENTDIR_BWRAP: '/nonexistent/bwrap'};

  it('plain commands that are allowed run, and the daemon says what that costs', async () => {
    const stage = await setStage();
    const dir = await newHome({'templates/talker.agent.yaml': RUNNER, 'allowlist.yaml': COMMANDS});
    put(dir, {'workspaces/talker/.keep': ''});
    spawnSync('ln', ['-s', '../../allowlist.yaml', join(dir, 'workspaces/talker/link')]);
    const commands = ['echo x', 'cat link', './echo x', 'echo $HOME'];
    stage.parts.set('plain', (_, nth) =>
      nth > 0
        ? {text: 'I see'}
        : {calls: commands.map((command, i) => ({id: `c${i}`, name: 'execute_command', arguments: {command}}))},
    );
    put(dir, {[pathOf('plain')]: leastForm('plain command', 'talker')});
    const daemon = await serve(dir, {...stage.env, ...missing});
    // A decision that appears while a command runs on the host is void.
    await whenIt(dir, 'plain', lines => lines.some(line => line.startsWith('result c0')));
    for (const nth of [0, 1, 2]) {
      const {id} = await askedBy(dir, 'plain', nth);
      if (nth === 0) expect(pageOf(dir, id).action['asks because']).toContain('leads out of the workspace');
      expect(pageOf(dir, id).action.permissions).toContain('without a sandbox');
      decideInQueue(dir, id, '-');
      await whenItem(dir, id, ({status}) => status === 'rejected');
    }
    const {messages} = await whenIt(dir, 'plain', atRest);
    const results = messages
      .filter(({role}) => role === 'tool_result')
      .map(({content}) => JSON.parse(content ?? '') as Result);
    expect(results).toMatchObject([
      {success: true, stdout: 'x\n', ran: 'host'},
      {success: false, code: 'REJECTED'},
      {success: false, code: 'REJECTED'},
      {success: false, code: 'REJECTED'},
    ]);
    const costs = /sandbox none: .*not installed.*run unconfined, all others need approval.*apt-get install bubblewrap/;
    await until(
      async () => (await agentdir(dir, ['status'])).stdout,
      stdout => costs.test(stdout),
    );
    await daemon.stop();
    await stage.server.close();
  });

  it('and with sandbox: require nothing runs, and a person is told', async () => {
    const stage = await setStage();
    const dir = await newHome({
      'templates/talker.agent.yaml': RUNNER,
      'allowlist.yaml': COMMANDS,
      'agentdir.yaml': 'format: 1\nsandbox: require\n',
    });
    stage.parts.set('require', (_, nth) =>
      nth > 0 ? {text: 'I see'} : {calls: [{name: 'execute_command', arguments: {command: 'touch made'}}]},
    );
    put(dir, {[pathOf('r')]: leastForm('require it', 'talker')});
    const daemon = await serve(dir, {...stage.env, ...missing});
    const {messages} = await whenIt(dir, 'r', atRest);
    expect(JSON.parse(messages[2]?.content ?? '')).toMatchObject({
      code: 'DENIED',
      error: expect.stringContaining('sandbox: require'),
    });
    expect(existsSync(join(dir, 'workspaces/talker/made'))).toBe(false);
    await until(() => read(dir, 'NEEDS_YOU.md').includes('sandbox: require'), Boolean);
    await daemon.stop();
    await stage.server.close();
  });
});
