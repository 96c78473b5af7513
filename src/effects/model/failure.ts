import {isMap} from '../../formats/common/values.ts';
import type {ServerChoice} from '../../formats/model-choice.ts';
import {withoutKey} from '../../policy/redact/redact-server-error.ts';
import type {Answer} from './answer.ts';
import {hostOf} from './server.ts';

export interface Refusal {
  status: number | undefined;
  message: string;
  code: string | undefined;
  type: string | undefined;
  param: string | undefined;
  headers: Headers | undefined;
}

/** Undefined: no server answered. Checks the shape rather than the class, so that the SDK need not be loaded. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (!isMap(error)) return undefined;
  const text = (value: unknown) =>
    typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;
  const code = text(error.code);
  const status = typeof error.status === 'number' ? error.status : Number(code);
  return {
    status: Number.isInteger(status) && status >= 100 && status < 600 ? status : undefined,
    message: text(isMap(error.error) ? error.error.message : undefined) ?? text(error.message) ?? '',
    code,
    type: text(error.type),
    param: text(error.param),
    headers: error.headers instanceof Headers ? error.headers : undefined,
  };
}

/** Translate an error response into an answer, by status and message. */
export function answerToRefusal(refusal: Refusal, choice: ServerChoice, model: string | undefined): Answer {
  const {status, code, type} = refusal;
  const where = hostOf(choice);
  const says = `${status === undefined ? '' : ` (${status})`}${refusal.message === '' ? '' : `: ${short(refusal.message, choice)}`}`;
  const again = 'then set "status: active" in the session to try again';
  const key = choice.keyVariable;
  if (isTooLong(refusal))
    return {
      failed: `the conversation is longer than the model "${model}" can read${says}`,
      hint: `compact the session (agentdir compact SESSION --keep 5), begin a new session, or give it a model with a larger window, ${again}`,
      tooLong: true,
    };
  if (code === 'insufficient_quota' || type === 'insufficient_quota' || status === 402)
    return {failed: `the account at ${where} has no credit left${says}`, hint: `add credit there, ${again}`};
  if (status === undefined || status === 408 || status === 409 || status === 425 || status === 429 || status >= 500) {
    const busy = status === 429 || /rate_limit|overloaded/.test(`${code} ${type}`);
    return {
      retry: `${where} ${busy ? 'is busy' : 'failed'}${says}`,
      kind: busy ? 'busy' : 'server',
      after: retryAfter(refusal.headers),
    };
  }
  if (status === 401)
    return {
      failed: `${where} ${choice.apiKey === undefined ? 'wants a key' : 'does not accept the key'}${says}`,
      hint:
        key === undefined
          ? `name the variable that holds its key in agentdir.yaml (api_key_env), restart the daemon, ${again}`
          : `set ${key} to a valid key where the daemon is started, restart it, ${again}`,
    };
  if (status === 403)
    return {
      failed: `${where} does not allow this${says}`,
      hint: `see whether the key${key === undefined ? '' : ` in ${key}`} may use the model "${model}", ${again}`,
    };
  if (status === 404)
    return {
      failed: `${where} knows no model "${model}", or its base URL is wrong${says}`,
      hint: `correct the model's id, or its base URL (most end in /v1), ${again}`,
    };
  if (status < 400) return {retry: `${where} answered with status ${status}`, kind: 'garbage', after: undefined};
  return {
    failed: `${where} refused the request${says}`,
    hint: `see what it says; correct the session, the template or the model in agentdir.yaml, ${again}`,
  };
}

const tooLong = /context_length|context length|maximum context|context window|prompt is too long|too many tokens/i;

function isTooLong({status, code, message}: Refusal): boolean {
  // 429 means busy, unless this single request exceeds the limit per minute.
  if (status === 429) return /request too large/i.test(message);
  return status === 413 || tooLong.test(`${code} ${message}`);
}

const unsafe = /CERT|TLS|SSL|SELF_SIGNED|ISSUER/;

export function answerToBrokenConnection(error: unknown, choice: ServerChoice): Answer {
  const causes: Record<string, unknown>[] = [];
  for (let cause = error; isMap(cause) && causes.length < 5; cause = cause.cause) causes.push(cause);
  const codes = causes.map(cause => String(cause.code ?? '')).filter(code => code !== '');
  const code = codes.at(-1);
  const last = causes.at(-1);
  const words =
    code === undefined
      ? short(String(last?.message ?? error), choice)
      : (known[code] ?? `${code}: ${short(String(last?.message ?? ''), choice)}`);
  const where = hostOf(choice);
  if (codes.some(code => unsafe.test(code)))
    return {
      failed: `no safe connection to ${where}: ${words}`,
      hint: 'see whether its base URL is right and its certificate valid (NODE_EXTRA_CA_CERTS adds one), then set "status: active"',
    };
  const silent = code !== undefined && /_TIMEOUT$/.test(code) && code !== 'UND_ERR_CONNECT_TIMEOUT';
  return {retry: `no answer from ${where}: ${words}`, kind: silent ? 'silence' : 'connection', after: undefined};
}

const known: Record<string, string> = {
  ECONNREFUSED: 'connection refused; is the server running?',
  ECONNRESET: 'the connection was reset',
  UND_ERR_SOCKET: 'the connection was closed',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'its name cannot be looked up just now',
  UND_ERR_CONNECT_TIMEOUT: 'it cannot be reached',
  UND_ERR_HEADERS_TIMEOUT: 'it said nothing',
  UND_ERR_BODY_TIMEOUT: 'it fell silent',
};

const DAY_MS = 86_400_000;

/** Milliseconds that a server asks to wait, given in milliseconds, seconds or as a date; at most a day. */
function retryAfter(headers: Headers | undefined, now = Date.now()): number | undefined {
  const ms = Number(headers?.get('retry-after-ms') || Number.NaN);
  if (ms >= 0) return Math.min(Math.ceil(ms), DAY_MS);
  const text = headers?.get('retry-after')?.trim();
  if (!text) return undefined;
  const wait = /^[\d.]+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(0, Math.ceil(wait)), DAY_MS);
}

/** Shorten a server's message to one line. The key is redacted first: half a key is still a secret. */
function short(text: string, {apiKey}: ServerChoice): string {
  const line = withoutKey(text.slice(0, 20_000), apiKey)
    .slice(0, 10_000)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}
