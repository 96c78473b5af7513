import {createHmac} from 'node:crypto';
import {mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {request as httpRequest} from 'node:http';
import {connect} from 'node:net';
import {join} from 'node:path';
import {gzipSync} from 'node:zlib';
import {describe, expect, it} from 'vitest';
import {checkConnectors} from '../../src/surfaces/cli/doctor-connectors.ts';
import {homes} from '../daemon/sound.ts';
import {type Connector, linesOf, startConnector} from './connector.ts';
import {agentdir, environment, until} from './run.ts';

const SLACK = '8f742231b10e8888abcd99yyyzzz85a5';
const GITHUB = "It's a Secret to Everybody";
const STANDARD = `whsec_${Buffer.from('a secret of twenty-four!').toString('base64')}`;
/** As some services show it, without the prefix. */
const OTHER = Buffer.from('another one of 24 bytes!').toString('base64');
const env = {
  SLACK_SIGNING_SECRET: SLACK,
  GITHUB_SECRET: GITHUB,
  HOOK_SECRET: STANDARD,
  OTHER_SECRET: OTHER,
  OLD_SECRET: 'an older secret',
};

const newHome = homes({
  'agentdir.yaml': `format: 1
name: home
default_agent: planner-001
webhooks:
  - {path: /slack, kind: slack, secret_env: SLACK_SIGNING_SECRET, file: slack-messages.jsonl}
  - {path: /github, kind: github, secret_env: [GITHUB_SECRET, OLD_SECRET], file: github.jsonl}
  - {path: /hook, kind: standard, secret_env: HOOK_SECRET, file: hooks.jsonl, max_bytes: 5000}
  - {path: /other, kind: standard, secret_env: OTHER_SECRET, file: hooks.jsonl}
`,
});

interface Listening extends Connector {
  home: string;
  url: string;
}

async function listening(more: NodeJS.ProcessEnv = {}, home = newHome()): Promise<Listening> {
  const args = ['webhook', '--port', '0', '--body-timeout', '1'];
  const connector = startConnector(home, args, {...env, ...more});
  const {address} = await connector.tells('listening');
  return {...connector, home, url: String(address)};
}

const hmac = (secret: string | Buffer, text: string, as: 'hex' | 'base64') =>
  createHmac('sha256', secret).update(text).digest(as);
const seconds = (ago = 0) => String(Math.floor(Date.now() / 1000) - ago);

type Request = {path: string; body: string; headers: Record<string, string>};

function slack(payload: unknown, {secret = SLACK, time = seconds()} = {}): Request {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
  return {
    path: '/slack',
    body,
    headers: {
      'content-type': 'application/json',
      'x-slack-request-timestamp': time,
      'x-slack-signature': `v0=${hmac(secret, `v0:${time}:${body}`, 'hex')}`,
    },
  };
}

function github(event: string, payload: unknown, {secret = GITHUB, id = '1-2-3'} = {}): Request {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const headers = {
    'x-github-event': event,
    'x-github-delivery': id,
    'x-hub-signature-256': `sha256=${hmac(secret, body, 'hex')}`,
  };
  return {path: '/github', body, headers};
}

function standard(payload: unknown, {id = 'msg_1', time = seconds(), secret = STANDARD, before = ''} = {}): Request {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = `${before}v1,${hmac(key, `${id}.${time}.${body}`, 'base64')}`;
  return {path: '/hook', body, headers: {'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature}};
}

async function post(url: string, {path, body, headers}: Request): Promise<{status: number; text: string}> {
  const answer = await fetch(`${url}${path}`, {method: 'POST', headers, body});
  return {status: answer.status, text: await answer.text()};
}

const message = (text: string, {id = 'Ev1', ts = '1759572323.000100', ...event}: Record<string, unknown> = {}) => ({
  type: 'event_callback',
  team_id: 'T1',
  api_app_id: 'A1',
  event_id: id,
  event: {type: 'message', channel: 'C1', user: 'U1', text, ts, ...event},
});

/** What Slack sends for a command that somebody typed. */
const command = (text: string, more: Record<string, string> = {}) => {
  const made = slack(
    new URLSearchParams({
      ...{
        command: '/agents',
        text,
        team_id: 'T1',
        channel_id: 'C1',
        user_id: 'U1',
        user_name: 'ann',
        trigger_id: '13.7.8f',
      },
      ...{response_url: 'https://hooks.slack.com/commands/T1/1/secret', ...more},
    }).toString(),
  );
  return {...made, headers: {...made.headers, 'content-type': 'application/x-www-form-urlencoded'}};
};

describe('agentdir webhook', () => {
  it('makes one durable line of each signed event, before it says 200', async () => {
    const {home, url, tells} = await listening();
    expect(await post(url, slack({type: 'url_verification', challenge: 'c-1'}))).toEqual({
      status: 200,
      text: '{"challenge":"c-1"}',
    });
    expect((await post(url, slack(message('Is Redis up?')))).status).toBe(200);
    expect(linesOf(home, 'slack-messages.jsonl')).toEqual([
      {
        id: 'slack:T1:C1:1759572323.000100',
        ts: '2025-10-04T10:05:23.000Z',
        source: 'slack',
        text: 'Is Redis up?',
        from: 'U1',
        channel: 'C1',
        thread: '1759572323.000100',
        team: 'T1',
      },
    ]);
    // Slack's second try, signed anew; the mention of the same message; a replay of the very bytes.
    const again = slack(message('Is Redis up?'));
    for (const each of [again, again, slack(message('Is Redis up?', {id: 'Ev2', type: 'app_mention'}))])
      expect((await post(url, each)).status).toBe(200);
    // What is no message, and what this app wrote itself.
    for (const event of [
      {id: 'Ev3', type: 'reaction_added'},
      {id: 'Ev4', subtype: 'message_deleted', ts: '2.1'},
      {id: 'Ev5', app_id: 'A1', ts: '2.2'},
    ])
      expect((await post(url, slack(message('x', event)))).status).toBe(200);
    expect(linesOf(home, 'slack-messages.jsonl')).toHaveLength(1);
    expect((await post(url, slack(message('in a thread', {id: 'Ev6', ts: '2.3', thread_ts: '1.1'})))).status).toBe(200);
    expect(linesOf(home, 'slack-messages.jsonl')[1]).toMatchObject({text: 'in a thread', thread: '1.1'});

    expect((await post(url, slack(message('x'.repeat(200_000), {id: 'Ev7', ts: '2.4'})))).status).toBe(200);
    const long = linesOf(home, 'slack-messages.jsonl')[2];
    expect([long?.incomplete, String(long?.text).length]).toEqual(['it is longer than what is here', 100_000]);

    const names = Array.from({length: 500}, (_, i) => ({name: `${i}${'\u0001'.repeat(40)}`}));
    const odd = {id: 'Ev8', ts: '2.5', user: 'U'.repeat(5000), files: names};
    expect((await post(url, slack(message('\u0001'.repeat(90_000), odd)))).status).toBe(200);
    expect(linesOf(home, 'slack-messages.jsonl')[3]).toMatchObject({from: 'U'.repeat(1000), files: expect.any(Array)});
    expect(linesOf(home, 'slack-messages.jsonl')[3]?.files).toHaveLength(20);

    const alert = {id: 'Ev9', ts: '2.6', subtype: 'bot_message', bot_id: 'B7', attachments: [{fallback: 'down'}, {}]};
    expect((await post(url, slack(message('', alert)))).status).toBe(200);
    expect(linesOf(home, 'slack-messages.jsonl')[4]).toMatchObject({text: 'down', from: 'U1'});

    const opened = {
      action: 'opened',
      issue: {number: 7, title: 'It is down', body: 'Since noon.', html_url: 'https://github.com/a/b/issues/7'},
      repository: {full_name: 'a/b'},
      sender: {login: 'ann'},
    };
    expect((await post(url, github('ping', {zen: 'x'}))).status).toBe(200);
    expect((await post(url, github('issues', opened))).status).toBe(200);
    // Its signature covers neither the id nor a time: the same bytes are the same event.
    expect((await post(url, github('issues', opened, {id: 'other'}))).status).toBe(200);
    // While secrets are replaced, both count.
    expect(
      (await post(url, github('issues', {...opened, action: 'closed'}, {secret: env.OLD_SECRET, id: '4-5-6'}))).status,
    ).toBe(200);
    expect(linesOf(home, 'github.jsonl')).toMatchObject([
      {
        text: 'issues opened by ann in a/b#7: It is down\n\nSince noon.\n\nhttps://github.com/a/b/issues/7',
        from: 'ann',
        thread: 'a/b#7',
      },
      {action: 'closed'},
    ]);

    const evil = {
      type: 'alert',
      data: {text: 'disk full', to: 'executor-001', direction: 'out'},
      to: 'x',
      direction: 'out',
    };
    expect((await post(url, standard(evil, {before: 'v1,AAAA v2,x '}))).status).toBe(200);
    expect((await post(url, standard(evil))).status).toBe(200);
    const [line, ...others] = linesOf(home, 'hooks.jsonl');
    expect(others).toEqual([]);
    expect(Object.keys(line ?? {})).toEqual(['id', 'ts', 'source', 'text', 'type']);
    expect(line).toMatchObject({id: 'standard:/hook:msg_1', text: 'alert: disk full'});
    // Another sender may count as this one does.
    const other = standard({text: 'another'}, {secret: `whsec_${OTHER}`});
    for (const each of [other, other]) expect((await post(url, {...each, path: '/other'})).status).toBe(200);
    expect(linesOf(home, 'hooks.jsonl')).toMatchObject([{}, {id: 'standard:/other:msg_1', text: 'another'}]);
    expect(await tells('known', 6)).toMatchObject({status: 200});
  });

  it('makes a line of a command that was typed in Slack, and says so to who typed it', async () => {
    const {home, url, told} = await listening();
    const answer = {status: 200, text: '{"response_type":"ephemeral","text":"Passed on to the agents."}'};
    for (let i = 0; i < 2; i++) expect(await post(url, command('is Redis up?'))).toEqual(answer);
    expect(linesOf(home, 'slack-messages.jsonl')).toEqual([
      {
        id: 'slack-command:T1:13.7.8f',
        ts: expect.any(String),
        source: 'slack',
        text: '/agents is Redis up?',
        from: 'U1',
        name: 'ann',
        channel: 'C1',
        team: 'T1',
      },
    ]);
    expect((await post(url, command('', {trigger_id: '13.7.9f'}))).status).toBe(200);
    expect(linesOf(home, 'slack-messages.jsonl')[1]?.text).toBe('/agents');
    // Buttons and dialogs are not ours; Slack tells who pressed one that it failed.
    expect((await post(url, command('', {payload: '{"type":"block_actions"}'}))).status).toBe(400);
    expect((await post(url, command('x', {trigger_id: ''}))).status).toBe(400);
    expect(told.filter(({event}) => event === 'refused').map(({why}) => why)).toEqual([
      'it is an interaction (block_actions): buttons, shortcuts and dialogs are not taken',
      'expected a command with trigger_id and channel_id',
    ]);
    expect(await post(url, {...command('', {ssl_check: '1'})})).toEqual({status: 200, text: 'ok\n'});
    expect(linesOf(home, 'slack-messages.jsonl')).toHaveLength(2);
  });

  it('refuses what is not signed, old, replayed, garbage, too long or too slow; logs it, and delivers nothing', async () => {
    const {home, url, told, output, child, exited} = await listening();
    const right = slack(message('x'));
    const refused: [Request, number][] = [
      [{...right, headers: {}}, 401],
      [slack(message('x'), {secret: 'another secret'}), 401],
      [{...right, body: right.body.replace('"x"', '"y"')}, 401],
      [{...right, headers: {...right.headers, 'x-slack-signature': 'v0=00'}}, 401],
      [slack(message('x'), {time: seconds(301)}), 401],
      [slack(message('x'), {time: seconds(-330)}), 401],
      [slack(message('x'), {time: 'NaN'}), 401],
      [slack('not JSON'), 400],
      [slack('[]'), 400],
      [slack({type: 'event_callback'}), 400],
      [github('issues', '{}', {secret: 'wrong'}), 401],
      [{...github('issues', '{}'), headers: {}}, 401],
      [github('Not An Event', '{}'), 400],
      [standard({}, {time: seconds(400)}), 401],
      [standard({}, {secret: 'whsec_AAAA'}), 401],
      [standard('garbage'), 400],
      [standard({text: 'x'}, {id: 'm'.repeat(400)}), 400],
      [slack('{"type":'.repeat(100_000)), 400],
      [standard({text: 'x'.repeat(6000)}), 413],
      [{...right, path: '/nowhere'}, 404],
      [{...right, path: '/slack/../github'}, 401],
    ];
    for (const [request, status] of refused)
      expect([(await post(url, request)).status, request.path, request.body.slice(0, 40)]).toEqual([
        status,
        request.path,
        request.body.slice(0, 40),
      ]);
    const get = await fetch(`${url}/slack`);
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
    // Who sends on and on hears why.
    expect(await sends(url, 'y'.repeat(9000), {'transfer-encoding': 'chunked'})).toBe(413);
    for (let i = 0; i < 5; i++) expect(await sends(url, Buffer.alloc(8_000_000), {})).toBe(413);
    expect(await sends(url, gzipSync(right.body), {...right.headers, 'content-encoding': 'gzip'}, '/slack')).toBe(415);
    const half = 'POST /slack HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{';
    expect(await says(url, half)).toContain('HTTP/1.1 408');
    expect(await says(url, 'GET /\x1b[31m HTTP/1.1\r\nHost: x\r\n\r\n')).toContain('HTTP/1.1 400');
    expect(await says(url, 'no HTTP at all\r\n\r\n')).toContain('HTTP/1.1 400');
    expect(await says(url, `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`)).toContain('HTTP/1.1 431');
    // Who says nothing more, hears it and does not hang up is let go all the same: it would take a place for good.
    const open = () => readdirSync(`/proc/${child.pid}/fd`).length;
    const before = open();
    const never = Array.from({length: 20}, () => says(url, 'POST /slack', {allowHalfOpen: true}));
    for (const text of await Promise.all(never)) expect(text).toContain('HTTP/1.1 408');
    await until(open, now => now < before + 10);
    for (const file of ['slack-messages.jsonl', 'github.jsonl', 'hooks.jsonl']) expect(linesOf(home, file)).toEqual([]);
    const logged = () => told.filter(({event}) => event === 'refused');
    await until(logged, all => all.length === refused.length + 32);
    expect(
      logged()
        .map(({status}) => status)
        .sort(),
    ).toEqual(
      [
        ...refused.map(([, status]) => status),
        405,
        ...Array(6).fill(413),
        415,
        ...Array(21).fill(408),
        400,
        400,
        431,
      ].sort(),
    );
    for (const {why} of logged()) expect(why).toMatch(/\w+ /);
    // What it serves goes on all the same.
    expect((await post(url, slack(message('still there')))).status).toBe(200);
    for (const secret of Object.values(env)) expect(output()).not.toContain(secret);
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
    expect(told.at(-1)).toMatchObject({event: 'stopped'});
    const second = await listening({}, home);
    expect((await post(second.url, slack(message('still there')))).status).toBe(200);
    expect(linesOf(home, 'slack-messages.jsonl')).toHaveLength(1);
  });

  it.each([
    ['inbox-append', 0],
    ['inbox-appended', 1],
  ])('killed at %s: the next try of the sender makes one line', async (label, before) => {
    const first = await listening({AGENTDIR_CRASH_AT: `${label}:1`});
    const {home} = first;
    await expect(post(first.url, slack(message('once')))).rejects.toThrow();
    expect(await first.exited).toBe('SIGKILL');
    expect(linesOf(home, 'slack-messages.jsonl')).toHaveLength(before);
    const second = await listening({}, home);
    expect((await post(second.url, slack(message('once')))).status).toBe(200);
    expect(linesOf(home, 'slack-messages.jsonl')).toMatchObject([{text: 'once'}]);
  });

  it('a line that somebody left unfinished stays a line of its own; what was rotated away is known; secrets are taken out', async () => {
    const {home, url, child, exited} = await listening();
    const path = join(home, 'inbox/slack-messages.jsonl');
    mkdirSync(join(home, 'inbox'), {recursive: true});
    writeFileSync(path, '{"text": "torn');
    const token = `xoxb-${'1234567890'.repeat(2)}-AbCdEfGhIjKl`;
    const many = Array.from({length: 20}, (_, i) =>
      post(url, slack(message(`number ${i} ${token} ${SLACK}`, {id: `Ev-${i}`, ts: `100.${i}`}))),
    );
    // Tries of one event at the same time.
    const twice = Array.from({length: 5}, () => post(url, slack(message('twin', {id: 'Ev-t', ts: '100.99'}))));
    for (const {status} of await Promise.all([...many, ...twice])) expect(status).toBe(200);
    const lines = readFileSync(path, 'utf8').split('\n');
    expect(lines[0]).toBe('{"text": "torn');
    expect(lines).toHaveLength(23);
    expect(new Set(lines.slice(1, -1).map(line => (JSON.parse(line) as {id: string}).id)).size).toBe(21);
    expect(readFileSync(path, 'utf8')).not.toMatch(new RegExp(`${token}|${SLACK}`));
    renameSync(path, `${path}.1`);
    child.kill('SIGINT');
    expect(await exited).toBe(0);
    const again = await listening({}, home);
    expect((await post(again.url, slack(message('number 3', {id: 'Ev-3', ts: '100.3'})))).status).toBe(200);
    expect(linesOf(home, 'slack-messages.jsonl')).toEqual([]);
    // It is not there to be written: the sender is told to try again, and then it is.
    rmSync(join(home, 'inbox'), {recursive: true});
    writeFileSync(join(home, 'inbox'), '');
    expect((await post(again.url, slack(message('later', {id: 'Ev-l', ts: '200.1'})))).status).toBe(503);
    rmSync(join(home, 'inbox'));
    expect((await post(again.url, slack(message('later', {id: 'Ev-l', ts: '200.1'})))).status).toBe(200);
    expect(linesOf(home, 'slack-messages.jsonl')).toMatchObject([{text: 'later'}]);
  });

  it('a disk that does not keep what was written: no 200, also not for the second try; a log that nobody takes ends nothing', async () => {
    const home = newHome();
    const [preload, when] = [join(home, '../preload.mjs'), join(home, '../eio')];
    writeFileSync(
      preload,
      `import fs from 'node:fs'; import {syncBuiltinESMExports} from 'node:module';
       const {fsync} = fs;
       fs.fsync = (fd, done) => fs.existsSync(${JSON.stringify(when)}) ? process.nextTick(done, new Error('EIO')) : fsync(fd, done);
       syncBuiltinESMExports();`,
    );
    const {url, child, exited} = await listening({NODE_OPTIONS: `--import=file://${preload}`}, home);
    writeFileSync(when, '');
    for (let i = 0; i < 2; i++) expect((await post(url, slack(message('kept?')))).status).toBe(503);
    rmSync(when);
    child.stdout?.destroy();
    for (let i = 0; i < 3; i++) expect((await post(url, slack(message('kept?')))).status).toBe(200);
    expect(linesOf(home, 'slack-messages.jsonl')).toHaveLength(1);
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
  });

  it('says what is missing, and runs once a home', async () => {
    const {home, url, child, exited} = await listening();
    const status = async (...more: string[]) => (await agentdir(home, ['status', ...more])).stdout;
    expect(JSON.parse(await status('--json'))).toMatchObject({
      connectors: [{name: 'webhook', running: true, pid: child.pid, at: url, since: expect.any(String)}],
    });
    expect(checkConnectors(home)[0]).toEqual({name: 'webhook', state: 'ok', message: `process ${child.pid}, ${url}`});
    const run = (more: NodeJS.ProcessEnv, where = home) =>
      agentdir(where, ['webhook', '--port', '0'], {...environment, ...more});
    expect(await run(env)).toMatchObject({code: 5, stderr: expect.stringContaining('already runs for this home')});
    expect(await run({...env, HOOK_SECRET: ''})).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('webhook /hook: the environment variable HOOK_SECRET is not set'),
    });
    expect(await run({...env, OLD_SECRET: 'short'})).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('OLD_SECRET is shorter'),
    });
    expect(checkConnectors(home).map(({message}) => message)).toContain('webhook /hook: HOOK_SECRET is not set here');
    // Killed: whoever looks sees that it is gone.
    child.kill('SIGKILL');
    await exited;
    expect(await status()).toContain('  webhook is not running: agentdir webhook\n');
    expect(checkConnectors(home)[0]).toMatchObject({name: 'webhook', state: 'note', hint: 'agentdir webhook'});
    const other = newHome();
    writeFileSync(join(other, 'agentdir.yaml'), 'format: 1\n');
    expect(await run(env, other)).toMatchObject({code: 2, stderr: expect.stringContaining('has no webhooks')});
    writeFileSync(
      join(other, 'agentdir.yaml'),
      'webhooks: [{path: slack, kind: slak, secret_env: s3cr3t-value, file: ../x}]\n',
    );
    expect((await run(env, other)).code).toBe(4);
    const {stdout} = await agentdir(other, ['check', 'agentdir.yaml']);
    for (const words of [
      'did you mean "slack"?',
      'expected a path',
      'expected the name of an environment variable',
      'expected the name of a file in inbox/',
    ])
      expect(stdout).toContain(words);
  });
});

/** With `transfer-encoding: chunked` only counting tells how long it is. */
function sends(
  url: string,
  body: string | Buffer,
  headers: Record<string, string>,
  path = '/hook',
): Promise<number | string> {
  return new Promise(resolve => {
    const sent = httpRequest(`${url}${path}`, {method: 'POST', headers}, answer => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on('error', error => resolve(error.message));
    sent.end(body);
  });
}

/** What comes back on the wire, until the other side closes. */
function says(url: string, what: string, {allowHalfOpen = false} = {}): Promise<string> {
  const {hostname, port} = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({port: Number(port), host: hostname, allowHalfOpen}, () => socket.write(what));
    let text = '';
    socket.on('data', chunk => {
      text += chunk;
    });
    socket.on('error', reject);
    socket.on(allowHalfOpen ? 'end' : 'close', () => resolve(text));
  });
}
