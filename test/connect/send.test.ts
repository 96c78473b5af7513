import {appendFileSync, mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {notSetUp} from '../../src/effects/connect/set-up.ts';
import type {Outside} from '../../src/effects/tool/tool.ts';
import {prepareCall} from '../../src/effects/tools/prepare-call.ts';
import {emptyPolicy} from '../../src/formats/rule.ts';
import {judgeTool} from '../../src/policy/judge.ts';
import {until} from '../cli/run.ts';
import {allowAll, asking, textOf, toolHome} from '../effects/tool-home.ts';
import {type FakeSlack, startFakeSlack, TOKEN} from './fake-slack.ts';
import {type FakeSmtp, MAIL_PASSWORD, MAIL_USER, startSmtp} from './mail-servers.ts';

let slack: FakeSlack;
let smtp: FakeSmtp;
beforeAll(async () => {
  slack = await startFakeSlack();
  smtp = await startSmtp();
});
afterAll(async () => {
  expect(slack.violations).toEqual([]);
  await slack.close();
  await smtp.close();
});

/** A home with both set up, and what is recorded of what it sends. */
function connected(changes: Partial<Outside> = {}) {
  const records: unknown[] = [];
  const made = toolHome({
    outside: {
      settings: {
        slack: {api_url: slack.url},
        mail: {
          smtp: {
            host: '127.0.0.1',
            port: smtp.port,
            secure: false,
            user: MAIL_USER,
            password_env: 'P',
            from: 'Agents <agents@example.org>',
          },
        },
      },
      env: {SLACK_BOT_TOKEN: TOKEN, P: MAIL_PASSWORD},
      messageName: `${Math.random()}`,
      sent: async (file, record) => void records.push({file, ...record}),
      ...changes,
    },
  });
  return {...made, records};
}

describe('slack_send', () => {
  it('posts once under one id, and records it', async () => {
    const {run, records} = connected({messageName: 'the call'});
    const args = {channel: 'C1', text: 'Up & <b>running</b>', thread: '1759572323.000100'};
    const first = await run('slack_send', args);
    expect(first).toMatchObject({success: true, channel: 'C1', logged: 'inbox/slack-messages.jsonl'});
    const before = slack.posted.length;
    // The same call, made again.
    expect(await run('slack_send', args)).toMatchObject({success: true, ts: first.ts, message_id: first.message_id});
    expect(slack.posted).toHaveLength(before);
    expect(slack.posted.at(-1)).toMatchObject({
      text: args.text,
      thread_ts: args.thread,
      client_msg_id: first.message_id,
    });
    expect(slack.tries.at(-1)).toMatchObject({unfurl_links: 'false', unfurl_media: 'false'});
    // What a person has edited since is another message, and not taken for the first.
    const edited = await run('slack_send', {...args, text: 'Up, at last'});
    expect(edited.message_id).not.toBe(first.message_id);
    expect(slack.posted.at(-1)).toMatchObject({text: 'Up, at last'});
    expect(records[0]).toMatchObject({
      file: 'slack-messages.jsonl',
      source: 'slack',
      text: args.text,
      thread: args.thread,
      from: '@coder',
      session: 'coder-1',
      call: 'call-1',
    });
  });

  it('asks each time, whatever a rule allows, and shows channel, thread and the whole text', async () => {
    const {context} = connected();
    const long = `<!channel> ${'word '.repeat(2000)}end`;
    const {ask} = await asking(context, 'slack_send', {channel: '#ops', text: long, thread: '1.1'}, allowAll);
    expect(ask).toMatchObject({
      type: 'external_message',
      risk: {level: 'HIGH'},
      edits: {argument: 'text'},
      always: {none: expect.any(String)},
    });
    expect(textOf(ask)).toBe(`Channel:\n#ops\nThread:\n1.1\nText:\n${long}`);
    expect(ask.risk.factors.join()).toContain('notifies everybody');
    const group = await asking(context, 'slack_send', {channel: '#ops', text: '<!subteam^S1> look'}, allowAll);
    expect(group.ask.risk.factors.join()).toContain('<!subteam> notifies all of a group');
    expect(judgeTool('slack_send', allowAll).verdict).toBe('ask');
    expect(judgeTool('email_send', allowAll).verdict).toBe('ask');
    expect(judgeTool('slack_send', {...allowAll, tools: {'slack_*': 'deny'}}).verdict).toBe('deny');
  });

  it.each([
    ['refused', {error: 'not_in_channel'}, 'FAILED', 'has to invite it'],
    ['too many', {retryAfter: 7}, 'FAILED', 'try again in 7 s'],
    ['not for us', {status: 403}, 'FAILED', 'HTTP 403'],
    ['trouble at Slack', {status: 500}, 'INTERRUPTED', 'outcome unknown'],
    ['more trouble', {error: 'internal_error'}, 'INTERRUPTED', 'outcome unknown'],
    ['cut off before', {hangUp: 'before'}, 'INTERRUPTED', 'outcome unknown'],
    ['cut off after', {hangUp: 'after'}, 'INTERRUPTED', 'outcome unknown'],
  ] as const)('%s: tried once, and told', async (name, how, code, words) => {
    const {run, records} = connected();
    const channel = `X-${name.replaceAll(' ', '-')}`;
    slack.refuse.set(channel, how);
    const before = slack.tries.length;
    expect(await run('slack_send', {channel, text: 'x'})).toMatchObject({
      success: false,
      code,
      error: expect.stringContaining(words),
    });
    expect(slack.tries).toHaveLength(before + 1);
    expect(records).toEqual([]);
  });

  it('fails where nothing listens, and says so where nothing is set up', async () => {
    const gone = await startFakeSlack();
    await gone.close();
    const nowhere = connected({settings: {slack: {api_url: gone.url}}});
    expect(await nowhere.run('slack_send', {channel: 'C1', text: 'x'})).toMatchObject({
      code: 'FAILED',
      error: expect.stringContaining('cannot be reached'),
    });
    const none = connected({env: {}});
    const words = expect.stringContaining('set SLACK_BOT_TOKEN');
    expect(await none.run('slack_send', {channel: 'C1', text: 'x'})).toMatchObject({code: 'FAILED', error: words});
    await expect(asking(none.context, 'slack_send', {channel: 'C1', text: 'x'})).rejects.toThrow(/set SLACK_BOT_TOKEN/);
    const {home} = none.context;
    expect([...notSetUp(home, {}, {})].sort()).toEqual(['email_send', 'slack_read', 'slack_send']);
    expect([...notSetUp(home, {}, {SLACK_BOT_TOKEN: 'x'})]).toEqual(['email_send']);
  });

  it('slack_read is offered and works without a token if the inbox has a file from Slack', async () => {
    const none = connected({env: {}});
    const inbox = join(none.context.home, 'inbox');
    mkdirSync(inbox, {recursive: true});
    appendFileSync(join(inbox, 'slack-ops.jsonl'), '{"from":"@sarah","text":"Is Redis up?","ts":"1"}\n');
    expect(notSetUp(none.context.home, {}, {}).has('slack_read')).toBe(false);
    expect(await none.run('slack_read', {})).toMatchObject({success: true, messages: [{text: 'Is Redis up?'}]});
  });

  it('says that it is sent though the record cannot be written; a wrong token leaves no trace of it', async () => {
    const full = connected({sent: () => Promise.reject(new Error('the disk is full'))});
    expect(await full.run('slack_send', {channel: 'C1', text: 'x'})).toMatchObject({
      success: true,
      not_logged: expect.stringContaining('the disk is full'),
    });
    const wrong = connected({env: {SLACK_BOT_TOKEN: 'xoxb-wrong'}});
    const result = await wrong.run('slack_send', {channel: 'C1', text: 'x'});
    expect(result).toMatchObject({
      code: 'FAILED',
      error: expect.stringMatching(/the token is not valid; a person has to .* set its new token/),
    });
    expect(JSON.stringify(result)).not.toContain('xoxb-wrong');
  });

  it.each([
    [{channel: 'a b', text: 'x'}, /^channel: expected/],
    [{channel: 'https://evil.example/', text: 'x'}, /^channel: expected/],
    [{channel: 'C1', text: ' \n'}, /^text: expected/],
    [{channel: 'C1', text: 'x'.repeat(40_001)}, /^text: expected at most/],
    [{channel: 'C1', text: 'x', thread: 'soon'}, /^thread: expected/],
    [{channel: 'C1', text: 'the key is [redacted: SLACK_BOT_TOKEN]'}, /stands for a secret/],
  ])('refuses %o', async (args, words) => {
    const {run} = connected();
    expect(await run('slack_send', args)).toMatchObject({
      code: 'INVALID_ARGUMENTS',
      error: expect.stringMatching(words),
    });
  });
});

it.each([
  ['slack_send', {channel: 'X-hangs', text: 'x'}, () => slack.tries.some(({channel}) => channel === 'X-hangs')],
  [
    'email_send',
    {to: 'hang@example.org', subject: 's', text: 't'},
    () => smtp.received.some(({envelopeTo}) => envelopeTo.includes('hang@example.org')),
  ],
] as const)('%s, stopped while nobody answers: outcome unknown', async (name, args, isThere) => {
  slack.refuse.set('X-hangs', {hangs: true});
  smtp.refuse.set('hang@example.org', 'hang');
  const stop = new AbortController();
  const {context} = connected();
  const {execute} = await asking({...context, signal: stop.signal}, name, args);
  const result = execute();
  await until(isThere, there => there);
  stop.abort();
  expect(await result).toMatchObject({code: 'INTERRUPTED', error: expect.stringContaining('outcome unknown')});
});

describe('slack_read', () => {
  it('reads what came to the inbox, and what was sent, as text from outside', async () => {
    const {run, home} = connected();
    expect(await run('slack_read', {})).toEqual({success: true, messages: [], untrusted: true});
    mkdirSync(join(home, 'inbox'));
    const line = (n: number, more = {}) =>
      JSON.stringify({
        text: `t${n}`,
        from: 'U1',
        channel: 'C1',
        thread: n % 2 ? 'odd' : 'even',
        ts: `2026-01-01T00:00:0${n}.000Z`,
        ...more,
      });
    appendFileSync(
      join(home, 'inbox/slack-messages.jsonl'),
      `${[1, 2, 3].map(n => line(n)).join('\n')}\ngarbage\n${line(4, {direction: 'out'})}\n{"text": "half`,
    );
    expect(await run('slack_read', {limit: 2})).toMatchObject({
      messages: [
        {text: 't3', from: 'U1', thread: 'odd'},
        {text: 't4', direction: 'out'},
      ],
      more: true,
      untrusted: true,
    });
    expect((await run('slack_read', {thread: 'odd'})).messages).toMatchObject([{text: 't1'}, {text: 't3'}]);
  });

  it('reads the history of a channel or thread from Slack', async () => {
    const {run} = connected();
    for (const text of ['one', 'two', 'three'])
      await connected().run('slack_send', {channel: 'CHIST', text, ...(text === 'three' && {thread: '1.5'})});
    expect(await run('slack_read', {channel: 'CHIST', limit: 2})).toMatchObject({
      messages: [{text: 'two'}, {text: 'three', thread: '1.5'}],
      more: true,
      untrusted: true,
    });
    expect((await run('slack_read', {channel: 'CHIST', thread: '1.5'})).messages).toMatchObject([{text: 'three'}]);
    expect(await run('slack_read', {channel: '#x'})).toMatchObject({code: 'INVALID_ARGUMENTS'});
  });

  it('asks about a channel that neither the settings nor a rule name', async () => {
    const asks = async (channel: string | undefined, channels: string[], policy = emptyPolicy) => {
      const {context} = connected({settings: {slack: {api_url: slack.url, channels}}});
      const call = {name: 'slack_read', arguments: JSON.stringify({channel})};
      const ready = await prepareCall(call, ['slack_read'], policy, context);
      return 'refused' in ready ? ready.refused : ready.asks;
    };
    expect(await asks(undefined, [])).toBe(false);
    expect(await asks('C1', ['C1'])).toBe(false);
    expect(await asks('C2', ['C1'])).toBe(true);
    expect(await asks('C2', [], {...emptyPolicy, tools: {slack_read: 'allow'}})).toBe(false);
    const {run} = connected();
    for (const channel of ['C1/../C2', 'C1\n', 'https://evil.example'])
      expect(await run('slack_read', {channel})).toMatchObject({code: 'INVALID_ARGUMENTS'});
  });
});

describe('email_send', () => {
  it('sends one plain mail under one Message-ID, and records it', async () => {
    const {run, records} = connected({messageName: 'a mail'});
    const args = {to: 'ann@example.org', subject: 'Grüße', text: 'Redis is up.\n\n.\nBye', thread: '<1@example.org>'};
    const sent = await run('email_send', args);
    expect(sent).toMatchObject({
      success: true,
      to: args.to,
      logged: 'inbox/mail.jsonl',
      message_id: expect.stringMatching(/^<[0-9a-f-]{36}@example\.org>$/),
    });
    const mail = smtp.received.at(-1);
    expect(mail).toMatchObject({
      subject: 'Grüße',
      messageId: sent.message_id,
      inReplyTo: '<1@example.org>',
      envelopeTo: ['ann@example.org'],
      envelopeFrom: 'agents@example.org',
      from: {name: 'Agents', address: 'agents@example.org'},
    });
    expect(mail?.text?.trim()).toBe(args.text);
    expect((await run('email_send', args)).message_id).toBe(sent.message_id);
    expect((await run('email_send', {...args, text: 'Redis is up again.'})).message_id).not.toBe(sent.message_id);
    expect(records[0]).toMatchObject({
      file: 'mail.jsonl',
      source: 'email',
      recipient: args.to,
      subject: 'Grüße',
      text: args.text,
      id: sent.message_id,
    });
  });

  it('asks each time, and shows all of it', async () => {
    const {context} = connected();
    const {ask} = await asking(context, 'email_send', {to: 'ann@example.org', subject: 'S', text: 'T'}, allowAll);
    expect(ask.type).toBe('external_message');
    expect(textOf(ask)).toBe('To:\nann@example.org\nFrom:\nAgents <agents@example.org>\nSubject:\nS\nText:\nT');
  });

  it.each([
    ['no@example.org', 550, 'FAILED', 'refuses it'],
    ['later@example.org', 451, 'FAILED', 'refuses it'],
    ['cut@example.org', 'hang up', 'INTERRUPTED', 'outcome unknown'],
  ] as const)('to %s, which answers %s: tried once, and told', async (to, how, code, words) => {
    smtp.refuse.set(to, how);
    const {run, records} = connected();
    expect(await run('email_send', {to, subject: 's', text: 't'})).toMatchObject({
      code,
      error: expect.stringContaining(words),
    });
    expect(records).toEqual([]);
  });

  it('tells a wrong password, a server that is not there, and what is missing', async () => {
    const send = (changes: Partial<Outside>) =>
      connected(changes).run('email_send', {to: 'a@example.org', subject: 's', text: 't'});
    const wrong = await send({env: {P: 'wrong-password-here'}});
    expect(wrong).toMatchObject({code: 'FAILED', error: expect.stringMatching(/refuses it|not sent/)});
    expect(JSON.stringify(wrong)).not.toContain('wrong-password-here');
    expect(await send({settings: {mail: {smtp: {host: '127.0.0.1', port: 9, from: 'a@b.c'}}}})).toMatchObject({
      code: 'FAILED',
      error: expect.stringMatching(/cannot be reached|was not sent: connect ECONNREFUSED/),
    });
    expect(await send({env: {}})).toMatchObject({code: 'FAILED', error: expect.stringContaining('set P where')});
    expect(await send({settings: {}})).toMatchObject({
      code: 'FAILED',
      error: expect.stringContaining('mail is not set up'),
    });
  });

  it.each([
    [{to: 'ann@example.org, bob@example.org', subject: 's', text: 't'}, /^to: expected one address/],
    [{to: 'a\u202enn@example.org', subject: 's', text: 't'}, /^to: expected/],
    [{to: 'ann@example.org\r\nBcc: bob@example.org', subject: 's', text: 't'}, /^to: expected/],
    [{to: 'ann@example.org', subject: 's\r\nBcc: bob@example.org', text: 't'}, /^subject: expected/],
    [{to: 'ann@example.org', subject: 's', text: ' '}, /^text: expected/],
    [{to: 'ann@example.org', subject: 's', text: 't', thread: 'x'}, /^thread: expected/],
  ])('refuses %o', async (args, words) => {
    const {context} = connected();
    const ready = await prepareCall(
      {name: 'email_send', arguments: JSON.stringify(args)},
      ['email_send'],
      allowAll,
      context,
    );
    if ('refused' in ready) throw new Error('refused');
    expect(await ready.ask()).toMatchObject({code: 'INVALID_ARGUMENTS', error: expect.stringMatching(words)});
    expect(await ready.execute()).toMatchObject({code: 'INVALID_ARGUMENTS'});
  });
});
