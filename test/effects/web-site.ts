import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import http, {type RequestListener} from 'node:http';
import https from 'node:https';
import net, {type AddressInfo, type Server, type Socket} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll} from 'vitest';
import type {ToolContext, ToolResult} from '../../src/effects/tool/tool.ts';
import {type FetchWorld, makeFetch} from '../../src/effects/tools/fetch.ts';
import {emptyPolicy, type Policy, type Verdict} from '../../src/formats/rule.ts';
import {toolHome} from './tool-home.ts';

export interface Site {
  port: number;
  /** `http://127.0.0.1:PORT/` */
  url: string;
  /** Connections so far. */
  connections: number;
}

/** A web server on 127.0.0.1, while the tests of a file run. */
export function site(answer: RequestListener): Site {
  return served(() => http.createServer(answer), 'http');
}

/** One that says what it likes. */
export function rawSite(answer: (socket: Socket) => void): Site {
  return served(() => net.createServer(socket => socket.once('data', () => answer(socket))), 'http');
}

export interface SecureSite extends Site {
  /** Its certificate, which is for `secure.example` and 127.0.0.1. */
  ca: string;
}

export function secureSite(answer: RequestListener): SecureSite {
  const made: {ca: string} = {ca: ''};
  const open = (): Server => {
    const folder = mkdtempSync(join(tmpdir(), 'agentdir-tls-'));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const names = 'subjectAltName=DNS:secure.example,IP:127.0.0.1';
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
    execFileSync(
      'openssl',
      ['req', '-x509', ...kind, '-keyout', key, '-out', cert, '-subj', '/CN=x', '-addext', names],
      {
        stdio: 'ignore',
      },
    );
    made.ca = readFileSync(cert, 'utf8');
    const server = https.createServer({key: readFileSync(key), cert: made.ca}, answer);
    rmSync(folder, {recursive: true});
    return server;
  };
  return Object.defineProperty(served(open, 'https'), 'ca', {get: () => made.ca}) as SecureSite;
}

function served(open: () => Server, scheme: string): Site {
  const made: Site = {port: 0, url: '', connections: 0};
  const sockets = new Set<Socket>();
  let server: Server;
  beforeAll(async () => {
    server = open();
    server.on('connection', socket => {
      made.connections++;
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    made.port = (server.address() as AddressInfo).port;
    made.url = `${scheme}://127.0.0.1:${made.port}/`;
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise(resolve => server.close(resolve));
  });
  return made;
}

export function networkPolicy(allow: readonly string[], fetch?: Verdict): Policy {
  return {...emptyPolicy, tools: fetch ? {fetch} : {}, network: {allow}};
}

export interface Fetching extends Partial<FetchWorld> {
  allow?: readonly string[];
  tool?: Verdict;
  approved?: boolean;
  context?: Partial<ToolContext>;
}

/** A call that is run as if the policy allowed it, or as approved by a person. */
export async function fetched(
  url: string,
  {allow = [], tool, approved = false, context, ...world}: Fetching,
): Promise<ToolResult & Record<string, unknown>> {
  const ready = await makeFetch(world).prepare({url}, networkPolicy(allow, tool), toolHome(context).context);
  return ready.execute(approved);
}
