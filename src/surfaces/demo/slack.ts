import {createServer, type IncomingMessage} from 'node:http';
import type {AddressInfo} from 'node:net';
import {exit, UserError} from '../../formats/common/errors.ts';

export interface PostedMessage {
  channel: string;
  text: string;
  thread: string | undefined;
}

/** A stand-in for Slack's API on this machine: it takes messages, each once, and shows them to nobody. */
export interface StandIn {
  /** For `api_url`. */
  url: string;
  posted: readonly PostedMessage[];
  close: () => Promise<void>;
}

/** Longest request that is read. */
const MOST_BYTES = 1_000_000;

export async function startSlack(token: string): Promise<StandIn> {
  const posted = new Map<string, PostedMessage & {ts: string}>();
  const answerTo = (method: string | undefined, args: URLSearchParams): object => {
    if (method !== '/api/chat.postMessage') return {ok: false, error: 'unknown_method'};
    const channel = args.get('channel') ?? '';
    // As Slack does: a message that comes again with the id of an earlier one is that one.
    const id = args.get('client_msg_id') ?? String(posted.size);
    const ts = `1759572${String(100 + posted.size)}.000200`;
    const message = posted.get(id) ?? {
      channel,
      text: args.get('text') ?? '',
      thread: args.get('thread_ts') ?? undefined,
      ts,
    };
    posted.set(id, message);
    return {ok: true, channel, ts: message.ts, message: {text: message.text}};
  };
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request).catch(() => undefined);
    const known = request.headers.authorization === `Bearer ${token}`;
    const answer =
      body === undefined || !known
        ? {ok: false, error: 'invalid_auth'}
        : answerTo(request.url, new URLSearchParams(body));
    response.writeHead(200, {'content-type': 'application/json'}).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', error =>
      reject(
        new UserError(
          `the demo's stand-in for Slack cannot listen on 127.0.0.1: ${error.message}`,
          exit.failed,
          'check whether programs on this machine may listen on a port',
        ),
      ),
    );
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`,
    get posted() {
      return [...posted.values()].map(({channel, text, thread}) => ({channel, text, thread}));
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk;
    if (text.length > MOST_BYTES) throw new Error('too long');
  }
  return text;
}
