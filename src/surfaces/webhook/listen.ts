import {createServer, STATUS_CODES} from 'node:http';
import {type AddressInfo, Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import {getRequestListener} from '@hono/node-server';
import {UserError} from '../../formats/common/errors.ts';
import {limitConnections, MOST_CONNECTIONS} from './connections.ts';
import {receiveRequests, type WebhookReceiver} from './receiver.ts';

/** Time limit for clients that send nothing, or send slowly. */
const HEADERS_MS = 10_000;
const CHECK_MS = 1_000;
/** Time for running requests to finish after a stop. */
const STOP_MS = 5_000;
const PAUSE_MS = 50;

const statuses: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};

export interface Listening {
  port: number;
  /** Refuses new requests, waits for running ones, then resolves. */
  stop: () => Promise<void>;
}

export async function listen(options: WebhookReceiver, host: string, port: number): Promise<Listening> {
  const refused = (status: number, why: string, socket?: Duplex) => {
    const from = socket instanceof Socket ? socket.remoteAddress : undefined;
    options.tell({event: 'refused', path: '', status, why, from});
  };
  const take = getRequestListener(receiveRequests(options).fetch, {
    // The URL is invalid, so there is no request yet.
    errorHandler(error) {
      refused(400, (error as Error).message);
      return new Response('not understood\n', {status: 400, headers: {connection: 'close'}});
    },
  });
  const server = createServer(
    {
      headersTimeout: Math.min(HEADERS_MS, options.bodyMs),
      // The body has its own, shorter limit with a better answer.
      requestTimeout: HEADERS_MS + 2 * options.bodyMs,
      connectionsCheckingInterval: CHECK_MS,
      maxHeaderSize: 16 * 1024,
    },
    (incoming, outgoing) => void take(incoming, outgoing),
  );
  limitConnections(server, count =>
    refused(408, `closed ${count} idle or slow connections, because there were more than ${MOST_CONNECTIONS}`),
  );
  // Not HTTP, or too slow.
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const status = statuses[error.code ?? ''] ?? 400;
    // Already reported, with more detail.
    if (socket instanceof Socket && socket.writableEnded) return void socket.destroy();
    if (error.code !== 'ECONNRESET') refused(status, error.message, socket);
    // Send the reason, then close the connection ourselves.
    setTimeout(() => socket.destroy(), CHECK_MS).unref();
    if (socket.writable) socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`);
    else socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(notListening(error, host, port)));
    // Many may knock at once: nobody has to knock again a second later.
    server.listen({port, host, backlog: 4096}, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise(resolve => {
        const timer = setTimeout(() => server.closeAllConnections(), STOP_MS);
        // Do not wait for the next request of a keep-alive connection.
        const idle = setInterval(() => server.closeIdleConnections(), PAUSE_MS);
        server.close(() => {
          clearTimeout(timer);
          clearInterval(idle);
          resolve();
        });
      }),
  };
}

function notListening({code, message}: NodeJS.ErrnoException, host: string, port: number): UserError {
  const where = `${host}:${port}`;
  if (code === 'EADDRINUSE') return new UserError(`${where} is in use`, undefined, 'choose another: --port NUMBER');
  if (code === 'EACCES')
    return new UserError(`${where} may not be used`, undefined, 'ports below 1024 need rights; put a proxy in front');
  return new UserError(`nothing can listen on ${where}: ${message}`, undefined, 'see --host and --port');
}
