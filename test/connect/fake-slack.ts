import {createServer, type IncomingMessage, type Server} from 'node:http';
import type {AddressInfo} from 'node:net';

interface Posted {
  channel: string;
  text: string;
  thread_ts?: string;
  client_msg_id?: string;
  ts: string;
}

/** Slack's Web API, as far as we use it, over real HTTP. */
export interface FakeSlack {
  /** For `api_url`. */
  url: string;
  posted: Posted[];
  /** Every request for a post, also those that post nothing new. */
  tries: Record<string, string>[];
  /** What is wrong with requests: must stay empty. */
  violations: string[];
  /** What it answers to the next posts in a channel instead of doing them. */
  refuse: Map<
    string,
    {status?: number; error?: string; hangUp?: 'before' | 'after'; hangs?: true; retryAfter?: number}
  >;
  close: () => Promise<void>;
}

export const TOKEN = 'xoxb-1234567890-abcdefGHIJ1234567890';

export async function startFakeSlack(): Promise<FakeSlack> {
  const slack = {posted: [], tries: [], violations: [], refuse: new Map()} as unknown as FakeSlack;
  const server: Server = createServer(async (request, answer) => {
    const args = Object.fromEntries(new URLSearchParams(await bodyOf(request)));
    const method = request.url?.replace('/api/', '') ?? '';
    const say = (value: object, status = 200, headers: Record<string, string> = {}) => {
      answer.writeHead(status, {'content-type': 'application/json', ...headers});
      answer.end(JSON.stringify(value));
    };
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return say({ok: false, error: 'invalid_auth'});
    if (method === 'conversations.history' || method === 'conversations.replies') {
      const {channel, ts, limit} = args;
      const all = slack.posted.filter(
        each => each.channel === channel && (ts === undefined || (each.thread_ts ?? each.ts) === ts),
      );
      const some = (ts === undefined ? all.toReversed() : all).slice(0, Number(limit));
      const messages = some.map(({text, ts: own, thread_ts}) => ({
        type: 'message',
        user: 'U9',
        text,
        ts: own,
        thread_ts,
      }));
      return say({ok: true, messages, has_more: all.length > some.length});
    }
    if (method !== 'chat.postMessage') {
      slack.violations.push(`unknown method ${method}`);
      return say({ok: false, error: 'unknown_method'});
    }
    slack.tries.push(args);
    const {channel = '', text = '', thread_ts, client_msg_id} = args;
    if (!/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(client_msg_id ?? ''))
      slack.violations.push(`no client_msg_id: ${JSON.stringify(args)}`);
    const how = slack.refuse.get(channel);
    if (how?.retryAfter !== undefined)
      return say({ok: false, error: 'ratelimited'}, 429, {'retry-after': String(how.retryAfter)});
    if (how?.status !== undefined) return say({}, how.status);
    if (how?.error !== undefined) return say({ok: false, error: how.error});
    if (how?.hangUp === 'before') return request.socket.destroy();
    let message = slack.posted.find(each => each.client_msg_id === client_msg_id);
    if (!message) {
      const ts = `17600000${String(slack.posted.length).padStart(2, '0')}.000100`;
      message = {channel, text, ts, ...(thread_ts && {thread_ts}), ...(client_msg_id && {client_msg_id})};
      slack.posted.push(message);
    }
    if (how?.hangs) return;
    if (how?.hangUp === 'after') return request.socket.destroy();
    return say({ok: true, channel, ts: message.ts, message});
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  slack.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`;
  slack.close = () =>
    new Promise(resolve => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return slack;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}
