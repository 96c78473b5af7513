import {execFileSync} from 'node:child_process';
import {cpSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {beforeAll, describe, expect, it} from 'vitest';
import {parseSession, type Session, sessionText} from '../../src/formats/session/session.ts';
import {insertMessage, setInMessage} from '../../src/formats/session/session-edit.ts';
import type {Message} from '../../src/formats/session/session-schema.ts';
import {splitSession} from '../../src/formats/session/session-split.ts';
import type {Difference} from '../../src/surfaces/actions/replay/difference.ts';
import {replay} from '../../src/surfaces/actions/replay/replay.ts';
import type {ReplayedSession} from '../../src/surfaces/actions/replay/replayed.ts';
import {agentdir, environment, git, put, temporary} from '../cli/run.ts';
import {isMadeUp} from '../replayed.ts';
import {calling, resultsOf} from './calling.ts';
import {askedBy, decideInQueue} from './deciding.ts';
import {openHouse} from './house.ts';
import {clean, committed, read} from './serve.ts';
import {append, atRest, pathOf, whenIt} from './talk.ts';

/** One session with all that happens in sessions, recorded by a real daemon; each test changes a copy of its home. */
const house = openHouse();
const path = pathOf('story');
/** Places of what was recorded: answers and results. */
const places: number[] = [];

beforeAll(async () => {
  const {home} = house;
  calling(
    house,
    'story',
    [
      {name: 'list_agents', arguments: {}},
      {name: 'create_file', arguments: {path: 'a.txt', content: 'one\ntwo\n'}},
    ],
    [{name: 'edit_file', arguments: {path: 'a.txt', old: 'one', new: 'three'}}],
    [{name: 'write_file', arguments: {path: 'a.txt', content: 'four\n'}}],
  );
  decideInQueue(home, (await askedBy(home, 'story')).id, 'x');
  await resultsOf(house, 'story');
  append(home, 'story', 'and now?');
  await whenIt(home, 'story', (lines, session) => lines.length > 10 && atRest(lines, session));
  await committed(home, path, () => true);
  await clean(home);
  await readVersions(home);
  for (const [i, {role}] of sessionIn(home).messages.entries())
    if (role === 'assistant' || role === 'tool_result') places.push(i);
});

const sessionIn = (home: string, at = path): Session => parseSession(read(home, at));

/** To be changed as the test likes. The daemon may publish while files are copied, and then the copy has a HEAD without its commit. */
async function copy(): Promise<string> {
  for (let tries = 0; ; tries += 1) {
    const home = isMadeUp(join(temporary(), 'home'));
    cpSync(house.home, home, {recursive: true, filter: from => !/\/\.agentdir(\/|$)/.test(from)});
    const whole = await git(home, 'fsck', '--connectivity-only').then(
      () => true,
      () => false,
    );
    if (whole || tries === 5) return home;
  }
}

async function replayed(home: string, policy: 'then' | 'now' = 'then', id = 'story'): Promise<ReplayedSession> {
  const {sessions} = await replay(home, {wants: one => one === id, policy});
  expect(sessions).toHaveLength(1);
  return sessions[0] as ReplayedSession;
}

const firstOf = async (home: string): Promise<Difference | undefined> => (await replayed(home)).differences[0];

const save = (home: string, session: Session, at = path) => writeFileSync(join(home, at), sessionText(session));

async function commit(home: string, message = 'by Ada'): Promise<string> {
  await git(home, 'commit', '--quiet', '--all', `--message=${message}`);
  return (await git(home, 'rev-parse', 'HEAD')).trim();
}

/** The session as the person wrote it: their words, and nothing that the daemon added. */
function wordsOnly(home: string): string {
  const said = sessionIn(home).messages.filter(({role}) => role === 'user');
  const lines = said.map(({content}) => `  - role: user\n    content: ${JSON.stringify(content)}\n`);
  return `agent_id: talker\nmessages:\n${lines.join('')}`;
}

/** Another content of a message, or other arguments of its last call. */
function changed(session: Session, at: number): Session {
  const {content, tool_calls} = session.messages[at] as Message;
  if (!tool_calls?.length) return setInMessage(session, at, ['content'], `${content} `);
  const call = tool_calls.length - 1;
  const {arguments: args} = tool_calls[call]?.function ?? {arguments: ''};
  return setInMessage(session, at, ['tool_calls', call, 'function', 'arguments'], args.replace('}', ' }'));
}

/** Versions of the session, oldest first. */
const versions: {commit: string; author: string; text: string; session: Session}[] = [];

async function readVersions(home: string): Promise<void> {
  for (const line of (await git(home, 'log', '--reverse', '--format=%H %an', '--', path)).trim().split('\n')) {
    const [commit = '', author = ''] = line.split(' ');
    const text = await git(home, 'show', `${commit}:${path}`);
    versions.push({commit, author, text, session: parseSession(text)});
  }
}

/** The version that has a message first, and its place there. */
function firstWith({timestamp, tool_call_id}: Message): {version: number; at: number} {
  const places = versions.map(({session}) =>
    session.messages.findIndex(each => each.timestamp === timestamp && each.tool_call_id === tool_call_id),
  );
  const version = places.findIndex(at => at !== -1);
  return {version, at: places[version] ?? -1};
}

const recordedIn = (message: Message): string | undefined => versions[firstWith(message).version]?.commit;

/** What is to be told of a change at one place. */
function expected(home: string, at: number): Partial<Difference> {
  const {role, tool_call_id, tool_calls} = sessionIn(home).messages[at] as Message;
  const call = tool_calls?.at(-1)?.id ?? tool_call_id;
  const field = tool_calls?.length ? `tool_calls[${tool_calls.length - 1}].arguments` : 'content';
  return {kind: 'changed', path, message: at + 1, role, call, field};
}

/** From 1. */
function firstLineThatDiffers(a: string, b: string): number {
  const lines = b.split('\n');
  return a.split('\n').findIndex((line, i) => line !== lines[i]) + 1;
}

describe('a session as it was recorded', () => {
  it('is identical, beside a running daemon and by the command', async () => {
    const result = await replayed(house.home);
    expect(result).toMatchObject({differences: [], notes: [], working: false, there: true, answers: 5, results: 4});
    const {code, stdout} = await agentdir(house.home, ['replay', 'story']);
    expect({code, stdout}).toMatchObject({code: 0, stdout: expect.stringContaining('identical: 1 session')});
    expect(stdout).toContain('5 answers, 4 results');
  });

  it('is so with no network and nothing but git to run, and nothing is written', async () => {
    const before = await git(house.home, 'status', '--porcelain', '--ignored');
    const files = execFileSync('find', ['.', '-newer', 'agentdir.yaml', '-path', './sessions/*'], {cwd: house.home});
    // No route leads anywhere from a namespace of its own.
    const apart = ['--user', '--map-root-user', '--net', '--'];
    const args = [process.execPath, join(import.meta.dirname, '../../bin/main.js'), 'replay', '--all', '--json'];
    let out: string;
    try {
      out = execFileSync('unshare', [...apart, ...args], {cwd: house.home, env: environment, encoding: 'utf8'});
    } catch {
      out = (await agentdir(house.home, ['replay', '--all', '--json'])).stdout;
    }
    expect(JSON.parse(out)).toMatchObject({shallow: false, sessions: [{session: 'story', identical: true}]});
    expect(await git(house.home, 'status', '--porcelain', '--ignored')).toBe(before);
    expect(execFileSync('find', ['.', '-newer', 'agentdir.yaml', '-path', './sessions/*'], {cwd: house.home})).toEqual(
      files,
    );
  });
});

describe('an injected change', () => {
  it('of any answer or result is located, while nobody has committed it', async () => {
    const home = await copy();
    const text = read(home, path);
    expect(places).toHaveLength(9);
    for (const at of places) {
      save(home, changed(parseSession(text), at));
      const {differences} = await replayed(home);
      expect(differences, `message ${at + 1}`).toHaveLength(1);
      const [first] = differences;
      expect(first).toMatchObject(expected(home, at));
      expect(first?.changed?.commit).toBeUndefined();
      expect(first?.commit).toBe(recordedIn(parseSession(text).messages[at] as Message));
      expect(first?.line, `message ${at + 1}`).toBe(firstLineThatDiffers(text, read(home, path)));
    }
  });

  it('and once somebody has, with who it was; put back, it is none', async () => {
    const home = await copy();
    const text = read(home, path);
    for (const at of places) {
      save(home, changed(parseSession(text), at));
      const id = await commit(home);
      const {differences} = await replayed(home);
      expect(differences, `message ${at + 1}`).toHaveLength(1);
      expect(differences[0]).toMatchObject({...expected(home, at), changed: {commit: id, author: 'Ada'}});
      writeFileSync(join(home, path), text);
      await commit(home, 'back again');
    }
    expect((await replayed(home)).differences).toEqual([]);
  });

  it('in the journal itself, in the very commit that recorded it, is located', async () => {
    const home = await copy();
    const dump = execFileSync('git', ['fast-export', '--all'], {cwd: home, maxBuffer: 1 << 28});
    for (const place of places) {
      const {version, at} = firstWith(sessionIn(house.home).messages[place] as Message);
      const {text = '', session} = versions[version] ?? {};
      rewriteHistory(home, forgedIn(dump, text, sessionText(changed(session as Session, at))));
      const {differences, notes} = await replayed(home);
      // The version after it has what was there in truth. If it is a person's, they might have changed it before they went on.
      if (versions[version + 1]?.author === 'Ada')
        expect(notes).toEqual([
          expect.stringMatching(
            `^message ${place + 1}: an answer .* was changed by Ada in .*; the model was asked again$`,
          ),
        ]);
      else expect(differences[0], `message ${place + 1}`).toMatchObject(expected(house.home, place));
    }
  });

  it('of several is told of the first', async () => {
    const home = await copy();
    const [first = 0, , , second = 0] = places;
    save(home, changed(changed(sessionIn(home), second), first));
    const {differences} = await replayed(home);
    expect(differences.map(({message}) => message)).toEqual([first + 1, second + 1]);
    const {code, stdout} = await agentdir(home, ['replay', 'story']);
    expect(code).toBe(1);
    expect(stdout).toContain('and 1 more difference');
  });

  it('is told with the words that differ', async () => {
    const home = await copy();
    const at = sessionIn(home).messages.findIndex(({tool_call_id}) => tool_call_id === 'c1');
    const {content} = sessionIn(home).messages[at] as Message;
    const other = content?.replace('"success":true', '"success":false') ?? '';
    save(home, setInMessage(sessionIn(home), at, ['content'], other));
    expect((await agentdir(home, ['replay', 'story'])).stdout).toMatch(
      /the change is not committed[\s\S]*see: git diff$/m,
    );
    const id = await commit(home);
    const {stdout} = await agentdir(home, ['replay', 'story']);
    const recorded = recordedIn(sessionIn(home).messages[at] as Message);
    expect(stdout).toContain(
      `the result of call c1 (create_file) differs from what was recorded in ${recorded?.slice(0, 7)}: changed by Ada in ${id.slice(0, 7)}`,
    );
    expect(stdout).toMatch(new RegExp(`${path}:\\d+: `));
    expect(stdout).toMatch(/recorded .*"success":true/);
    expect(stdout).toMatch(/now {6}.*"success":false/);
    expect(stdout).toContain(`git show ${id.slice(0, 7)}`);
  });

  it('of a mark that the daemon sets, or of any other part of what was recorded, is one, too', async () => {
    const home = await copy();
    const at = sessionIn(home).messages.findIndex(({role}) => role === 'tool_result');
    for (const [field, value] of [
      ['timestamp', '2020-01-01T00:00:00.000Z'],
      ['tool_call_id', 'c9'],
    ] as const) {
      save(home, setInMessage(sessionIn(house.home), at, [field], value));
      expect((await replayed(home)).differences[0], field).toMatchObject({message: at + 1, field, replayed: value});
    }
  });
});

describe('what was taken out or put in', () => {
  it('above an answer that was given otherwise is a difference', async () => {
    const home = await copy();
    const {items = [], messages} = sessionIn(home);
    const at = messages.findIndex(({tool_call_id}) => tool_call_id === 'c0');
    const text = read(home, path);
    writeFileSync(join(home, path), text.replace(items?.[at]?.text ?? '', ''));
    const id = await commit(home);
    expect(await firstOf(home)).toMatchObject({
      ...{kind: 'missing', call: 'c0', tool: 'list_agents', changed: {commit: id, author: 'Ada'}},
      ...{path, line: firstLineThatDiffers(text, read(home, path))},
    });
    writeFileSync(join(home, path), text);
    const fake: Message = {timestamp: '2026-01-01T00:00:00.000Z', role: 'assistant', content: 'I never said this.'};
    save(home, insertMessage(sessionIn(home), messages.length - 2, fake));
    expect(await firstOf(home)).toMatchObject({kind: 'added', message: messages.length - 1});
  });

  it('though it was recorded, here or in another session, is one where it stands a second time', async () => {
    const home = await copy();
    const text = read(home, path);
    const {head, items} = sessionIn(home);
    const all = (items ?? []).map(item => item.text);
    for (const at of places.slice(0, -1)) {
      writeFileSync(join(home, path), head + all.toSpliced(at + 1, 0, all[at] as string).join(''));
      const {differences} = await replayed(home);
      expect(differences, `message ${at + 1}`).toMatchObject([{kind: 'added', message: at + 2, path}]);
    }
    writeFileSync(join(home, path), text);
    const other = text.replaceAll("timestamp: '20", "timestamp: '30");
    put(home, {'sessions/other.session.yaml': other});
    await git(home, 'add', '--all', 'sessions');
    await git(home, 'commit', '--quiet', '--author=talker <talker@home>', '--message=x\n\nCause: turn');
    const [place = 0] = places.filter(at => all[at]?.includes('role: assistant'));
    const foreign = parseSession(other).items?.[place]?.text ?? '';
    writeFileSync(join(home, path), head + all.toSpliced(place, 0, foreign).join(''));
    const {sessions} = await replay(home, {wants: () => true, policy: 'then'});
    const story = sessions.find(({session}) => session === 'story');
    expect(story?.differences).toMatchObject([{kind: 'added', message: place + 1, path}]);
  });

  it('and stands elsewhere now is one, until it is back', async () => {
    const home = await copy();
    const text = read(home, path);
    const {head, items, messages} = sessionIn(home);
    const all = (items ?? []).map(item => item.text);
    const first = messages.findIndex(({tool_call_id}) => tool_call_id === 'c0');
    expect(messages[first + 1]?.tool_call_id).toBe('c1');
    const swapped = all.with(first, all[first + 1] as string).with(first + 1, all[first] as string);
    const answer = messages.findIndex(({role}, at) => role === 'assistant' && at > first);
    const moved = all.toSpliced(answer, 1).toSpliced(answer + 1, 0, all[answer] as string);
    for (const [other, at] of [
      [swapped, first],
      [moved, answer + 1],
    ] as const) {
      writeFileSync(join(home, path), head + other.join(''));
      const {differences} = await replayed(home);
      expect(differences).toMatchObject([{kind: 'moved', path, field: 'place', changed: {author: 'somebody'}}]);
      expect([at, at + 1, at + 2]).toContain(differences[0]?.message);
      const id = await commit(home);
      expect(await firstOf(home)).toMatchObject({kind: 'moved', changed: {commit: id, author: 'Ada'}});
      writeFileSync(join(home, path), text);
      await commit(home, 'back again');
      expect((await replayed(home)).differences).toEqual([]);
    }
    // Taken out by one edit, and put back somewhere else by another.
    writeFileSync(join(home, path), head + all.toSpliced(first, 1).join(''));
    await commit(home);
    writeFileSync(join(home, path), head + swapped.join(''));
    expect((await replayed(home)).differences).toMatchObject([{kind: 'moved'}]);
    const {stdout} = await agentdir(home, ['replay', 'story']);
    expect(stdout).toMatch(/the result of call c[01] \(\w+\) is not in its recorded place/);
  });

  it('with all that follows is a beginning anew, and no difference', async () => {
    const home = await copy();
    const session = sessionIn(home);
    const {rest} = splitSession(session, 0, {agent_id: 'talker'}, '');
    const kept = (session.items ?? []).slice(0, 4);
    writeFileSync(join(home, path), rest.head + kept.map(({text}) => text).join(''));
    await commit(home);
    expect((await replayed(home)).differences).toEqual([]);
    expect((await replayed(home)).notes.length).toBeGreaterThan(0);
  });

  it('by a person, of their own words, is theirs', async () => {
    const home = await copy();
    save(home, setInMessage(sessionIn(home), 0, ['content'], 'story, please'));
    await commit(home);
    const {differences, notes} = await replayed(home);
    expect(differences).toEqual([]);
    expect(notes).toEqual([expect.stringContaining('message 1: a message was changed by Ada')]);
  });
});

describe('what the daemon did', () => {
  it('is told where this version would do something else', async () => {
    for (const [words, forge, found] of [
      ['status', (text: string) => text.replace(/^status: sleeping$/m, 'status: completed'), {field: 'status'}],
      ['a key', (text: string) => text.replace(/^messages:$/m, 'shared: true\nmessages:'), {field: 'shared'}],
    ] as const) {
      const home = await copy();
      writeFileSync(join(home, path), forge(read(home, path)));
      await git(home, 'commit', '--quiet', '--all', '--author=talker <talker@home>', '--message=x\n\nCause: turn');
      const id = (await git(home, 'rev-parse', 'HEAD')).trim();
      expect(await firstOf(home), words).toMatchObject({kind: 'step', commit: id, ...found});
    }
  });

  it('was a merge with words that it had not looked at when it was killed: it may have slept above them', async () => {
    const home = await copy();
    const whole = read(home, path);
    expect(sessionIn(home).header?.status).toBe('sleeping');
    const own = wordsOnly(home);
    const below = '  - role: user\n    content: and more\n';
    for (const [words, found] of [
      [below, []],
      [`${below}    timestamp: '2026-01-01T00:00:00.000Z'\n`, [expect.objectContaining({field: 'status'})]],
    ] as const) {
      writeFileSync(join(home, path), own + below);
      await commit(home);
      writeFileSync(join(home, path), whole + words);
      const author = '--author=agentdir <agentdir@home>';
      await git(home, 'commit', '--quiet', '--all', author, '--message=x\n\nCause: recovered');
      expect((await replayed(home)).differences).toEqual(found);
    }
  });

  it('is judged by the policy of the time when it was done, though a stale save took it out and the next daemon brought it back', async () => {
    const home = await copy();
    const whole = read(home, path);
    const later = (hours: number) => `--date=${new Date(Date.now() + hours * 3_600_000).toISOString()}`;
    put(home, {'allowlist.yaml': 'version: 1\ntools: {create_file: deny, write_file: deny, edit_file: deny}\n'});
    await git(home, 'commit', '--quiet', '--all', later(1), '--message=stricter');
    writeFileSync(join(home, path), wordsOnly(home));
    await git(home, 'commit', '--quiet', '--all', later(2), '--message=x\n\nCause: recovered');
    writeFileSync(join(home, path), whole);
    const author = '--author=agentdir <agentdir@home>';
    await git(home, 'commit', '--quiet', '--all', author, later(3), '--message=x\n\nCause: recovered');
    expect((await replayed(home)).differences).toEqual([]);
  });

  it('is told where the policy of that time, or of now, would say otherwise', async () => {
    const home = await copy();
    expect((await replayed(home, 'now')).differences).toEqual([]);
    put(home, {'allowlist.yaml': 'version: 1\ntools: {create_file: ask, write_file: ask, edit_file: deny}\n'});
    expect((await replayed(home, 'then')).differences).toEqual([]);
    expect((await replayed(home, 'now')).differences).toEqual([
      expect.objectContaining({
        kind: 'verdict',
        call: 'c1',
        tool: 'create_file',
        recorded: 'allow (ran without asking)',
      }),
    ]);
    const {code} = await agentdir(home, ['replay', 'story', '--policy', 'now']);
    expect(code).toBe(1);
    // As if the policy had been that from the first day on.
    const old = readFileSync(join(house.home, 'allowlist.yaml'), 'utf8');
    const dump = execFileSync('git', ['fast-export', '--all'], {cwd: house.home, maxBuffer: 1 << 28});
    const denied = old.replace('create_file: allow', 'create_file: deny');
    const [first = ''] = (await git(home, 'log', '--reverse', '--format=%H')).split('\n');
    const oldest = await git(home, 'show', `${first}:allowlist.yaml`);
    rewriteHistory(home, forgedIn(forgedIn(dump, old, denied), oldest, denied));
    expect(await firstOf(home)).toMatchObject({kind: 'verdict', call: 'c1', recorded: 'ran without asking'});
  });
});

describe('a session', () => {
  it('that was renamed, copied, or is gone is replayed from the journal', async () => {
    const home = await copy();
    renameSync(join(home, path), join(home, 'sessions/talker.d.session.yaml'));
    cpSync(join(home, 'sessions/talker.d.session.yaml'), join(home, 'sessions/archive.session.yaml'));
    await git(home, 'add', '--all', 'sessions');
    await commit(home);
    const {sessions} = await replay(home, {wants: () => true, policy: 'then'});
    expect(sessions.map(({session, there, differences, results}) => [session, there, differences, results])).toEqual([
      ['archive', true, [], 4],
      ['story', false, [], 4],
      ['talker.d', true, [], 4],
    ]);
    const {code, stdout} = await agentdir(home, ['replay', 'stor']);
    expect(code).toBe(0);
    expect(stdout).toContain('the file is gone: replayed from the last committed version');
    // A copy does not hide a change.
    const at = sessionIn(home, 'sessions/archive.session.yaml').messages.findIndex(({role}) => role === 'tool_result');
    save(home, changed(sessionIn(house.home), at), 'sessions/archive.session.yaml');
    const again = await replay(home, {wants: () => true, policy: 'then'});
    expect(again.sessions[0]?.differences).toMatchObject([{kind: 'changed', message: at + 1}]);
  });

  it('that cannot be replayed says why', async () => {
    const home = await copy();
    put(home, {'sessions/new.session.yaml': 'agent_id: talker\nmessages:\n  - role: user\n    content: hi\n'});
    const never = await agentdir(home, ['replay', 'new']);
    expect(never).toMatchObject({code: 1, stderr: expect.stringContaining('nothing to replay')});
    expect(never.stderr).toContain('git check-ignore');
    expect(await agentdir(home, ['replay', 'nobody'])).toMatchObject({code: 2});
    expect(await agentdir(home, ['replay'])).toMatchObject({code: 2, stderr: expect.stringContaining('--all')});
    expect(await agentdir(home, ['replay', '--all', '--policy', 'never'])).toMatchObject({code: 2});
    writeFileSync(join(home, path), 'messages: [\n');
    const broken = await agentdir(home, ['replay', 'story']);
    expect(broken).toMatchObject({code: 4, stdout: expect.stringContaining('cannot be read')});
    rmSync(join(home, '.git'), {recursive: true});
    expect(await agentdir(home, ['replay', 'story'])).toMatchObject({code: 1, stderr: expect.stringMatching(/git/)});
  });

  it('of a shallow clone is taken as it was cut off', async () => {
    const dir = temporary();
    await git(dir, 'clone', '--quiet', '--depth=6', `file://${house.home}`, 'clone');
    const home = isMadeUp(join(dir, 'clone'));
    const {shallow, sessions} = await replay(home, {wants: () => true, policy: 'then'});
    expect({shallow, sessions}).toMatchObject({shallow: true, sessions: [{differences: [], results: 4}]});
    for (const at of places) {
      save(home, changed(sessionIn(house.home), at));
      expect((await replayed(home)).differences, `message ${at + 1}`).toMatchObject([{message: at + 1}]);
    }
    expect((await agentdir(home, ['replay', 'story'])).stdout).toContain('git fetch --unshallow');
  });
});

/** A history with another content in place of one version of a file. */
function forgedIn(dump: Buffer, from: string, to: string): Buffer {
  const [was, is] = [from, to].map(text => Buffer.from(`data ${Buffer.byteLength(text)}\n${text}`));
  const at = dump.indexOf(was as Buffer);
  if (at === -1) throw new Error('no such version');
  return Buffer.concat([dump.subarray(0, at), is as Buffer, dump.subarray(at + (was as Buffer).length)]);
}

function rewriteHistory(home: string, input: Buffer): void {
  rmSync(join(home, '.git'), {recursive: true});
  const run = (...args: string[]) => execFileSync('git', args, {cwd: home, env: environment, stdio: 'pipe'});
  run('init', '--quiet');
  execFileSync('git', ['fast-import', '--quiet', '--force'], {cwd: home, env: environment, input, stdio: 'pipe'});
  const branch = execFileSync('git', ['for-each-ref', '--format=%(refname)', 'refs/heads'], {
    cwd: home,
    encoding: 'utf8',
  });
  run('symbolic-ref', 'HEAD', branch.trim());
}
