import fc from 'fast-check';
import {expect, test} from 'vitest';
import {type BoundCall, callDigest} from '../../src/formats/approval/approval-digest.ts';

const call: BoundCall = {
  tool: 'execute_command',
  arguments: '{"command":"ls","reason":"look"}',
  cwd: 'workspaces/a',
  agent: 'a',
  session: 'a-1',
  call: 'c1',
  basis: {where: 'sandbox', 'script x.sh': 'none'},
};

test('the digest does not depend on order, space or spelling', () => {
  const same = callDigest(call);
  expect(same).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(callDigest({...call, arguments: '{ "reason": "l\\u006fok",\n "command": "ls" }'})).toBe(same);
  expect(callDigest({...call, basis: {'script x.sh': 'none', where: 'sandbox'}})).toBe(same);
});

test('whatever differs gives another digest', () => {
  const others: Partial<BoundCall>[] = [
    {tool: 'bash'},
    {arguments: '{"command":"ls ","reason":"look"}'},
    {arguments: '{"command":"ls","reason":"look","network":true}'},
    {arguments: '{"command":"ls","reason":"look","__proto__":{"network":true}}'},
    {arguments: '{"command":["ls"],"reason":"look"}'},
    {arguments: ''},
    {arguments: 'null'},
    {arguments: '"null"'},
    {arguments: '1e999'},
    {cwd: 'workspaces/b'},
    {agent: 'b'},
    {session: 'a-2'},
    {call: 'c2'},
    {basis: {where: 'host', 'script x.sh': 'none'}},
    {basis: {where: 'sandbox'}},
    {basis: {}},
  ];
  const digests = [call, ...others.map(other => ({...call, ...other}))].map(callDigest);
  expect(new Set(digests).size).toBe(digests.length);
});

test('values that JSON tells apart have different digests, and the same in any order the same', () => {
  fc.assert(
    fc.property(fc.json(), fc.json(), (a, b) => {
      const [one, other] = [a, b].map(text => callDigest({...call, arguments: text}));
      const equal = JSON.stringify(sorted(JSON.parse(a))) === JSON.stringify(sorted(JSON.parse(b)));
      expect(one === other).toBe(equal);
      expect(callDigest({...call, arguments: JSON.stringify(reversed(JSON.parse(a)), null, 2)})).toBe(one);
    }),
  );
});

test('nesting without end does not throw', () => {
  expect(callDigest({...call, arguments: '['.repeat(100_000) + ']'.repeat(100_000)})).toMatch(/^sha256:/);
});

/** As pairs, so that no key is special. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return ['list', ...value.map(sorted)];
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)]);
}

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, inner]) => [key, reversed(inner)]));
}
