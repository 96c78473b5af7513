import http, {type IncomingMessage, type RequestOptions} from 'node:http';
import https from 'node:https';
import type {LookupFunction} from 'node:net';
import type {ResolvedAddress} from './resolve.ts';
import {userAgent} from './user-agent.ts';
import type {WebAddress} from './web-address.ts';
import {LimitError} from './web-failure.ts';

const MOST_HEADER_BYTES = 32 * 1024;
const MOST_HEADERS = 200;

export interface RequestLimits {
  /** Until the headers of the answer are there. */
  firstByteMs: number;
  /** Certificates to trust instead of the machine's; for tests. */
  ca?: string | undefined;
}

/**
 * GET an address from one of the `addresses` that were looked at: no name is resolved here, no connection used twice, no
 * proxy asked, and nothing sent that says who asks. Its headers; the body is still to be read, or destroyed. Throws what
 * the system says.
 */
export function request(
  {url}: WebAddress,
  addresses: readonly ResolvedAddress[],
  {firstByteMs, ca}: RequestLimits,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const options: RequestOptions & https.RequestOptions = {
    method: 'GET',
    agent: false,
    lookup: only(addresses),
    headers: {
      'User-Agent': userAgent(),
      Accept:
        'text/markdown, text/html, application/xhtml+xml, text/plain, application/json, application/xml;q=0.9, */*;q=0.5',
      'Accept-Encoding': 'gzip, br',
      Connection: 'close',
    },
    maxHeaderSize: MOST_HEADER_BYTES,
    insecureHTTPParser: false,
    // Whatever the environment says.
    rejectUnauthorized: true,
    ...(ca !== undefined && {ca}),
    signal,
  };
  return new Promise((resolve, reject) => {
    const sent = url.protocol === 'https:' ? https.request(url, options) : http.request(url, options);
    const timer = setTimeout(
      () => sent.destroy(new LimitError(`no answer within ${firstByteMs / 1000} s`)),
      firstByteMs,
    );
    sent.maxHeadersCount = MOST_HEADERS;
    sent.on('response', answer => {
      clearTimeout(timer);
      resolve(answer);
    });
    // Also after the answer began: then whoever reads its body is told as well.
    sent.on('error', reject);
    sent.on('close', () => {
      clearTimeout(timer);
      reject(new Error('the server closed the connection without an answer'));
    });
    sent.end();
  });
}

function only(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_host, options, done) => {
    const [first] = addresses;
    if (options.all) done(null, [...addresses]);
    else done(null, first?.address ?? '', first?.family ?? 0);
  };
}
