import type {IncomingMessage} from 'node:http';
import type {Policy} from '../../formats/rule.ts';
import {judgeAddress} from '../../policy/address.ts';
import {failure, isFailure} from '../tool/failure.ts';
import type {ToolFailure} from '../tool/tool.ts';
import {type RequestLimits, request} from './request.ts';
import {type Lookup, resolve} from './resolve.ts';
import {readAddress, sameServer, type WebAddress} from './web-address.ts';
import {LimitError, webFailure} from './web-failure.ts';

const MOST_REDIRECTS = 5;
const LONGEST_SHOWN = 2000;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export interface PageRequest {
  address: WebAddress;
  policy: Policy;
  /** The agent that asks for the page. */
  agent: string;
  approved: boolean;
}

export interface PageResponse {
  address: WebAddress;
  answer: IncomingMessage;
  redirected: boolean;
}

/** Follow redirects to the final answer. Each target is judged like a requested address. */
export async function followRedirects(
  asked: PageRequest,
  limits: RequestLimits & {lookup: Lookup},
  signal: AbortSignal,
): Promise<PageResponse | ToolFailure> {
  let {address} = asked;
  for (let i = 0; i <= MOST_REDIRECTS; i++) {
    let answer: IncomingMessage;
    try {
      const addresses = await until(
        signal,
        limits.firstByteMs,
        resolve(address, isSpelled(address, asked), limits.lookup),
      );
      if (isFailure(addresses)) return addresses;
      answer = await request(address, addresses, limits, signal);
    } catch (error) {
      signal.throwIfAborted();
      return webFailure(error, address.host);
    }
    const location = redirects.has(answer.statusCode ?? 0) ? answer.headers.location : undefined;
    if (location === undefined) return {address, answer, redirected: i > 0};
    answer.destroy();
    const next = nextAddress(location, address, asked);
    if (isFailure(next)) return {...next, untrusted: true};
    address = next;
  }
  const last = address.url.href.slice(0, LONGEST_SHOWN);
  const error = `it leads on and on: more than ${MOST_REDIRECTS} redirects, the last to ${last}`;
  return {...failure('FAILED', error), untrusted: true};
}

/** Whether the address may be, or resolve to, a non-public one. */
function isSpelled(address: WebAddress, {address: first, approved, policy, agent}: PageRequest): boolean {
  if (approved && first.kind !== 'public' && sameServer(first, address)) return true;
  return judgeAddress(address.url.href, policy, agent).spelled === true;
}

function nextAddress(location: string, from: WebAddress, asked: PageRequest): WebAddress | ToolFailure {
  const target = URL.canParse(location, from.url.href) ? new URL(location, from.url.href).href : location;
  const next = readAddress(target);
  const shown = target.slice(0, LONGEST_SHOWN);
  if (isFailure(next)) return failure(next.code, `it leads to ${shown}: ${next.error}`);
  if (from.url.protocol === 'https:' && next.url.protocol === 'http:')
    return failure('DENIED', `it leads from https to ${shown}, which is not secure`);
  const {verdict, reason} = judgeAddress(next.url.href, asked.policy, asked.agent);
  if (verdict === 'deny') return failure('DENIED', `it leads to ${shown}: ${reason}`);
  if (verdict === 'allow' || (asked.approved && sameServer(asked.address, next))) return next;
  const upgraded = sameServer(from, next) ? `${from.url.protocol}${next.url.href.replace(/^https?:/, '')}` : undefined;
  if (upgraded !== undefined && judgeAddress(upgraded, asked.policy, asked.agent).verdict === 'allow') return next;
  const remedy = 'If that is what is needed, fetch that address, with the reason';
  return {
    ...failure('FAILED', `it leads to ${shown}, and that was not followed: ${reason}. ${remedy}`),
    location: shown,
  };
}

/** A DNS lookup cannot be cancelled, but we can stop waiting for it. */
function until<T>(signal: AbortSignal, ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((done, fail) => {
    const stop = (): void => fail(signal.reason);
    const timer = setTimeout(() => fail(new LimitError(`its name could not be looked up within ${ms / 1000} s`)), ms);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, {once: true});
    promise.then(done, fail).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    });
  });
}
