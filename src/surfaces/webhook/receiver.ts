import type {HttpBindings} from '@hono/node-server';
import {type Context, Hono} from 'hono';
import type {ContentfulStatusCode} from 'hono/utils/http-status';
import type {Webhook} from '../../formats/connector-settings.ts';
import {newRecord} from '../../formats/inbox.ts';
import {openReceivedIds, type ReceivedIds} from '../../home/received-ids.ts';
import type {Redactor} from '../../policy/redact/redact.ts';
import {readRequestBody} from './body.ts';
import {eventOf} from './event.ts';
import {verifyRequest} from './signature.ts';

/** One webhook, with the values of its secrets. */
export interface Route extends Webhook {
  secrets: readonly string[];
}

/** The outcome of a request, for the log; never contains a secret. */
export interface RequestReport {
  event: 'received' | 'known' | 'ignored' | 'refused' | 'failed';
  path: string;
  status: number;
  id?: string;
  file?: string;
  why?: string;
  from?: string | undefined;
}

export interface WebhookReceiver {
  home: string;
  routes: readonly Route[];
  bodyMs: number;
  redact: Redactor;
  tell: (told: RequestReport) => void;
}

const MOST_BYTES = 1024 * 1024;
/** Hashing and parsing a longer body takes milliseconds, in which nothing else is received. */
const LARGE = 64 * 1024;

let lastTurn: Promise<unknown> = Promise.resolve();

/** Wait for a turn to work on a large body: one at a time, after the small requests that have arrived meanwhile. */
function largeTurn(): Promise<unknown> {
  lastTurn = lastTurn.then(() => new Promise(resolve => setTimeout(resolve, 1)));
  return lastTurn;
}

type Env = {Bindings: HttpBindings};

/** Appends a line per request. Answers 200 only after the line is on disk. */
export function receiveRequests({home, routes, bodyMs, redact, tell}: WebhookReceiver): Hono<Env> {
  const app = new Hono<Env>();
  const received = new Map<string, ReceivedIds>();
  const into = (file: string) => {
    const found = received.get(file) ?? openReceivedIds(home, file);
    received.set(file, found);
    return found;
  };
  // Load known ids before the first request.
  for (const {file} of routes) into(file);

  const refuse = (
    c: Context<Env>,
    status: ContentfulStatusCode,
    why: string,
    event: RequestReport['event'] = 'refused',
  ) => {
    tell({event, path: c.req.path, status, why, from: c.env.incoming.socket.remoteAddress});
    // Do not wait for the rest of the body, and tell the sender no details.
    return c.text(`${words[status] ?? 'refused'}\n`, status, {connection: 'close'});
  };

  for (const route of routes) {
    // Paths that share a secret belong to one sender, so ids are shared too.
    const {path: scope} = routes.find(({secrets}) => secrets.some(secret => route.secrets.includes(secret))) ?? route;
    app.post(route.path, async c => {
      const header = (name: string) => c.req.header(name);
      const body = await readRequestBody(c.env.incoming, route.max_bytes ?? MOST_BYTES, bodyMs);
      if ('status' in body) return refuse(c, body.status, body.why);
      if (body.bytes.length > LARGE) await largeTurn();
      const now = Date.now();
      const verified = verifyRequest(route.kind, route.secrets, {header, body: body.bytes, now, scope});
      if ('wrong' in verified) return refuse(c, 401, verified.wrong);
      if (body.bytes.length > LARGE) await largeTurn();
      const delivery = {header, body: body.bytes, ids: verified.ids, now: new Date(now).toISOString()};
      const event = eventOf(route.kind, delivery);
      if ('garbage' in event) return refuse(c, 400, event.garbage);
      const {path, file} = route;
      const done = () => (event.answer ? c.json(event.answer) : c.text('ok\n'));
      if ('nothing' in event) {
        tell({event: 'ignored', path, status: 200, why: event.nothing});
        return done();
      }
      const {id, ...rest} = event.record;
      try {
        const became = await into(file).appendOnce(event.ids, newRecord({id, ...redact.value(rest)}));
        tell({event: became === 'taken' ? 'received' : 'known', path, status: 200, id: String(id), file});
        return done();
      } catch (error) {
        return refuse(c, 503, `inbox/${file} cannot be written: ${(error as Error).message}`, 'failed');
      }
    });
    app.all(route.path, c => {
      c.header('allow', 'POST');
      return refuse(c, 405, `${c.req.method} is not POST`);
    });
  }
  app.notFound(c => refuse(c, 404, 'agentdir.yaml has no webhook with this path'));
  app.onError((error, c) => refuse(c as Context<Env>, 500, error.message, 'failed'));
  return app;
}

const words: Partial<Record<number, string>> = {
  400: 'not understood',
  401: 'not signed by somebody known here',
  404: 'not found',
  405: 'only POST',
  408: 'too slow',
  413: 'too long',
  415: 'compressed',
  500: 'failed; try again',
  503: 'failed; try again',
};
