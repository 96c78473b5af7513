import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {agentdir, git, put, until} from '../cli/run.ts';
import {calling, command, playCalls, type Result, resultsOf, type Wanted} from './calling.ts';
import {askedBy, decideInQueue, pageOf} from './deciding.ts';
import {openHouse} from './house.ts';
import {serve, settled, spawnDaemon} from './serve.ts';
import {append, atRest, leastForm, pathOf, whenIt} from './talk.ts';

const agent = (id: string, more = '') => `id: ${id}
type: ${id}
system_prompt: You write.
model: fake-1
capabilities: [execute_command, read_file, write_file, create_file, list_directory]
${more}`;
const POLICY = 'version: 1\ncommands: {allow: ["touch *", "ls *", "cp *"]}\ntools: {create_file: allow}\n';

const house = openHouse(() => ({
  'templates/talker.agent.yaml': agent('talker'),
  'templates/cloner.agent.yaml': agent('cloner', `workspace: {clone: "${source}", branch: feature}\n`),
  'allowlist.yaml': POLICY,
}));
const {home} = house;
const source = join(home, '../source');

beforeAll(async () => {
  put(source, {'lib/a.txt': 'theirs\n'});
  await git(source, 'init', '-q', '-b', 'trunk');
  await git(source, 'add', '-A');
  await git(source, 'commit', '-qm', 'first');
  await git(source, 'branch', 'feature');
});
/** After all of it: every call that ran was allowed, or decided before. */
afterAll(async () => {
  const {code, stdout, stderr} = await agentdir(home, ['verify']);
  expect(code, stdout + stderr).toBe(0);
});

const file = (who: string, path: string) => join(home, 'workspaces', who, path);
const history = async (who: string, format = '%an: %s') =>
  (await git(join(home, 'workspaces', who), 'log', '--reverse', `--format=${format}`)).trim().split('\n');
const create = (path: string, content = `${path}\n`): Wanted => ({name: 'create_file', arguments: {path, content}});
const ok = (results: readonly Result[]) => expect(results.map(({success}) => success)).toEqual(results.map(() => true));

describe('a workspace, beside a daemon', () => {
  it("has a commit by the agent for each call that changed something, and a person's between", async () => {
    calling(
      house,
      'first',
      [create('a.txt'), command('ls'), {name: 'list_directory', arguments: {}}, command('touch b.txt')],
      [command('touch b.txt'), command('cp a.txt c.txt > /dev/null', {reason: 'a copy'})],
    );
    const {id} = await askedBy(home, 'first');
    // It is asked about before the call above it has ended: what changes until then is that call's.
    await whenIt(home, 'first', (_, {header}) => header?.status === 'waiting');
    writeFileSync(file('talker', 'a.txt'), 'by hand\n');
    decideInQueue(home, id, 'x');
    // The command may read what the person changed.
    const {id: again} = await askedBy(home, 'first', 1);
    decideInQueue(home, again, 'x');
    ok(await resultsOf(house, 'first'));
    const session = 'Session: first,Call: ';
    expect(await history('talker', '%an|%s|%(trailers:separator=%x2C)')).toEqual([
      `talker|create_file a.txt|${session}c0,Cause: call`,
      `talker|execute_command \`touch b.txt\`|${session}c3,Cause: call`,
      'Ada|a.txt changed by hand|Cause: found',
      `talker|execute_command \`cp a.txt c.txt > /dev/null\`|${session}c5,Approval: ${again},Cause: call`,
    ]);
    expect(readFileSync(file('talker', 'c.txt'), 'utf8')).toBe('by hand\n');
    expect(await git(file('talker', '.'), 'status', '--porcelain')).toBe('');
  });

  it('begins from a repository on a branch, and what is asked is asked about its files', async () => {
    playCalls(house, 'clone', [{name: 'write_file', arguments: {path: 'lib/a.txt', content: 'mine\n'}}]);
    put(home, {[pathOf('clone')]: leastForm('clone it', 'cloner')});
    const {id} = await askedBy(home, 'clone');
    expect(pageOf(home, id).action.diff).toContain('-theirs\n+mine');
    decideInQueue(home, id, 'x');
    ok(await resultsOf(house, 'clone'));
    expect(await history('cloner')).toEqual(['Ada: first', expect.stringMatching(/^cloner: write_file/)]);
    expect(await git(file('cloner', '.'), 'branch', '--show-current')).toBe('feature\n');
    expect(await git(source, 'log', '--all', '--format=%s')).toBe('first\n');
    expect(readFileSync(join(source, 'lib/a.txt'), 'utf8')).toBe('theirs\n');
  });

  it('gives back what a call did, and the agent goes on from there', async () => {
    calling(house, 'undone', [create('one.txt')], [create('two.txt', 'kept\n')]);
    ok(await resultsOf(house, 'undone'));
    const {code, stdout} = await agentdir(home, ['--json', 'workspace', 'log', 'talker']);
    expect(code).toBe(0);
    const made = stdout.split('\n').flatMap(line => (line ? [JSON.parse(line) as Record<string, string>] : []));
    const one = made.find(({session, call}) => session === 'undone' && call === 'c0');
    const undo = await agentdir(home, ['workspace', 'undo', 'talker', one?.commit ?? '']);
    expect(undo, undo.stderr).toMatchObject({code: 0});
    expect(existsSync(file('talker', 'one.txt'))).toBe(false);
    playCalls(house, 'undone', [], [], [], [create('one.txt', 'again\n')]);
    append(home, 'undone', 'Make it again.');
    await whenIt(home, 'undone', (lines, session) => lines.length === 10 && atRest(lines, session));
    expect(readFileSync(file('talker', 'one.txt'), 'utf8')).toBe('again\n');
    expect((await history('talker')).slice(-4)).toEqual([
      'talker: create_file one.txt',
      'talker: create_file two.txt',
      'Ada: undo: create_file one.txt',
      'talker: create_file one.txt',
    ]);
  });
});

describe('a daemon that is killed between a command and its commit', () => {
  it('is followed by one that commits it as the call, and runs nothing again', async () => {
    expect(await house.daemon.stop()).toBe(0);
    const {env} = house.stage;
    playCalls(house, 'killed', [command('touch killed.txt')]);
    put(home, {[pathOf('killed')]: leastForm('killed soon')});
    const doomed = spawnDaemon(home, {...env, AGENTDIR_CRASH_AT: 'workspace-commit:1'});
    expect(await doomed.exited).toBe('SIGKILL');
    expect(existsSync(file('talker', 'killed.txt'))).toBe(true);
    expect((await history('talker')).at(-1)).not.toContain('killed.txt');
    house.daemon = await serve(home, env, () => {});
    const [result] = await resultsOf(house, 'killed');
    expect(result).toMatchObject({success: false, code: 'INTERRUPTED'});
    const [last] = await until(
      async () => (await history('talker', '%an|%s|%(trailers:separator=%x2C)')).slice(-1),
      ([line]) => line?.includes('killed.txt') ?? false,
    );
    expect(last).toBe('talker|execute_command `touch killed.txt`|Session: killed,Call: c0,Cause: recovered');
  });
});

describe('a clone from where nobody answers', () => {
  it('does not keep the daemon from stopping, and does not outlive a killed one for long', async () => {
    const sockets: {isOpen: boolean}[] = [];
    const server = createServer(socket => {
      const seen = {isOpen: true};
      sockets.push(seen);
      socket
        .on('error', () => {})
        .on('close', () => {
          seen.isOpen = false;
        });
      socket.resume();
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const {port} = server.address() as {port: number};
    const hanging = agent('hanger', `workspace: {clone: "git://127.0.0.1:${port}/x"}\n`);
    // The first answer is lost with the daemon that is killed.
    playCalls(house, 'hangs', [create('a.txt')], [create('b.txt')]);
    put(home, {'templates/hanger.agent.yaml': hanging, [pathOf('hangs')]: leastForm('hangs so', 'hanger')});
    const open = (which: readonly boolean[]) =>
      until(
        () => sockets.map(({isOpen}) => isOpen),
        seen => JSON.stringify(seen) === JSON.stringify(which),
      );
    await open([true]);
    await house.daemon.kill();
    house.daemon = await serve(home, house.stage.env, () => {});
    await open([false, true]);
    const began = performance.now();
    expect(await house.daemon.stop()).toBe(0);
    expect(performance.now() - began).toBeLessThan(60_000);
    await open([false, false]);
    expect(existsSync(join(home, '.workspaces/hanger.clone'))).toBe(false);
    // The call was not told of it: the next daemon tries again.
    await new Promise(resolve => server.close(resolve));
    house.daemon = await serve(home, house.stage.env, () => {});
    expect(await resultsOf(house, 'hangs')).toMatchObject([
      {success: false, error: expect.stringMatching(/could not be cloned.*unable to connect/)},
    ]);
    const needs = () => readFileSync(join(home, 'NEEDS_YOU.md'), 'utf8');
    await until(needs, text => text.includes('agent hanger: the workspace could not be cloned'));
    expect((await agentdir(home, ['status'])).stdout).toContain('agent hanger: the workspace could not be cloned');
    put(home, {'templates/hanger.agent.yaml': agent('hanger')});
    await settled(home, 'templates/hanger.agent.yaml', text => !text.includes('clone'));
    playCalls(house, 'mended', [create('c.txt')]);
    put(home, {[pathOf('mended')]: leastForm('mended now', 'hanger')});
    ok(await resultsOf(house, 'mended'));
    await until(needs, text => !text.includes('agent hanger'));
  });
});
