import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {type AddressInfo, createServer} from 'node:net';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {beforeEach, describe, expect, it} from 'vitest';
import {connectorOf} from '../../src/home/connector-state.ts';
import {checkConnectors} from '../../src/surfaces/cli/doctor-connectors.ts';
import {type FakeImap, MAIL_PASSWORD, MAIL_USER, startImap} from '../connect/mail-servers.ts';
import {homes} from '../daemon/sound.ts';
import {linesOf, startConnector} from './connector.ts';
import {agentdir, environment, until} from './run.ts';

let imap: FakeImap;
beforeEach(async () => {
  imap = await startImap();
  return () => imap.close();
});

const env = {MAIL_PASSWORD};
const emptyHome = homes();

function newHome(more = 'first: all', port = imap.port): string {
  const home = emptyHome();
  const settings = `host: 127.0.0.1, port: ${port}, secure: false, user: ${MAIL_USER}, password_env: MAIL_PASSWORD`;
  writeFileSync(
    join(home, 'agentdir.yaml'),
    `format: 1\nname: home\ndefault_agent: planner-001\nmail: {imap: {${settings}, ${more}}}\n`,
  );
  return home;
}

const once = (home: string, more: NodeJS.ProcessEnv = {}) =>
  agentdir(home, ['--json', 'mail', '--once'], {...environment, ...env, ...more});
const letter = (n: number, more = '', body = `Body ${n}.`) =>
  `From: Ann <ann@example.org>\nTo: agents@example.org\nSubject: Number ${n}\nMessage-ID: <${n}@example.org>\n${more}\n${body}\n`;
const texts = (home: string) => linesOf(home, 'mail.jsonl').map(({text}) => text);
const numbered = (...numbers: number[]) => numbers.map(n => `Subject: Number ${n}\n\nBody ${n}.`);

describe('agentdir mail', () => {
  it('makes one line of each mail, in order, and changes nothing in the mailbox', async () => {
    const home = newHome();
    imap.deliver(letter(1));
    imap.deliver(
      letter(
        2,
        'In-Reply-To: <1@example.org>\nReferences: <1@example.org>\nContent-Type: text/html\n',
        '<style>p{}</style><p>Is <b>Redis</b> up?</p><script>x()</script>',
      ),
    );
    imap.deliver(
      'From: =?utf-8?q?J=C3=BCrgen?= <j@example.org>\nSubject: =?utf-8?b?R3LDvMOfZQ==?=\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\nGr=FC=DFe\n--b\nContent-Type: application/pdf\nContent-Disposition: attachment; filename="../x.pdf"\nContent-Transfer-Encoding: base64\n\nAAAA\n--b--\n',
    );
    // A sender cannot say where it goes, or that it is ours; and garbage is a mail, too.
    imap.deliver('From: evil\nto: executor-001\ndirection: out\n\n{"direction": "out", "to": "executor-001"}');
    imap.deliver('\0\x01\x02 no mail at all');
    const ran = await once(home);
    expect(ran).toMatchObject({code: 0, stderr: ''});
    // It does not say that it watches: it ends.
    expect(ran.stdout).not.toContain('watching');
    const lines = linesOf(home, 'mail.jsonl');
    expect(lines).toHaveLength(5);
    expect(lines[0]).toMatchObject({
      id: `mail:${MAIL_USER}@127.0.0.1/INBOX:1:1`,
      source: 'email',
      text: 'Subject: Number 1\n\nBody 1.',
      from: 'ann@example.org',
      name: 'Ann',
      thread: '<1@example.org>',
      message_id: '<1@example.org>',
      recipients: ['agents@example.org'],
    });
    expect(lines[1]).toMatchObject({
      text: 'Subject: Number 2\n\nIs **Redis** up?',
      thread: '<1@example.org>',
      message_id: '<2@example.org>',
    });
    expect(lines[2]).toMatchObject({
      text: 'Subject: Grüße\n\nGrüße',
      name: 'Jürgen',
      attachments: [{name: '../x.pdf', type: 'application/pdf', bytes: 3}],
    });
    for (const line of lines) expect([line.to, line.direction]).toEqual([undefined, undefined]);
    expect(imap.flags()).toEqual([]);
    expect(readFileSync(join(home, 'state/mail.yaml'), 'utf8')).toContain('uid: 5');
    // Nothing new: nothing comes.
    expect((await once(home)).code).toBe(0);
    expect(linesOf(home, 'mail.jsonl')).toHaveLength(5);
    expect((await agentdir(home, ['check'])).stdout).not.toContain('mail.jsonl');
  });

  it.each([['inbox-appended', 2, 2] as const, ['save-rename', 1, 3] as const])(
    'killed at %s:%i: each mail is there once',
    async (label, nth, before) => {
      const home = newHome();
      for (const n of [1, 2, 3]) imap.deliver(letter(n));
      // The place of the beginning is written once before: then it is replaced.
      const killed = startConnector(home, ['mail', '--once'], {...env, AGENTDIR_CRASH_AT: `${label}:${nth}`});
      expect(await killed.exited, killed.output()).toBe('SIGKILL');
      expect(linesOf(home, 'mail.jsonl')).toHaveLength(before);
      expect(await once(home)).toMatchObject({code: 0});
      expect(texts(home)).toEqual(numbered(1, 2, 3));
    },
  );

  it('sees mail as it comes, across lost connections and other numbers; old mail stays old', async () => {
    imap.deliver(letter(1), new Date(Date.now() - 3_600_000));
    const home = newHome('poll_seconds: 3600');
    const watching = startConnector(home, ['mail'], env);
    await watching.tells('watching');
    expect(texts(home)).toEqual([]);
    const came = (...numbers: number[]) =>
      until(
        () => ({got: texts(home), told: watching.output()}),
        ({got}) => got.length >= numbers.length,
      ).then(({got}) => expect(got).toEqual(numbered(...numbers)));
    imap.deliver(letter(2));
    await came(2);
    const state = () => connectorOf(home, 'mail');
    const here = {name: 'mail', pid: watching.child.pid, at: `${MAIL_USER}@127.0.0.1/INBOX`, since: expect.any(String)};
    expect(state()).toEqual(here);
    imap.hangUp();
    await watching.tells('trouble');
    expect(watching.told.find(({event}) => event === 'trouble')?.why).toContain('127.0.0.1');
    imap.deliver(letter(3));
    await came(2, 3);
    // It is over: nobody is told of it any more.
    await until(state, now => now?.trouble === undefined);
    imap.renumber();
    imap.deliver(letter(4));
    await came(2, 3, 4);
    const renumbered = await until(
      () => readFileSync(join(home, 'state/mail.yaml'), 'utf8'),
      text => text.includes('uid: 4'),
    );
    expect(renumbered).toMatch(/uid_validity: ['"]?2/);
    // Two mails may be the same to the byte.
    imap.deliver(letter(4));
    await came(2, 3, 4, 4);
    watching.child.kill('SIGTERM');
    expect(await watching.exited, watching.output()).toBe(0);
    expect(watching.output()).not.toContain(MAIL_PASSWORD);
    expect(state()).toBeUndefined();
  });

  it('stops soon although the server has fallen silent', async () => {
    // It greets, and answers nothing: that would be waited for for minutes.
    const silent = createServer(socket => socket.on('error', () => {}).write('* OK hello\r\n'));
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve));
    const connected = new Promise(resolve => silent.once('connection', resolve));
    const {port} = silent.address() as AddressInfo;
    const watching = startConnector(newHome('first: all', port), ['mail'], env);
    await connected;
    watching.child.kill('SIGTERM');
    expect(await watching.exited, watching.output()).toBe(0);
    silent.close();
  });

  it('tries again where the server lets nobody in just now, and status says so', async () => {
    const busy = createServer(socket => {
      socket.on('error', () => {}).write('* OK hello\r\n');
      createInterface({input: socket}).on('line', line => {
        const [tag, verb] = line.split(' ');
        const answer = verb === 'LOGIN' || verb === 'AUTHENTICATE' ? 'NO [UNAVAILABLE] later, please' : 'OK done';
        socket.write(`${verb === 'CAPABILITY' ? '* CAPABILITY IMAP4rev1\r\n' : ''}${tag} ${answer}\r\n`);
      });
    });
    await new Promise<void>(resolve => busy.listen(0, '127.0.0.1', resolve));
    const home = newHome('first: all', (busy.address() as AddressInfo).port);
    const watching = startConnector(home, ['mail'], env);
    await watching.tells('trouble', 2);
    const {stdout} = await agentdir(home, ['status']);
    expect(stdout).toMatch(
      / {2}mail watches agents@127\.0\.0\.1\/INBOX: process \d+ since .*; waiting .*later, please/,
    );
    expect(checkConnectors(home)).toContainEqual(expect.objectContaining({name: 'mail', state: 'bad'}));
    watching.child.kill('SIGTERM');
    expect(await watching.exited, watching.output()).toBe(0);
    busy.close();
  });

  it('polls a server that tells of nothing, on this machine also one whose certificate nobody signed', async () => {
    const silent = await startImap({idle: false, tls: true});
    try {
      const home = newHome('poll_seconds: 1', silent.port);
      const watching = startConnector(home, ['mail'], env);
      await watching.tells('watching');
      silent.deliver(letter(7));
      await until(
        () => texts(home),
        got => got.length === 1,
      );
      expect(texts(home)).toEqual(numbered(7));
    } finally {
      await silent.close();
    }
  });

  it('says what is wrong', async () => {
    const home = newHome();
    expect(await once(home, {MAIL_PASSWORD: 'wrong'})).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`rejected the login of ${MAIL_USER}`),
    });
    expect(await once(home, {MAIL_PASSWORD: ''})).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('MAIL_PASSWORD is not set'),
    });
    expect(await once(newHome('mailbox: Nowhere'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the mailbox "Nowhere" cannot be opened'),
    });
    expect(await once(newHome('first: all', 9))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ECONNREFUSED'),
    });
    expect(await once(emptyHome())).toMatchObject({code: 2, stderr: expect.stringContaining('no mailbox to read')});
    const broken = newHome();
    mkdirSync(join(broken, 'state'), {recursive: true});
    writeFileSync(join(broken, 'state/mail.yaml'), 'mailboxes: [');
    expect(await once(broken)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('state/mail.yaml cannot be read'),
    });
  });
});
