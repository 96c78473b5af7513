import type {RequestListener} from 'node:http';
import type {Writable} from 'node:stream';
import {gzipSync} from 'node:zlib';
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {markdownOf} from '../../src/effects/web/html-markdown.ts';
import {visibleWords} from '../../src/effects/web/html-shallow.ts';
import {readHtml} from '../../src/effects/web/html-thread.ts';
import {judgeAddress} from '../../src/policy/address.ts';
import {runs} from '../arbitrary.ts';
import {thorough} from '../cli/run.ts';
import {type Fetching, fetched, networkPolicy, rawSite, secureSite, site} from '../effects/web-site.ts';

const victim = site((_request, answer) => answer.end('secret'));
const loopback = async () => [{address: '127.0.0.1', family: 4}];

describe('addresses that are not public', () => {
  it.each([
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.0x0.0x0.0x1',
    '0177.0.0.1',
    '017700000001',
    '127.0.0.1.',
    '①②⑦.0.0.1',
    '127。0。0。1',
    '%31%32%37.0.0.1',
    '0.0.0.0',
    '0',
    '[::]',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::127.0.0.1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:7f00:0001]',
    '[::ffff:0:127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b:1::127.0.0.1]',
    '[2002:7f00:1::]',
    '[2001:0:4136:e378:8000:63bf:80ff:fffe]',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '[ff02::1]',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '100.64.0.1',
    '100.100.100.200',
    '169.254.169.254',
    '0xa9fea9fe',
    '168.63.129.16',
    '192.0.0.192',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'metadata.google.internal',
    'printer.local',
    'intranet',
  ])('http://%s/ asks even with fetch: allow, and is not connected to', async host => {
    const url = `http://${host}:${victim.port}/`;
    const before = victim.connections;
    expect(judgeAddress(url, networkPolicy([], 'allow')).verdict).toBe('ask');
    expect(await fetched(url, {tool: 'allow', lookup: loopback})).toMatchObject({success: false, code: 'DENIED'});
    expect(victim.connections).toBe(before);
  });

  it('are reached where a person approved what is shown to be one, or a rule spells it', async () => {
    const spelled = `http://localhost:${victim.port}/**`;
    for (const given of [{approved: true}, {allow: [spelled]}])
      expect(await fetched(`http://localhost:${victim.port}/`, {...given, lookup: loopback})).toMatchObject({
        content: 'secret',
      });
  });

  it.each(['127.0.0.1', '10.0.0.1', '::1', '::ffff:127.0.0.1', 'fe80::1%eth0', '169.254.169.254', 'nonsense'])(
    'are not reached by a public name that leads to %s',
    async address => {
      const url = `http://public.example:${victim.port}/`;
      const before = victim.connections;
      const lookup = async () => [
        {address: '93.184.216.34', family: 4},
        {address, family: 4},
      ];
      for (const given of [{tool: 'allow' as const}, {approved: true}, {allow: [`http://*.example:${victim.port}/**`]}])
        expect(await fetched(url, {...given, lookup})).toMatchObject({
          code: 'DENIED',
          error: expect.stringContaining(`public.example leads to ${address}`),
        });
      expect(victim.connections).toBe(before);
    },
  );

  it.each([
    '169.254.169.254',
    'fe80::1',
    '224.0.0.1',
    'fd00:ec2::254',
    'fd20:ce::254',
    '100.100.100.200',
    '::ffff:100.100.100.200',
  ])('never lie behind a name: %s', async address => {
    const allow = ['http://metadata.example/**'];
    const lookup = async () => [{address, family: 4}];
    expect(await fetched('http://metadata.example/', {allow, lookup})).toMatchObject({
      code: 'DENIED',
      error: expect.stringContaining('no name may lead there'),
    });
  });

  it('are not slipped in by a second look at the name', async () => {
    let looks = 0;
    const lookup = async () => [{address: looks++ === 0 ? '127.0.0.1' : '127.0.0.2', family: 4}];
    const allow = [`http://rebound.example:${victim.port}/**`];
    expect(await fetched(`http://rebound.example:${victim.port}/`, {allow, lookup})).toMatchObject({content: 'secret'});
    expect(looks).toBe(1);
  });
});

describe('what is no address for a page', () => {
  it.each([
    'file:///etc/passwd',
    'ftp://example.com/',
    'gopher://127.0.0.1:6379/_FLUSHALL',
    'data:text/plain,x',
    'http:/example.com',
    'http://user@example.com/',
    'http://user:password@example.com/',
    'http://@example.com/',
    'http://example.com\\@127.0.0.1/',
    'http://example.com/a b',
    'http://example.com/\r\nX-Header: 1',
    'http://example.com/\u202e',
    'http://exa\u200bmple.com/',
    'http://a..b/',
    'http://[::1/',
    'http://',
    'example.com',
    `http://example.com/${'x'.repeat(9000)}`,
  ])('%j is refused, whoever approved it', async url => {
    expect(await fetched(url, {approved: true, lookup: loopback})).toMatchObject({code: 'INVALID_ARGUMENTS'});
  });

  it.each([22, 25, 53, 110, 143, 6379, 6667])('port %i is refused, whoever approved it', async port => {
    const url = `http://127.0.0.1:${port}/`;
    expect(await fetched(url, {approved: true, allow: [`${url}**`]})).toMatchObject({
      code: 'DENIED',
      error: expect.stringContaining('not for the web'),
    });
  });
});

describe('redirects', () => {
  const paths: Record<string, string> = {
    '/open': '/closed',
    '/round': '/round',
    '/1': '/2',
    '/2': '/3',
    '/3': '/4',
    '/4': '/5',
    '/5': '/6',
    '/6': '/end',
  };
  const hop: RequestListener = ({url = ''}, answer) => {
    const to = new URL(url, 'http://x').searchParams.get('to') ?? paths[url];
    if (to === undefined) answer.end('arrived');
    else answer.writeHead(302, {Location: to}).end();
  };
  const hops = site(hop);
  const secureHops = secureSite(hop);
  const from = (to: string) => `${hops.url}?to=${encodeURIComponent(to)}`;

  it.each([
    ['a private host', () => victim.url, 'FAILED'],
    ['another spelling of it', () => `http://2130706433:${victim.port}/`, 'FAILED'],
    ['a name of this machine', () => `http://localhost:${victim.port}/`, 'FAILED'],
    ['where clouds keep credentials', () => 'http://169.254.169.254/latest/meta-data/', 'FAILED'],
    ['another port of the same host', () => `//127.0.0.1:${victim.port}/`, 'FAILED'],
    ['a public host that nobody allowed', () => 'https://example.com/?leak=x', 'FAILED'],
    ['a port that is not for the web', () => 'http://127.0.0.1:6379/', 'DENIED'],
    ['a user name', () => 'https://user:password@example.com/', 'INVALID_ARGUMENTS'],
    ['a file', () => 'file:///etc/passwd', 'INVALID_ARGUMENTS'],
    ['nothing', () => 'http://', 'INVALID_ARGUMENTS'],
  ])('to %s are not followed, and named', async (_what, to, code) => {
    const before = victim.connections;
    for (const given of [{approved: true}, {allow: [`${hops.url}**`]}]) {
      const result = await fetched(from(to()), {...given, lookup: loopback});
      expect(result).toMatchObject({success: false, code, untrusted: true});
      expect(result.error).toContain(
        `it leads to ${to().replace('//127', 'http://127').replace('http:http:', 'http:').replace('2130706433', '127.0.0.1')}`,
      );
    }
    expect(victim.connections).toBe(before);
  });

  it('to a public name that leads to this machine are not followed', async () => {
    const before = victim.connections;
    const given = {allow: [`${hops.url}**`], tool: 'allow', lookup: loopback} as const;
    expect(await fetched(from(`http://public.example:${victim.port}/`), given)).toMatchObject({code: 'DENIED'});
    expect(victim.connections).toBe(before);
  });

  it('are followed on the server that was approved, and to what a rule allows', async () => {
    expect(await fetched(from('/x'), {approved: true})).toMatchObject({content: 'arrived', redirected: true});
    expect(await fetched(`${hops.url}open`, {approved: true})).toMatchObject({url: `${hops.url}closed`});
    expect(await fetched(from(victim.url), {allow: [`${hops.url}**`, victim.url]})).toMatchObject({content: 'secret'});
  });

  it('do not leave the paths that a rule allows', async () => {
    expect(await fetched(`${hops.url}open`, {allow: [`${hops.url}open`]})).toMatchObject({
      code: 'FAILED',
      location: `${hops.url}closed`,
    });
  });

  it('are five at most', async () => {
    expect(await fetched(`${hops.url}2`, {approved: true})).toMatchObject({content: 'arrived'});
    for (const path of ['1', 'round'])
      expect(await fetched(`${hops.url}${path}`, {approved: true})).toMatchObject({
        code: 'FAILED',
        error: expect.stringContaining('more than 5 redirects'),
        untrusted: true,
      });
    const {error} = await fetched(`${hops.url}round?${'x'.repeat(5000)}`, {approved: true});
    expect(String(error).length).toBeLessThan(2200);
  });

  it('never lead from https to http', async () => {
    const given = {allow: [`${secureHops.url}**`, victim.url], ca: secureHops.ca};
    const before = victim.connections;
    expect(await fetched(`${secureHops.url}?to=${encodeURIComponent(victim.url)}`, given)).toMatchObject({
      code: 'DENIED',
      error: expect.stringContaining('not secure'),
    });
    expect(victim.connections).toBe(before);
  });
});

describe('servers that mean harm', () => {
  const bomb = gzipSync(Buffer.alloc(4 * 1024 * 1024, 'x'));
  const hostile = site(({url}, answer) => {
    answer.writeHead(200, {'Content-Type': 'text/plain', ...(url !== '/slow' && {'Content-Encoding': 'gzip'})});
    if (url === '/bomb') answer.end(bomb);
    else if (url === '/void') pour(answer, emptyBlocks);
    else answer.write('a few words, then nothing');
  });
  const raw = rawSite(socket => raws.shift()?.(socket));
  const raws: ((socket: Writable) => void)[] = [];
  /** A gzip stream of blocks that hold nothing. */
  const emptyBlocks = Buffer.concat([
    gzipSync('').subarray(0, 10),
    Buffer.alloc(256 * 1024, Buffer.from([0, 0, 0, 0xff, 0xff])),
  ]);
  const get = (given: Fetching, url = raw.url) => fetched(url, {approved: true, ...given});

  it('with little data that becomes much: it is cut', async () => {
    expect(await get({mostBytes: 65_536}, `${hostile.url}bomb`)).toMatchObject({
      success: true,
      note: expect.stringContaining('only its beginning'),
    });
  });

  it('with much data that becomes nothing: it is ended', async () => {
    expect(await get({mostBytes: 65_536}, `${hostile.url}void`)).toMatchObject({success: false, code: 'FAILED'});
  });

  it('that never finish: it is ended', async () => {
    expect(await get({totalMs: 100}, `${hostile.url}slow`)).toMatchObject({code: 'TIMEOUT'});
  });

  it('that never begin: it is ended, whatever they say before', async () => {
    raws.push(() => {});
    expect(await get({firstByteMs: 50})).toMatchObject({
      code: 'TIMEOUT',
      error: expect.stringContaining('no answer within'),
    });
    raws.push(socket => pour(socket, Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(10))));
    expect(await get({firstByteMs: 50})).toMatchObject({code: 'TIMEOUT'});
  });

  it('with names that nobody resolves: it is ended', async () => {
    const lookup = () => new Promise<never>(() => {});
    for (const limit of [{totalMs: 50}, {firstByteMs: 50}])
      expect(await fetched('https://slow.example/', {tool: 'allow', lookup, ...limit})).toMatchObject({
        code: 'TIMEOUT',
      });
  });

  it('with a flood of headers: it is ended', async () => {
    raws.push(socket => pour(socket, Buffer.from(`HTTP/1.1 200 OK\r\n${'X-A: aaaaaaaaaaaaaaaa\r\n'.repeat(2000)}`)));
    expect(await get({})).toMatchObject({code: 'FAILED', error: expect.stringContaining('headers of the answer')});
  });

  it.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['nothing at all', ''],
    ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nab'],
    ['less than they promise', 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nab'],
  ])('that answer with %s: it fails', async (_what, text) => {
    raws.push(socket => socket.end(text));
    expect(await get({firstByteMs: 5000, totalMs: 5000})).toMatchObject({success: false, code: 'FAILED'});
  });

  it('a call that is stopped ends at once', async () => {
    const stop = new AbortController();
    raws.push(socket => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nab');
      stop.abort();
    });
    expect(await get({context: {signal: stop.signal}})).toMatchObject({code: 'INTERRUPTED'});
  });
});

/** As much as is taken. */
function pour(to: Writable, what: Buffer): void {
  const more = (): void => {
    while (!to.destroyed && to.write(what));
    if (!to.destroyed) to.once('drain', more);
  };
  more();
}

describe('pages that mean harm', () => {
  const large = (thorough ? 5 : 0.1) * 1024 * 1024;
  const many = (text: string) => text.repeat(large / text.length);

  it.each(['<div>', '<b>', '<div></span>', '<table>', '<ul>', '<a>', '<svg>', "<a b='", '<!--', '<script>', '<font>'])(
    'of nothing but %s are read',
    text => {
      expect(visibleWords(`${many(text)}`)).toBe('');
      expect(markdownOf(`<title>t</title>${many(text)}`, 'https://example.com/').content.length).toBeLessThan(5000);
    },
  );

  it('of an element with countless attributes are read', () => {
    const names = Array.from({length: large / 10}, (_, i) => `a${i}`).join(' ');
    expect(markdownOf(`<p ${names}>text`, 'https://example.com/').content).toBe('text\n');
  });

  it('that take too long become their words', async () => {
    const {signal} = new AbortController();
    const slow = `${Array.from({length: 140}, (_, i) => `<b x${i}>`).join('')}${'<p>x'.repeat(400_000)}`;
    const made = await readHtml(slow, 'https://example.com/', signal, thorough ? 2_000 : 300);
    expect(made.plain).toBe(true);
  });

  it('hide nothing from those who read them', () => {
    const {content} = markdownOf(
      '<p>seen</p><div hidden>H1</div><p style="visibility:hidden">H2</p><p style="opacity: 0">H3</p><p style="font-size:0px">H4</p>' +
        '<template>H5</template><noframes>H6</noframes><!-- H7 --><svg><text>H8</text></svg><input type=hidden value=H9>' +
        '<a href="java\nscript:H10">link</a><iframe srcdoc="H11"></iframe><object>H12</object><p style="opacity:0.5">too<table><tr><td>1',
      'https://example.com/',
    );
    expect(content).toBe('seen\n\nlink\n\ntoo\n\n|   |\n| - |\n| 1 |\n');
  });

  it('of any tags never make it throw', () => {
    const tag = fc.constantFrom(
      ...'div b p a table td ul li pre code select option svg math title template h1 br'.split(' '),
    );
    const part = fc.oneof(
      tag.map(name => `<${name}>`),
      tag.map(name => `</${name}>`),
      fc.constantFrom(
        'text',
        ' ',
        '\n',
        '<',
        '&amp;',
        '<!--',
        '-->',
        '<a href="//[">',
        '<img src=x alt=y>',
        '<base href="x:">',
      ),
    );
    fc.assert(
      fc.property(fc.array(part, {maxLength: 30}), parts => {
        expect(typeof markdownOf(parts.join(''), 'https://example.com/').content).toBe('string');
        expect(typeof visibleWords(parts.join(''))).toBe('string');
      }),
      runs(100),
    );
  });
});
