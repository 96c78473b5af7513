import {afterAll, describe, expect, it} from 'vitest';
import {parseSession} from '../../src/formats/session/session.ts';
import {linesOf} from '../cli/connector.ts';
import {agentdir, environment, git, until} from '../cli/run.ts';
import {startFakeSlack, TOKEN} from '../connect/fake-slack.ts';
import {MAIL_PASSWORD, MAIL_USER, startImap, startSmtp} from '../connect/mail-servers.ts';
import {calling, resultsOf, type Wanted} from './calling.ts';
import {askedBy, decideAsAsked, decideInQueue, decideOnPage, pageOf} from './deciding.ts';
import {openHouse} from './house.ts';
import {read, serve} from './serve.ts';
import {filesIn} from './sound.ts';
import {sessionOf} from './talk.ts';

const slack = await startFakeSlack();
const smtp = await startSmtp();
const imap = await startImap();
afterAll(async () => {
  expect(slack.violations).toEqual([]);
  await slack.close();
  await smtp.close();
  await imap.close();
});

// A name that says nothing: the settings say that it is a password.
const env = {SLACK_BOT_TOKEN: TOKEN, POSTBOX: MAIL_PASSWORD};
const house = openHouse(
  () => ({
    'agentdir.yaml': `format: 1
name: home
default_agent: talker
slack: {api_url: "${slack.url}", file: slack-ops.jsonl}
mail:
  imap: {host: 127.0.0.1, port: ${imap.port}, secure: false, user: ${MAIL_USER}, password_env: POSTBOX, first: all}
  smtp: {host: 127.0.0.1, port: ${smtp.port}, secure: false, user: ${MAIL_USER}, password_env: POSTBOX, from: agents@example.org}
`,
    'templates/talker.agent.yaml':
      'id: talker\ntype: talker\nsystem_prompt: You are brief.\ncapabilities: [slack_send, slack_read, email_send]\n',
    // That a rule allows it is not enough.
    'allowlist.yaml': 'version: 1\ntools: {slack_send: allow, email_send: allow}\n',
  }),
  [],
  env,
);

const post = (text: string, channel = 'C1'): Wanted => ({
  name: 'slack_send',
  arguments: {channel, text, thread: '1.1'},
});
const letter = (to: string): Wanted => ({name: 'email_send', arguments: {to, subject: 'Redis', text: 'It is up.'}});
const postedAs = (text: string) => slack.posted.filter(each => each.text === text);
const mailsTo = (to: string) => smtp.received.filter(({envelopeTo}) => envelopeTo.includes(to));

describe('messages to people outside', () => {
  it('are asked about each time, sent as approved, and recorded as outgoing', async () => {
    calling(house, 'plain', [post('as written'), letter('ann@example.org')]);
    const asked = await askedBy(house.home, 'plain');
    expect(asked).toMatchObject({type: 'external_message'});
    expect(read(house.home, `approvals/pending/${asked.id}.approval.md`)).toContain('as written');
    const mail = await askedBy(house.home, 'plain', 1);
    for (const {id} of [asked, mail]) expect(pageOf(house.home, id).problems).toEqual([]);
    expect(pageOf(house.home, mail.id).action).toMatchObject({
      to: 'ann@example.org',
      subject: 'Redis',
      text: 'It is up.',
    });
    expect(postedAs('as written')).toEqual([]);
    // A person puts it better.
    decideOnPage(house.home, asked.id, {decision: 'APPROVED'}, text => text.replace('as written\n', 'as edited\n'));
    await decideAsAsked(house.home, 'plain');
    const [sent, mailed] = await resultsOf(house, 'plain');
    expect(sent).toMatchObject({
      success: true,
      channel: 'C1',
      edited: {text: 'as edited'},
      logged: 'inbox/slack-ops.jsonl',
    });
    expect(mailed).toMatchObject({success: true, to: 'ann@example.org'});
    expect([postedAs('as written'), postedAs('as edited')]).toMatchObject([[], [{thread_ts: '1.1'}]]);
    expect(mailsTo('ann@example.org')).toHaveLength(1);
    expect(linesOf(house.home, 'slack-ops.jsonl')).toMatchObject([
      {
        direction: 'out',
        text: 'as edited',
        channel: 'C1',
        thread: '1.1',
        from: '@talker',
        session: 'plain',
        id: sent?.message_id,
      },
    ]);
    expect(linesOf(house.home, 'mail.jsonl')).toMatchObject([{direction: 'out', recipient: 'ann@example.org'}]);
    // What this home itself wrote is delivered to nobody, and what was run was approved.
    expect((await agentdir(house.home, ['verify'])).code).toBe(0);
    for (const secret of [TOKEN, MAIL_PASSWORD])
      expect(read(house.home, 'sessions/plain.session.yaml')).not.toContain(secret);
  });

  it('are not sent when a person says no; what is read from Slack taints', async () => {
    calling(house, 'refused', [{name: 'slack_read', arguments: {}}], [post('never')]);
    const asked = await askedBy(house.home, 'refused');
    decideInQueue(house.home, asked.id, '-');
    const [had, sent] = await resultsOf(house, 'refused');
    expect(had).toMatchObject({success: true, untrusted: true});
    expect(sent).toMatchObject({code: 'REJECTED'});
    expect(postedAs('never')).toEqual([]);
    expect(sessionOf(house.home, 'refused').header?.tainted).toEqual(['slack_read']);
  });

  it('killed between the sending and its record: sent once, said so, and a retry asks and is recognised', async () => {
    await house.daemon.stop();
    const restart = async (more: NodeJS.ProcessEnv = {}) => {
      house.daemon = await serve(house.home, {...house.stage.env, ...env, ...more}, end => house.ends.push(end));
    };
    for (const [id, wanted, sent] of [
      ['killed', post('once'), () => postedAs('once')],
      ['mailed', letter('bob@example.org'), () => mailsTo('bob@example.org')],
    ] as const) {
      await restart({AGENTDIR_CRASH_AT: 'message-sent:1'});
      // Told that nobody knows, the model tries once more.
      calling(house, id, [wanted], [wanted]);
      decideInQueue(house.home, (await askedBy(house.home, id)).id, 'x');
      expect(await house.daemon.exited).toBe('SIGKILL');
      expect(sent()).toHaveLength(1);
      await restart();
      const again = await askedBy(house.home, id, 1);
      expect(again).toMatchObject({type: 'retry', status: 'pending'});
      expect(read(house.home, `approvals/pending/${again.id}.approval.md`)).toContain('nobody knows what it did');
      expect(sent()).toHaveLength(1);
      decideInQueue(house.home, again.id, 'x');
      const [first, second] = await resultsOf(house, id);
      expect(first).toMatchObject({code: 'INTERRUPTED', error: expect.stringContaining('outcome unknown')});
      expect(second).toMatchObject({success: true});
      // Slack knows its id, and posts nothing new.
      if (id === 'killed') expect(sent()).toMatchObject([{client_msg_id: second?.message_id}]);
      await house.daemon.stop();
    }
    // A mail cannot be taken back by its server: but both have one Message-ID.
    expect(new Set(mailsTo('bob@example.org').map(({messageId}) => messageId)).size).toBe(1);
    await restart();
  });

  it('never have a token or password in them', async () => {
    calling(house, 'leak', [post(`it is ${MAIL_PASSWORD}`)], [post(`it is ${TOKEN}`)]);
    const results = await resultsOf(house, 'leak');
    for (const result of results)
      expect(result).toMatchObject({code: 'INVALID_ARGUMENTS', error: expect.stringContaining('stands for a secret')});
    expect(results).toHaveLength(2);
    const text = read(house.home, 'sessions/leak.session.yaml');
    for (const secret of [MAIL_PASSWORD, TOKEN]) expect(text).not.toContain(secret);
  });

  it('come in beside a daemon: how far the mailbox was read is in the journal', async () => {
    // What was sent comes back by a mailing list; somebody answers it.
    const [sent] = linesOf(house.home, 'mail.jsonl');
    imap.deliver(`From: agents@example.org\nMessage-ID: ${sent?.id}\nSubject: Redis\n\nIt is up.\n`);
    imap.deliver(`From: ann@example.org\nIn-Reply-To: ${sent?.id}\nSubject: Hello\n\nIs Redis up?\n`);
    const {code, stderr} = await agentdir(house.home, ['mail', '--once'], {...environment, ...env});
    expect([code, stderr]).toEqual([0, '']);
    const lines = linesOf(house.home, 'mail.jsonl');
    expect(lines.at(-1)).toMatchObject({text: 'Subject: Hello\n\nIs Redis up?', thread: sent?.id});
    expect(lines.filter(({direction}) => direction !== 'out')).toHaveLength(1);
    await until(
      () => git(house.home, 'log', '--format=%s', '--', 'state/mail.yaml'),
      log => log.includes('state(mail): read on by agentdir mail'),
    );
    // And answered, so that whoever looks again finds nothing to do.
    const inSession = () =>
      Object.values(filesIn(house.home)).filter(text => text.startsWith('# yaml') && text.includes('Is Redis up?'));
    const [answered] = await until(inSession, texts => texts.some(text => text.includes('status: sleeping')));
    expect(parseSession(answered ?? '').messages.map(({role}) => role)).toEqual(['user', 'assistant']);
  });

  it('are offered only where they are set up', async () => {
    const offered = (topic: string) => house.stage.asked(topic)[0]?.tools?.map(({function: {name}}) => name);
    expect(offered('plain')).toEqual(['slack_send', 'slack_read', 'email_send']);
  });
});
