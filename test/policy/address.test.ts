import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {parseAllowlist} from '../../src/formats/allowlist.ts';
import type {Policy, Verdict} from '../../src/formats/rule.ts';
import {judgeAddress} from '../../src/policy/address.ts';
import {anyText, runs} from '../arbitrary.ts';
import {policyOf} from './policy-of.ts';

const patterns = [
  'https://docs.example.com/**',
  'https://*.wild.example/**',
  'https://one.example/guide/*',
  'https://two.example/a-*-z/b.html',
  'https://three.example:8443/**',
  'http://plain.example/**',
  'http://127.0.0.1:3000/**',
  'http://localhost:8080/api/**',
  'https://xn--bcher-kva.example/**',
];
const policy: Policy = {...policyOf({}), network: {allow: patterns}};
const withFetch = (fetch: Verdict, allow: readonly string[] = patterns): Policy => ({
  ...policyOf({}, {tools: {fetch}}),
  network: {allow},
});

describe('network.allow', () => {
  test.each([
    'https://docs.example.com/',
    'https://docs.example.com',
    'https://docs.example.com/a/b?c=d#e',
    'https://docs.example.com:443/a',
    'HTTPS://DOCS.Example.COM/A',
    'https://docs.example.com./a',
    'https://docs.example.com/a/../b',
    'https://docs.example.com/a%20b',
    'https://docs.example.com/@evil.org',
    'https://a.wild.example/x',
    'https://a.b.wild.example/',
    'https://one.example/guide/x',
    'https://one.example/guide/%78',
    'https://two.example/a-b-c-z/b.html',
    'https://three.example:8443/x',
    'http://plain.example:80/x',
    'http://127.0.0.1:3000/x',
    'http://0x7f.1:3000/x',
    'http://2130706433:3000/x',
    'http://localhost:8080/api/x',
    'https://xn--bcher-kva.example/x',
  ])('allows %s', url => {
    expect(judgeAddress(url, policy)).toMatchObject({
      verdict: 'allow',
      reason: expect.stringContaining('network.allow'),
    });
  });

  test.each([
    'https://docs.example.com.evil.org/',
    'https://docs.example.comevil.org/',
    'https://docs.example.com@evil.org/',
    'https://docs.example.com:x@evil.org/',
    'https://evil.org/https://docs.example.com/',
    'https://evil.org#https://docs.example.com/',
    'https://evil.org?https://docs.example.com/',
    'https://user@docs.example.com/',
    'https://@docs.example.com/',
    'https://docs.example.com\\@evil.org/',
    'https://evil.org\\docs.example.com/',
    'https:\\\\docs.example.com/',
    'https://docs.example.com\t/x',
    'https://docs.exam\nple.com/',
    ' https://docs.example.com/',
    'https://docs.example.com/a b',
    'https://docs.ex\u0430mple.com/',
    'https://docs。example.com/',
    'https://xn--docs-example.com/',
    'https://b\u00fccher.example/x',
    'http://docs.example.com/',
    'ftp://docs.example.com/',
    'file:///etc/passwd',
    'data:text/plain,x',
    'javascript:alert(1)',
    'docs.example.com/',
    '//docs.example.com/',
    'https:docs.example.com',
    'https:///docs.example.com/',
    'https://docs.example.com:8443/',
    'https://docs.example.com../',
    'https://docs.example.com//x',
    'https://docs.example.com/a%2f..%2fb',
    'https://docs.example.com/%252e%252e/x',
    'https://docs.example.com/a;/x',
    'https://docs.example.com/%00',
    'https://docs.example.com/%zz',
    'https://wild.example/',
    'https://evilwild.example/',
    'https://one.example/guide',
    'https://one.example/guide/x/y',
    'https://one.example/guide/../secret',
    'https://one.example/guide/%2e%2e/secret',
    'https://one.example/Guide/x',
    'https://two.example/a-z/b.html',
    'https://two.example/a-b-z/b.htm',
    'https://three.example/x',
    'http://127.0.0.1/x',
    'http://localhost:8080/other',
    'http://[::1]:3000/x',
    'http://[::ffff:127.0.0.1]:3000/x',
    '',
    'https://',
  ])('asks about %j', url => {
    expect(judgeAddress(url, policy).verdict).toBe('ask');
  });
});

describe('together with the tool', () => {
  const hosts = [
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '2130706433',
    '017700000001',
    '0.0.0.0',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.169.254',
    '0xa9fea9fe',
    '224.0.0.1',
    '255.255.255.255',
    '[::]',
    '[::1]',
    '[::ffff:10.0.0.1]',
    '[::ffff:a9fe:a9fe]',
    '[64:ff9b::10.0.0.1]',
    '[2002:7f00:1::]',
    '[fd00::1]',
    '[fe80::1]',
    'localhost',
    'x.localhost',
    'localhost.',
    'metadata.google.internal',
    'printer.local',
    'intranet',
  ];
  test.each(hosts)('fetch: allow does not reach http://%s/, a spelled pattern does', host => {
    const url = `http://${host}/latest`;
    expect(judgeAddress(url, withFetch('allow', [])).verdict).toBe('ask');
    expect(judgeAddress(url, withFetch('allow', ['https://*.example.com/**'])).verdict).toBe('ask');
    const spelled = new URL(url).host.replace(/\.$/, '');
    expect(judgeAddress(url, withFetch('ask', [`http://${spelled}/**`])).verdict).toBe('allow');
  });

  test.each(['https://example.org/x', 'http://8.8.8.8/', 'https://[2606:4700::1]/'])('fetch: allow allows %s', url => {
    expect(judgeAddress(url, withFetch('allow')).verdict).toBe('allow');
    expect(judgeAddress(url, withFetch('ask')).verdict).toBe('ask');
    expect(judgeAddress(url, policy).verdict).toBe('ask');
  });

  test('fetch: deny denies, whatever network.allow says', () => {
    expect(judgeAddress('https://docs.example.com/', withFetch('deny')).verdict).toBe('deny');
    expect(judgeAddress('nonsense', withFetch('deny')).verdict).toBe('deny');
    expect(judgeAddress('https://docs.example.com/', {...policy, tools: {WebFetch: 'deny'}}).verdict).toBe('deny');
  });
});

describe('patterns in allowlist.yaml', () => {
  const problemsOf = (pattern: string) =>
    parseAllowlist(`version: 1\nnetwork:\n  allow:\n    - ${JSON.stringify(pattern)}\n`).problems;

  test.each(patterns)('%s is one', pattern => {
    expect(problemsOf(pattern)).toEqual([]);
  });

  test.each([
    '*',
    'docs.example.com/**',
    '**',
    'https://*/**',
    'https://**/x',
    'https://doc*.example.com/**',
    'https://docs.*.com/**',
    'https://*.com/**',
    'https://*.localhost/**',
    'https://*.127.0.0.1/**',
    'https://Docs.example.com/**',
    'https://docs.example.com./**',
    'https://user@docs.example.com/**',
    'https://docs.example.com:99999/**',
    'https://b\u00fccher.example/**',
    'http://0x7f.1/**',
    'ftp://docs.example.com/**',
    'https://docs.example.com/**/x',
    'https://docs.example.com/a**',
    'https://docs.example.com/../x',
    'https://docs.example.com/%2e/x',
    'https://docs.example.com/x?y=*',
    '',
  ])('%j is none', pattern => {
    expect(problemsOf(pattern)).toEqual([
      expect.objectContaining({code: 'BAD_PATTERN', line: 4, column: 7, hint: expect.stringContaining('https://')}),
    ]);
  });

  test('nothing throws, and what is allowed has a host that a pattern names', () => {
    const near = fc
      .tuple(
        fc.constantFrom('https://', 'http://', 'https:', 'HTTPS://', ''),
        fc.array(
          fc.oneof(
            fc.constantFrom(...'.@:/\\?#%*[]'),
            fc.constantFrom('docs', 'example', 'com', 'wild', 'x', '%2e', '..', 'evil.org', '\t'),
          ),
          {maxLength: 12},
        ),
      )
      .map(([scheme, parts]) => scheme + parts.join(''));
    fc.assert(
      fc.property(fc.oneof(anyText, near), url => {
        problemsOf(url);
        if (judgeAddress(url, policy).verdict !== 'allow') return;
        expect(new URL(url).hostname).toMatch(/^(docs\.example\.com|([^.]+\.)+wild\.example)\.?$/);
      }),
      runs(2000),
    );
  });
});
