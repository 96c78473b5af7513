import {createHmac} from 'node:crypto';
import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, expect, it} from 'vitest';
import {parseSession, type Session} from '../../src/formats/session/session.ts';
import {type Connector, linesOf, startConnector} from '../cli/connector.ts';
import {agentdir, environment, until} from '../cli/run.ts';
import {startFakeSlack, TOKEN} from '../connect/fake-slack.ts';
import {itemsOf} from './deciding.ts';
import {openHouse} from './house.ts';
import {read, serve} from './serve.ts';
import {atRest, transcript} from './talk.ts';

const slack = await startFakeSlack();
afterAll(async () => {
  expect(slack.violations).toEqual([]);
  await slack.close();
});

const SECRET = '8f742231b10e8888abcd99yyyzzz85a5';
const FILE = 'slack-messages.jsonl';
const env = {SLACK_BOT_TOKEN: TOKEN, SLACK_SIGNING_SECRET: SECRET};
const house = openHouse(
  () => ({
    'agentdir.yaml': `format: 1
name: home
webhooks: [{path: /slack, kind: slack, secret_env: SLACK_SIGNING_SECRET, file: ${FILE}}]
slack: {api_url: "${slack.url}"}
inbox: {routes: [{files: "slack-*.jsonl", to: planner}]}
`,
    'templates/planner.agent.yaml':
      'id: planner\ntype: planner\nsystem_prompt: You are brief.\ncapabilities: [slack_send]\n',
    'allowlist.yaml': 'version: 1\ntools: {slack_send: allow}\n',
  }),
  [],
  env,
);

/** As Slack tells of a message, signed; `tries` as it counts its own. */
async function tell(url: string, ts: string, event: Record<string, unknown>, tries = 0): Promise<number | string> {
  const body = JSON.stringify({
    type: 'event_callback',
    team_id: 'T1',
    api_app_id: 'A1',
    event_id: `Ev${ts}`,
    authorizations: [{team_id: 'T1', user_id: 'UBOT', is_bot: true}],
    event: {type: 'message', channel: 'C1', user: 'U1', ts, ...event},
  });
  const time = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', SECRET).update(`v0:${time}:${body}`).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-slack-request-timestamp': `${time}`,
    'x-slack-signature': `v0=${signature}`,
    ...(tries > 0 && {'x-slack-retry-num': `${tries}`, 'x-slack-retry-reason': 'http_timeout'}),
  };
  return fetch(`${url}/slack`, {method: 'POST', headers, body}).then(
    ({status}) => status,
    () => 'no answer',
  );
}

async function receiving(more: NodeJS.ProcessEnv = {}): Promise<Connector & {url: string}> {
  const connector = startConnector(house.home, ['webhook', '--port', '0'], {...env, ...more});
  return {...connector, url: String((await connector.tells('listening')).address)};
}

/** All sessions, by the thread that they are about. */
function threads(): Map<string | undefined, Session> {
  const files = readdirSync(join(house.home, 'sessions'), {recursive: true}).map(String);
  const sessions = files
    .filter(file => file.endsWith('.session.yaml'))
    .map(file => parseSession(read(house.home, `sessions/${file}`)));
  return new Map(sessions.map(session => [session.header?.thread, session]));
}

const whenThread = async (thread: string, holds: (session: Session) => boolean): Promise<Session> => {
  const seen = () => {
    const session = threads().get(thread);
    return {session, lines: session && transcript(session)};
  };
  const {session} = await until(seen, ({session: there}) => there !== undefined && holds(there));
  if (!session) throw new Error('no such session');
  return session;
};

/** As a person does it in a shell. */
async function approve(count: number): Promise<string | undefined> {
  const open = () => itemsOf(house.home).filter(({status}) => status === 'pending');
  const [item] = await until(open, items => items.length === count);
  const id = item?.id ?? '';
  await until(
    () => agentdir(house.home, ['approve', id], {...environment, ...env}),
    ({code}) => code === 0,
  );
  return item?.type;
}

it('a question in Slack is answered there once, though receiver and daemon are killed, and nothing comes back', async () => {
  const [asked, other] = ['1759572323.000100', '1759572400.000100'];
  const answer = {channel: 'C1', text: 'Redis is up <!here>', thread: asked};
  // What comes from outside is fenced, and begins with "Message from …".
  house.stage.parts.set('Message', ({messages}) => {
    const results = messages.filter(({role}) => role === 'tool').length;
    if (!JSON.stringify(messages).includes('Is Redis up?')) return {text: 'Nothing.'};
    return results < 2 ? {calls: [{id: `c${results}`, name: 'slack_send', arguments: answer}]} : {text: 'Told them.'};
  });
  await house.daemon.stop();
  const restart = async (more: NodeJS.ProcessEnv = {}) => {
    house.daemon = await serve(house.home, {...house.stage.env, ...env, ...more}, end => house.ends.push(end));
  };

  // Killed when the line is on the disk, before Slack hears of it: Slack tries again.
  const killed = await receiving({AGENTDIR_CRASH_AT: 'inbox-appended:1'});
  expect(await tell(killed.url, asked, {text: 'Is Redis up?'})).toBe('no answer');
  expect(await killed.exited).toBe('SIGKILL');
  await restart({AGENTDIR_CRASH_AT: 'message-sent:1'});
  const receiver = await receiving();
  const {url} = receiver;
  for (const tries of [1, 2]) expect(await tell(url, asked, {text: 'Is Redis up?'}, tries)).toBe(200);
  expect(await tell(url, other, {text: 'What is new?'})).toBe(200);
  expect(linesOf(house.home, FILE)).toHaveLength(2);

  // Each thread has a session of its own, which knows how to answer.
  const opened = await whenThread(asked, ({messages}) => messages.length >= 2);
  await whenThread(other, session => atRest([], session));
  expect(transcript(opened)[0]).toMatch(/^user: Is Redis up\?/);
  expect(opened.header).toMatchObject({agent_id: 'planner', tainted: [expect.stringContaining(FILE)]});
  const prompt = JSON.stringify(house.stage.asked('Message').map(({messages}) => messages));
  for (const words of [asked, 'C1', 'U1']) expect(prompt).toContain(words);

  // Asked although a rule allows it; killed between the sending and its record.
  expect(await approve(1)).toBe('external_message');
  expect(await house.daemon.exited).toBe('SIGKILL');
  expect(slack.posted).toMatchObject([{channel: 'C1', text: answer.text, thread_ts: asked}]);
  expect(linesOf(house.home, FILE)).toHaveLength(2);
  await restart();
  expect(await approve(1)).toBe('retry');
  const ended = await whenThread(asked, session => atRest([], session));
  expect(transcript(ended).slice(1)).toEqual([
    'assistant: [slack_send]',
    'result c0: INTERRUPTED',
    'assistant: [slack_send]',
    'result c1: ok',
    'assistant: Told them.',
  ]);
  const [posted] = slack.posted;
  expect([slack.posted.length, slack.tries.length]).toEqual([1, 2]);
  expect(linesOf(house.home, FILE)[2]).toMatchObject({direction: 'out', text: answer.text, slack_ts: posted?.ts});

  // Slack tells of the bot's own message, in the forms that it has. What people say next in the thread comes to the same session.
  const own = {text: answer.text, thread_ts: asked, bot_id: 'B1'};
  for (const [i, echo] of [
    {...own, user: 'UBOT'},
    {...own, user: 'UBOT', app_id: 'A1'},
    {...own, user: undefined, subtype: 'bot_message', bot_profile: {id: 'B1', app_id: 'A1'}},
  ].entries())
    expect(await tell(url, `1759572500.00010${i}`, echo)).toBe(200);
  expect(await tell(url, '1759572600.000100', {text: 'Is it fast, too?', thread_ts: asked})).toBe(200);
  const after = await whenThread(asked, session => session.messages.length === 8 && atRest([], session));
  expect(transcript(after).slice(6)).toEqual([expect.stringContaining('Is it fast, too?'), 'assistant: Told them.']);
  expect([...threads().keys()].sort()).toEqual([asked, other]);
  expect(linesOf(house.home, FILE)).toHaveLength(4);
  expect(slack.posted).toHaveLength(1);
  expect((await agentdir(house.home, ['verify'])).code).toBe(0);
  receiver.child.kill('SIGTERM');
  expect(await receiver.exited).toBe(0);
});
