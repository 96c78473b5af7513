import {readFileSync} from 'node:fs';
import type {RequestListener} from 'node:http';
import {join} from 'node:path';
import {brotliCompressSync, deflateSync, gzipSync} from 'node:zlib';
import {describe, expect, it} from 'vitest';
import {makeFetch} from '../../src/effects/tools/fetch.ts';
import {prepareCall} from '../../src/effects/tools/prepare-call.ts';
import {sniff} from '../../src/effects/web/media-type.ts';
import {makeRedactor} from '../../src/policy/redact/redact.ts';
import {toolHome} from './tool-home.ts';
import {type Fetching, fetched, networkPolicy, secureSite, site} from './web-site.ts';

const {version} = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {version: string};

const html = `<!doctype html><html><head><meta charset="windows-1252"><title> A  page </title><script>evil()</script></head><body>
<!-- a comment --><h1>Gr\u00fc\u00dfe</h1><p>Some <b>bold</b> text and a <a href="../other?x=1#y">link</a>.</p>
<p hidden>unseen 1</p><p style="color: red; display:none">unseen 2</p><p aria-hidden="true">unseen 3</p>
<a href="javascript:evil()">no link</a> <img src="data:image/png;base64,AAAA" alt="a picture">
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
<pre><code class="language-js">if (1 < 2) run();</code></pre><ul><li>one<li>two</ul></body></html>`;

const markdown = `# Gr\u00fc\u00dfe

Some **bold** text and a [link](URLother?x=1#y).

no link a picture

| a | b |
| - | - |
| 1 | 2 |

\`\`\`js
if (1 < 2) run();
\`\`\`

- one
- two
`;

const latin = Buffer.from('gr\xfcn', 'latin1');
const pages: Record<string, [type: string | undefined, body: string | Buffer, headers?: Record<string, string>]> = {
  '/a/page': ['text/html', Buffer.from(html, 'latin1')],
  '/plain': ['text/plain', 'just *text* <b>\n'],
  '/json': ['application/json', '{"a": 1}'],
  '/feed': ['application/atom+xml', '<feed/>'],
  '/none': [undefined, 'no type\n'],
  '/none-binary': [undefined, Buffer.from([1, 0, 2, 0])],
  '/image': ['image/png', Buffer.alloc(1234), {'Content-Length': '1234'}],
  '/not-text': ['text/plain', Buffer.from('a\0b')],
  '/latin1': ['text/plain; charset=iso-8859-1', latin],
  '/guess': ['text/plain', latin],
  '/bom': ['text/plain; charset=iso-8859-1', '\ufeffgrün'],
  '/utf16': ['text/plain', Buffer.from('\ufeffgrün', 'utf16le')],
  '/gzip': ['text/plain', gzipSync('small'), {'Content-Encoding': 'gzip'}],
  '/br': ['text/plain', brotliCompressSync('small'), {'Content-Encoding': 'br'}],
  '/deflate': ['text/plain', deflateSync('small'), {'Content-Encoding': 'deflate'}],
  '/torn': ['text/plain', gzipSync('small').subarray(0, 15), {'Content-Encoding': 'gzip'}],
  '/zstd': ['text/plain', 'x', {'Content-Encoding': 'zstd'}],
  '/long': ['text/plain', `${'0123456789'.repeat(10_000)}the end`],
};

const seen: Record<string, unknown>[] = [];
const answer: RequestListener = (request, response) => {
  const path = request.url ?? '';
  seen.push({method: request.method, url: path, ...request.headers});
  const status = /^\/status\/(\d+)/.exec(path)?.[1];
  if (status) {
    response.writeHead(Number(status), {'Content-Type': 'text/plain'}).end('Sorry, ask elsewhere');
    return;
  }
  const to = /^\/to(\/.*)$/.exec(path)?.[1];
  if (to) {
    response.writeHead(302, {Location: to, 'Set-Cookie': 'a=b'}).end();
    return;
  }
  const [type, body, headers] = pages[path] ?? ['text/plain', path];
  response.writeHead(200, {...(type && {'Content-Type': type}), ...headers}).end(body);
};
const web = site(answer);
const secure = secureSite(answer);
const get = (path: string, more: Fetching = {}) =>
  fetched(`${web.url}${path.slice(1)}`, {allow: [`${web.url}**`], ...more});

describe('what a page says', () => {
  it('is Markdown of what one would see, with whole addresses', async () => {
    expect(await get('/a/page#part')).toEqual({
      success: true,
      url: `${web.url}a/page`,
      status: 200,
      content_type: 'text/html',
      title: 'A page',
      content: markdown.replace('URL', web.url),
      untrusted: true,
    });
  });

  it.each([
    ['/plain', 'just *text* <b>\n'],
    ['/json', '{"a": 1}'],
    ['/feed', '<feed/>'],
    ['/none', 'no type\n'],
    ['/latin1', 'grün'],
    ['/guess', 'grün'],
    ['/bom', 'grün'],
    ['/utf16', 'grün'],
    ['/gzip', 'small'],
    ['/br', 'small'],
    ['/deflate', 'small'],
  ])('%s is read as it is meant', async (path, content) => {
    expect(await get(path)).toMatchObject({success: true, content, untrusted: true});
  });

  it.each([
    ['/image', 'not text but image/png, 1234 bytes'],
    ['/none-binary', 'not text but of no known type, 4 bytes'],
    ['/not-text', 'it is said to be text/plain, but it has NUL characters'],
    ['/torn', 'could not be decompressed'],
    ['/zstd', 'encoded as "zstd"'],
  ])('%s is refused in words', async (path, words) => {
    expect(await get(path)).toMatchObject({success: false, code: 'FAILED', error: expect.stringContaining(words)});
  });

  it('is cut where it is long, with the whole in a file, and without secrets in either', async () => {
    const secret = '0123456789'.repeat(3);
    const {context, workspace} = toolHome();
    const policy = networkPolicy([`${web.url}**`]);
    const call = {name: 'fetch', arguments: JSON.stringify({url: `${web.url}long`})};
    const ready = await prepareCall(call, ['fetch'], policy, context);
    if ('refused' in ready || ready.asks) throw new Error('it should be allowed');
    const {content, content_file} = (await ready.execute()) as Record<string, unknown>;
    expect(String(content).length).toBeLessThan(33_000);
    expect(content).toMatch(/^0123.*left out; the whole is in \.untrusted\/.*the end$/s);
    expect(readFileSync(join(workspace, String(content_file)), 'utf8')).toBe(pages['/long']?.[1]);

    const redact = makeRedactor([{name: 'KEY', value: secret}]);
    const result = await get('/long', {context: {redact}});
    expect(JSON.stringify(result)).not.toContain(secret);
  });

  it('of an error is told with its status', async () => {
    expect(await get('/status/404')).toEqual({
      success: false,
      code: 'FAILED',
      error: 'the server answers 404 Not Found',
      url: `${web.url}status/404`,
      status: 404,
      content_type: 'text/plain',
      content: 'Sorry, ask elsewhere',
      untrusted: true,
    });
    expect(await get('/status/304')).toMatchObject({success: false, status: 304});
  });

  it('is known to be a page by how it begins, where the server does not say', () => {
    expect(sniff(Buffer.from('\ufeff\n<!DOCTYPE html><p>'))).toBe('html');
    expect(sniff(Buffer.from('<html lang=en>'))).toBe('html');
    expect(sniff(Buffer.from('<htmlx>'))).toBe('text');
  });

  it('is only the beginning of a very long one', async () => {
    expect(await get('/long', {mostBytes: 1000})).toMatchObject({
      content: '0123456789'.repeat(100).slice(0, -1),
      note: expect.stringContaining('only its beginning'),
    });
  });
});

describe('a request that a person approved', () => {
  it('may lead on on the same server, whatever it was asked for', async () => {
    const {context} = toolHome({tainted: ['inbox/mail.jsonl#1']});
    const call = {name: 'fetch', arguments: JSON.stringify({url: `${web.url}to/plain`})};
    const ready = await prepareCall(call, ['fetch'], networkPolicy([`${web.url}to/**`]), context);
    if ('refused' in ready || !ready.asks) throw new Error('it should ask');
    expect(await ready.execute()).toMatchObject({success: true, redirected: true, url: `${web.url}plain`});
  });
});

describe('a request', () => {
  it('says nothing but what is asked for, and goes to the server itself', async () => {
    process.env.http_proxy = process.env.HTTP_PROXY = 'http://127.0.0.1:9';
    try {
      seen.length = 0;
      expect(await get('/to/to/plain?a=%20b')).toMatchObject({
        success: true,
        url: `${web.url}plain?a=%20b`,
        redirected: true,
      });
      expect(seen).toHaveLength(3);
      for (const request of seen) {
        expect(Object.keys(request).sort()).toEqual(
          ['accept', 'accept-encoding', 'connection', 'host', 'method', 'url', 'user-agent'].sort(),
        );
        expect(request).toMatchObject({method: 'GET', 'user-agent': `agentdir/${version}`});
      }
    } finally {
      delete process.env.http_proxy;
      delete process.env.HTTP_PROXY;
    }
  });

  it('is made only to a server whose certificate is good, whatever the environment says', async () => {
    const url = `${secure.url}plain`;
    const allow = [
      `${secure.url}**`,
      `https://secure.example:${secure.port}/**`,
      `https://other.example:${secure.port}/**`,
    ];
    const lookup = async () => [{address: '127.0.0.1', family: 4}];
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      expect(await fetched(url, {allow})).toMatchObject({
        code: 'FAILED',
        error: '127.0.0.1: no secure connection: its certificate is self-signed',
      });
      expect(await fetched(`https://other.example:${secure.port}/`, {allow, lookup, ca: secure.ca})).toMatchObject({
        code: 'FAILED',
        error: 'other.example: no secure connection: its certificate is for another host',
      });
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
    const named = `https://secure.example:${secure.port}/plain`;
    expect(await fetched(named, {allow, lookup, ca: secure.ca})).toMatchObject({success: true, url: named});
    expect(
      await fetched(`https://127.0.0.1:${web.port}/`, {allow: [`https://127.0.0.1:${web.port}/**`]}),
    ).toMatchObject({error: expect.stringContaining('no secure connection')});
  });

  it.each([
    ['ENOTFOUND', 'there is no host with this name'],
    ['EAI_AGAIN', 'the name could not be looked up'],
  ])('fails in words: %s', async (code, words) => {
    const lookup = () => Promise.reject(Object.assign(new Error('x'), {code}));
    expect(await fetched('https://no.example/', {tool: 'allow', lookup})).toMatchObject({
      code: 'FAILED',
      error: expect.stringContaining(`no.example: ${words}`),
    });
  });

  it('that nobody takes fails in words', async () => {
    expect(await fetched('http://127.0.0.1:1023/', {approved: true})).toMatchObject({
      code: 'FAILED',
      error: '127.0.0.1: the connection was refused: nothing listens there',
    });
  });
});

describe('what a person is asked', () => {
  const asked = async (url: string, reason?: string) => {
    const {ask} = await makeFetch().prepare({url, reason}, networkPolicy([]), toolHome().context);
    return ask();
  };

  it('is all there is to know', async () => {
    expect(await asked('https://docs.example.com/a/b', 'to read the manual')).toEqual({
      type: 'network',
      title: 'fetch: https://docs.example.com/a/b',
      risk: {level: 'MEDIUM', factors: ['docs.example.com is another machine and will see this address']},
      reason: 'to read the manual',
      parts: [{label: 'Address', text: 'https://docs.example.com/a/b'}],
      edits: {argument: 'url', label: 'Address'},
      basis: {},
      always: {rules: [{address: 'https://docs.example.com/a/b'}]},
    });
  });

  it('shows what an address is read as', async () => {
    expect(await asked('https://b\u00fccher.example/x')).toMatchObject({
      title: 'fetch: https://xn--bcher-kva.example/x',
      parts: [
        {label: 'Address', text: 'https://b\u00fccher.example/x'},
        {label: 'Read as', text: 'https://xn--bcher-kva.example/x'},
        {label: 'Host', text: 'xn--bcher-kva.example (b\u00fccher.example)'},
      ],
      risk: {factors: expect.arrayContaining([expect.stringContaining('may look like others')])},
    });
  });

  it.each([
    ['http://example.com/', 'MEDIUM', 'plain http'],
    ['http://169.254.169.254/latest', 'CRITICAL', 'where clouds keep credentials'],
    ['http://0x7f.1/', 'HIGH', '127.0.0.1 is this machine itself'],
    ['https://printer.local/', 'HIGH', 'a name of the local network'],
    ['https://example.com:8443/', 'MEDIUM', 'port 8443'],
    [`https://example.com/?q=${'x'.repeat(70)}`, 'HIGH', 'carry data out: its query'],
    [`https://example.com/${'x'.repeat(90)}`, 'HIGH', 'carry data out: its path'],
    [`https://${'x'.repeat(40)}.example.com/`, 'HIGH', 'carry data out: its host'],
  ])('names the risk of %s', async (url, level, words) => {
    expect(await asked(url)).toMatchObject({
      risk: {level, factors: expect.arrayContaining([expect.stringContaining(words)])},
    });
  });

  it.each([
    'https://example.com/?q=1',
    'https://example.com/a*',
    'https://example.com/a%20b',
    'https://example.com/a//b',
  ])('offers no rule that allows more than %s', async url => {
    expect(await asked(url)).toMatchObject({always: {none: expect.any(String)}});
  });

  it('is nothing where the call could not be run', async () => {
    const {context} = toolHome();
    const call = {name: 'fetch', arguments: JSON.stringify({url: 'https://u:p@example.com/'})};
    const ready = await prepareCall(call, ['fetch'], networkPolicy([]), context);
    if ('refused' in ready) throw new Error('it should be prepared');
    expect(await ready.ask?.()).toMatchObject({success: false, code: 'INVALID_ARGUMENTS'});
    const secret = {name: 'fetch', arguments: JSON.stringify({url: 'https://example.com/?k=[redacted: KEY]'})};
    expect(await prepareCall(secret, ['fetch'], networkPolicy([]), context)).toMatchObject({
      refused: {code: 'INVALID_ARGUMENTS'},
    });
  });
});
