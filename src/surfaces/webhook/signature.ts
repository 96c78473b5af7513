import {createHmac, timingSafeEqual} from 'node:crypto';
import type {Webhook} from '../../formats/connector-settings.ts';

/** A request that is not verified yet. */
export interface SignedRequest {
  header: (name: string) => string | undefined;
  /** The signed bytes. */
  body: Buffer;
  /** Milliseconds. */
  now: number;
  /** Scope of ids: another sender may use the same id for something else. */
  scope: string;
}

/** `ids` identify the delivery; the first is the sender's own, if it is signed. */
export type VerifiedRequest = {ids: readonly string[]} | {wrong: string};

/** Allowed clock difference, and the window for replays. */
const WINDOW_SECONDS = 300;

/** Verifies signature and time. */
export function verifyRequest(
  kind: Webhook['kind'],
  secrets: readonly string[],
  request: SignedRequest,
): VerifiedRequest {
  return schemes[kind](secrets, request);
}

const schemes: Record<Webhook['kind'], (secrets: readonly string[], request: SignedRequest) => VerifiedRequest> = {
  slack(secrets, {header, body, now}) {
    const time = header('x-slack-request-timestamp');
    const given = header('x-slack-signature');
    if (time === undefined || given === undefined) return {wrong: 'it is not signed as Slack signs'};
    const expected = secrets.map(secret => `v0=${hmac(secret, [`v0:${time}:`, body]).toString('hex')}`);
    return isOneOf([given], expected) ? inTime(time, now, []) : {wrong: 'its signature is wrong'};
  },

  /** GitHub signs no time, so equal bytes are always a repetition, whatever their id. */
  github(secrets, {header, body}) {
    const given = header('x-hub-signature-256');
    if (given === undefined) return {wrong: 'it has no X-Hub-Signature-256'};
    const expected = secrets.map(secret => `sha256=${hmac(secret, [body]).toString('hex')}`);
    if (!isOneOf([given], expected)) return {wrong: 'its signature is wrong'};
    return {ids: [`github:${given.slice('sha256='.length)}`]};
  },

  standard(secrets, {header, body, now, scope}) {
    const id = header('webhook-id') ?? header('svix-id');
    const time = header('webhook-timestamp') ?? header('svix-timestamp');
    const given = header('webhook-signature') ?? header('svix-signature');
    if (!id || time === undefined || given === undefined) return {wrong: 'it is not signed as Standard Webhooks are'};
    const signatures = given.split(' ').slice(0, 10);
    const expected = secrets.flatMap(keysOf).map(key => `v1,${hmac(key, [`${id}.${time}.`, body]).toString('base64')}`);
    return isOneOf(signatures, expected)
      ? inTime(time, now, [`standard:${scope}:${id}`])
      : {wrong: 'its signature is wrong'};
  },
};

const PREFIX = 'whsec_';

/** Secrets of Standard Webhooks are base64. Without the prefix, some senders mean plain text. */
export function keysOf(secret: string): (Buffer | string)[] {
  if (secret.startsWith(PREFIX)) return [Buffer.from(secret.slice(PREFIX.length), 'base64')];
  const bytes = /^[A-Za-z0-9+/]{20,}={0,2}$/.test(secret) ? Buffer.from(secret, 'base64') : undefined;
  return bytes ? [secret, bytes] : [secret];
}

function hmac(secret: Buffer | string, parts: readonly (string | Buffer)[]): Buffer {
  const made = createHmac('sha256', secret);
  for (const part of parts) made.update(part);
  return made.digest();
}

/** Compares in constant time. */
function isOneOf(given: readonly string[], expected: readonly string[]): boolean {
  let found = false;
  for (const one of given)
    for (const other of expected) {
      const [a, b] = [Buffer.from(one), Buffer.from(other)];
      found = (a.length === b.length && timingSafeEqual(a, b)) || found;
    }
  return found;
}

function inTime(time: string, now: number, ids: readonly string[]): VerifiedRequest {
  const seconds = /^\d{1,12}$/.test(time) ? Number(time) : Number.NaN;
  const off = now / 1000 - seconds;
  if (!(Math.abs(off) <= WINDOW_SECONDS))
    return {wrong: `it was signed ${off > 0 ? 'too long ago' : 'in the future'}: more than ${WINDOW_SECONDS} s`};
  return {ids};
}
