import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {parseItem, parseSession, parseWhole, type Session, sessionText} from '../../src/formats/session/session.ts';
import {
  insertMessage,
  insertMessages,
  setInMessage,
  setKeysInCalls,
  setKeysInMessage,
  setSessionField,
  setSessionFields,
} from '../../src/formats/session/session-edit.ts';
import type {Message, SessionHeader} from '../../src/formats/session/session-schema.ts';
import {editYaml} from '../../src/formats/yaml/yaml-edit.ts';
import {editPlainYaml} from '../../src/formats/yaml/yaml-plain-edit.ts';
import {readYaml} from '../../src/formats/yaml/yaml-source.ts';
import {anyText, part, runs} from '../arbitrary.ts';
import {changedLines} from '../line-diff.ts';

const TIME = '2025-10-04T10:06:00.000Z';
const anyOf = (...values: string[]) => fc.constantFrom(...values);
/** The usual ones, and now and then one that is not. */
const mostly = (usual: string[], odd: string[]) =>
  fc.oneof({weight: 5, arbitrary: anyOf(...usual)}, {weight: 1, arbitrary: anyOf(...odd)});

/** What may stand between two keys, or end a message. */
const between = mostly([''], ['\n', '# note\n', '  # note\n', '\n\n', '# a\n\n', '    # deep\n', '      # deeper\n']);
const content = mostly(
  [
    'content: hi\n',
    "content: 'it''s'\n",
    'content: "a\\nb"\n',
    'content: |\n      text\n',
    'content: |-\n      text\n\n      # text\n',
    'content: |+\n      text\n\n',
    'content: |+\n      text\n',
    'content: |\n      text\n\n\n',
  ],
  [
    'content: a # note\n',
    'content: |2\n       lead\n',
    'content: >\n      folded\n      text\n',
    'content: a\n      b\n',
    'content: "a\n      b"\n',
  ],
);
const NAMED = '        function:\n          name: x\n          arguments: "{}"\n';
const call = fc
  .tuple(
    mostly(['', "        started: '2025-01-01T00:00:00Z'\n"], ['        started: 2025-01-01 # once\n']),
    anyOf('', '        run: a\n', '        run: "b"  \n', "        run: 'c'\n"),
    between,
    anyOf('', '        function: {name: x, arguments: "{}"}\n', NAMED.replace('"{}"', '|\n            {}')),
  )
  .map(parts => ['      - id: c1\n', parts[3] === '' ? NAMED : '', ...parts].join(''));
const item = fc
  .tuple(
    mostly(['role: user\n', 'role: assistant\n'], ['role: system # who\n']),
    between,
    content,
    between,
    fc.option(fc.array(call, {minLength: 1, maxLength: 3}), {freq: 3}),
    between,
  )
  .map(
    ([role, a, words, b, calls, c]) =>
      `  - ${role}${a}    ${words}${b}${calls ? `    tool_calls:\n${calls.join('')}` : ''}${c}`,
  );
const head = fc
  .tuple(
    mostly(['', '# yaml-language-server: $schema=x\n'], ['# mine\n\n', '---\n']),
    mostly(['', 'session_id: p-1\n'], ['"session_id": p-1\n']),
    mostly(
      ['', 'status: active\n', "status: 'active'\n", 'status: "active"  \n', 'status:   paused\n'],
      ['status: active # or paused\n', 'status:\n  active\n'],
    ),
    mostly(
      ['', 'system_prompt: |\n  status: x\n\n  # text\n', 'system_prompt: |+\n  updated: x\n\n'],
      ['system_prompt: "a\n  b"\n'],
    ),
    mostly([''], ['# about the time\n', '\n', '  # indented\n']),
    anyOf('', "updated: '2025-10-04T10:05:00.000Z'\n", 'updated: 2025-10-04\n', 'updated: "2025-10-04"\n'),
    mostly(['', 'error: it broke\n'], ['error: |\n  two\n  lines\n', 'error: {a: b}\n', 'error: a # b\n']),
    mostly([''], ['segments:\n  - a\n', 'segments:\n- a\n', 'segments: [a]\n']),
    mostly([''], ['# above\n', '\n', '    # above\n']),
  )
  .map(parts => `agent_id: p\n${parts.join('')}messages:\n`);
const foot = mostly([''], ['metadata: {}\n', '# last\nnote: x\n', 'status: paused\n', '"updated": 2025-01-01\n']);
const text = fc
  .tuple(
    head,
    fc.array(item, {minLength: 1, maxLength: 3}),
    foot,
    mostly(['\n'], ['\r\n']),
    mostly([''], ['\ufeff', '\n']),
  )
  .map(([top, items, bottom, end, odd]) => {
    const whole = (top + items.join('') + bottom).replaceAll('\n', end);
    return odd === '\n' ? whole.trimEnd() : odd + whole;
  });
const session = text
  .map(found => parseSession(found))
  .filter(found => found.problems.length === 0 && found.items !== undefined);

const value = fc.oneof(
  anyOf(
    'active',
    'x y',
    "it's",
    'a: b',
    '"q"',
    '',
    '12',
    'null',
    'yes',
    '2025-10-04T10:06:00.000Z',
    'two\nlines',
    'é',
    '\u202e',
    'a\\b',
    'a #b',
  ),
  anyText.map(found => Buffer.from(found).toString()),
);
const keys = fc.record(
  {
    updated: fc.constant<string | undefined>(TIME),
    status: fc.constantFrom<SessionHeader['status']>('active', 'sleeping', 'error', undefined),
    error: fc.option(value, {nil: undefined}),
    session_id: fc.constant('p-1'),
    shared: fc.boolean(),
  },
  {requiredKeys: [], noNullPrototype: true},
);
const message = fc.record(
  {role: fc.constant<'user'>('user'), content: value, from: value, timestamp: fc.constant(TIME)},
  {requiredKeys: ['role', 'content'], noNullPrototype: true},
) as fc.Arbitrary<Message>;

/** None of its messages is known to be plain: all edits of them go the full way. */
function slow(found: Session): Session {
  return {...found, items: found.items?.map(one => ({...one, plain: false}))};
}

function expectSame(found: Session): void {
  const reference = parseWhole(sessionText(found));
  expect(reference.problems).toEqual([]);
  expect(found.messages).toEqual(reference.messages);
  expect(found.header).toEqual(reference.header);
}

/** The text, or that it was refused. */
function outcome(work: () => Session): string {
  try {
    return sessionText(work());
  } catch {
    return 'refused';
  }
}

describe('edits by indentation alone', () => {
  it('of the header are, byte for byte, what the full way makes of it, or none', () => {
    let quick = 0;
    fc.assert(
      fc.property(head, keys, (found, changes) => {
        const entries = Object.entries(changes);
        const edited = editPlainYaml(found, [], changes, 'messages');
        if (edited === undefined || entries.length === 0) return;
        quick++;
        let full: string;
        try {
          full = entries.reduce(
            (now, [key, to]) =>
              editYaml(now, to === undefined ? {remove: [key]} : {set: [key], to, before: 'messages'}),
            found,
          );
        } catch {
          // Refused, as it would change something else: so the caller sees, too.
          const wanted = JSON.parse(JSON.stringify({...(readYaml(found).value as object), ...changes}));
          expect(readYaml(edited).value).not.toEqual(wanted);
          return;
        }
        expect(edited).toBe(full);
      }),
      runs(1_500),
    );
    expect(quick).toBeGreaterThan(part(200));
  });

  it('of a message are, byte for byte, what the full way makes of it, or none', () => {
    let quick = 0;
    fc.assert(
      fc.property(
        item,
        fc.constantFrom([], ['tool_calls', 0], ['tool_calls', 1]),
        anyOf('started', 'run', 'from', 'content', 'role'),
        fc.option(value, {nil: undefined}),
        (one, path, key, to) => {
          if (readYaml(one).problems.length > 0) return;
          const at = [0, ...path];
          const edited = editPlainYaml(one, at, {[key]: to});
          if (edited === undefined) return;
          quick++;
          let full: string | undefined;
          try {
            full = editYaml(one, to === undefined ? {remove: [...at, key]} : {set: [...at, key], to});
          } catch {
            return;
          }
          expect(edited).toBe(full);
        },
      ),
      runs(1_500),
    );
    expect(quick).toBeGreaterThan(part(200));
  });
});

describe('edits of sessions, quick or not', () => {
  it('setFields is the same as one key after the other, and changes these keys only', () => {
    fc.assert(
      fc.property(session, keys, (found, changes) => {
        const inTurn = outcome(() =>
          Object.entries(changes).reduce((now, [key, to]) => setSessionField(now, key as 'model', to as string), found),
        );
        expect(outcome(() => setSessionFields(found, changes))).toBe(inTurn);
        if (inTurn === 'refused') return;
        const after = setSessionFields(found, changes);
        expectSame(after);
        expect(after.header).toEqual(JSON.parse(JSON.stringify({...found.header, ...changes})));
        expect(after.messages).toEqual(found.messages);
      }),
      runs(400),
    );
  });

  it('a message goes in as the full way puts it in, whatever stands around it', () => {
    fc.assert(
      fc.property(session, message, fc.nat(), (found, added, n) => {
        const index = 1 + (n % found.messages.length);
        const after = insertMessage(found, index, added);
        expectSame(after);
        expect(sessionText(after)).toBe(sessionText(insertMessage(slow(found), index, added)));
        expect(after.messages).toEqual(found.messages.toSpliced(index, 0, added));
        const before = sessionText(found);
        if (!before.endsWith('\n')) return;
        const {from, to} = changedLines(before, sessionText(after));
        expect(from).toBeGreaterThan(to);
      }),
      runs(400),
    );
  });

  it('keys within a message are set as the full way sets them', () => {
    fc.assert(
      fc.property(session, fc.nat(), fc.boolean(), value, (found, n, inCall, run) => {
        const index = n % found.messages.length;
        const calls = found.messages[index]?.tool_calls ?? [];
        if (inCall && calls.length === 0) return;
        const path = inCall ? ['tool_calls', n % calls.length] : [];
        const changes = {[inCall ? 'started' : 'timestamp']: TIME, run};
        const quick = outcome(() => setKeysInMessage(found, index, path, changes));
        const full = outcome(() =>
          Object.entries(changes).reduce(
            (now, [key, to]) => slow(setInMessage(now, index, [...path, key], to)),
            slow(found),
          ),
        );
        expect(quick).toBe(full);
        if (quick !== 'refused') expectSame(setKeysInMessage(found, index, path, changes));
      }),
      runs(400),
    );
  });

  it('several messages go in as one after the other, and keys of several calls as those of one', () => {
    let inCalls = 0;
    fc.assert(
      fc.property(session, fc.array(message, {maxLength: 4}), fc.nat(), value, (found, added, n, run) => {
        const at = 1 + (n % found.messages.length);
        const together = outcome(() => insertMessages(found, at, added));
        expect(together).toBe(outcome(() => added.reduce((now, each, i) => insertMessage(now, at + i, each), found)));
        if (together !== 'refused') expectSame(insertMessages(found, at, added));
        const index = found.messages.findIndex(({tool_calls = []}) => tool_calls.length > 1);
        const calls = found.messages[index]?.tool_calls ?? [];
        const changes = calls
          .map((_, item) => ({item, keys: {started: TIME, run}}))
          .filter(({item}) => (n >> item) % 2 === 0);
        const quick = outcome(() => setKeysInCalls(found, index, changes));
        const inTurn = outcome(() =>
          changes.reduce((now, {item, keys}) => setKeysInMessage(now, index, ['tool_calls', item], keys), found),
        );
        if (index === -1) return;
        inCalls += changes.length;
        expect(quick).toBe(inTurn);
        if (quick !== 'refused') expectSame(setKeysInCalls(found, index, changes));
      }),
      runs(400),
    );
    expect(inCalls).toBeGreaterThan(part(20));
  });

  it('two plain messages, one below the other, are read as these two', () => {
    let plain = 0;
    fc.assert(
      fc.property(item, item, (a, b) => {
        const [one, two] = [parseItem(a), parseItem(b)];
        if (!one?.plain || !two) return;
        plain++;
        const {value: both, problems} = readYaml(a + b);
        expect(problems).toEqual([]);
        expect(both).toEqual([one.value, two.value]);
      }),
      runs(1_000),
    );
    expect(plain).toBeGreaterThan(part(300));
  });

  it('keeps comments, quotes, line ends and the mark of byte order', () => {
    for (const [before, after] of [
      [
        '# a\nagent_id: p # who\nstatus: "active"  # or\n# b\nmessages:\n',
        '# a\nagent_id: p # who\nstatus: "paused"  # or\nupdated: \'T\'\n# b\nmessages:\n',
      ],
      [
        "agent_id: p\r\nstatus: 'active'\r\nmessages:\r\n",
        "agent_id: p\r\nstatus: 'paused'\r\nupdated: 'T'\r\nmessages:\r\n",
      ],
      [
        '\ufeffagent_id: p\nstatus: active  \nmessages:\n',
        "\ufeffagent_id: p\nstatus: paused  \nupdated: 'T'\nmessages:\n",
      ],
    ] as const) {
      const end = before.includes('\r') ? '\r\n' : '\n';
      const rest = `  - role: user${end}    content: hi # there${end}`;
      const edited = setSessionFields(parseSession(before + rest), {status: 'paused', updated: TIME});
      expect(sessionText(edited)).toBe(after.replace("'T'", `'${TIME}'`) + rest);
    }
  });
});
