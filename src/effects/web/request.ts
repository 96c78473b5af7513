import {existsSync, readFileSync} from 'node:fs';
import http, {type IncomingMessage, type RequestOptions} from 'node:http';
import https from 'node:https';
import type {LookupFunction} from 'node:net';
import type {ResolvedAddress} from './resolve.ts';
import type {WebAddress} from './web-address.ts';
import {LimitError} from './web-failure.ts';

const MOST_HEADER_BYTES = 32 * 1024;
const MOST_HEADERS = 200;

export interface RequestLimits {
  firstByteMs: number;
  /** Trusted certificates instead of the system's; for tests. */
  ca?: string | undefined;
}

/**
 * Send a GET request to one of the checked `addresses`: resolves no name, reuses no connection, uses no proxy and sends
 * nothing that identifies the user. The caller must read or destroy the body. Throws system errors.
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
    // Ignore NODE_TLS_REJECT_UNAUTHORIZED.
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
    // An error after the response started also reaches the reader of the body.
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

let made: string | undefined;

/** `agentdir/<version>`, without details of the machine. */
function userAgent(): string {
  made ??= `agentdir/${version()}`;
  return made;
}

/** Version of the enclosing package. The bundle's folder has a package.json without a version. */
function version(): string {
  for (let folder = new URL('.', import.meta.url); folder.pathname !== '/'; folder = new URL('..', folder)) {
    const path = new URL('package.json', folder);
    if (!existsSync(path)) continue;
    const {version} = JSON.parse(readFileSync(path, 'utf8')) as {version?: string};
    if (version !== undefined) return version;
  }
  return '0';
}
