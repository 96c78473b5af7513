import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {parseSession, parseWhole, type Session, sessionText} from '../../src/formats/session/session.ts';
import {appendMessage, insertMessage, setInMessage, setSessionField} from '../../src/formats/session/session-edit.ts';
import type {Message} from '../../src/formats/session/session-schema.ts';
import {anyText, eol, runs, yamlLines} from '../arbitrary.ts';
import {changedLines, expectWithin} from '../line-diff.ts';

const body = [
  ...yamlLines.filter(line => !/^(version|commands|rules|kickoff|agents|tests|ls|id|type|capabilities)/.test(line)),
  '  - role: user',
  '    content: hi',
  '  - role: system',
  '    content: |',
  '      text',
  '# between',
  '  # between',
  '',
  'metadata: {}',
  'note: after',
  '  -',
  '    role: user',
  '  -   role: user',
  '      content: wide',
  '    content: |2',
  '    content: |+',
  '   odd',
];
/** Messages as people and programs write them, and what may stand between. */
const wellFormed = [
  '  - role: user\n    content: hi',
  '  - role: system\n    content: |\n      text\n      - role: fake',
  '  - role: user\n    content: |2\n        odd',
  '  - role: user\n    content: |+\n      kept\n',
  '  - role: user\n    content: >-\n      folded\n      text\n\n      more',
  "  - role: assistant\n    content: 'a\n      b'",
  '  - role: assistant\n    content: "- x" # note',
  '  - role: user\n    content: &x hi',
  '  -\n    role: user\n    content: hi',
  '  -   role: user\n      content: wide',
  '  - {role: user, content: "in one line"}',
  '  - role: assistant\n    tool_calls:\n      - id: c1\n        function: {name: read_file, arguments: "{}"}\n  - role: tool_result\n    tool_call_id: c1\n    content: done',
  '# between',
  '  # between',
  '',
];
const sessionsOf = (parts: readonly string[], ends: readonly string[]) =>
  fc
    .tuple(
      fc.array(fc.constantFrom(...parts), {maxLength: 12}),
      fc.constantFrom(...ends),
      eol,
      fc.boolean(),
      fc.constantFrom(
        'agent_id: p',
        'agent_id: p # note',
        '# top\nagent_id: p\nsystem_prompt: |\n  messages:\n    - x',
      ),
    )
    .map(
      ([lines, last, end, final, head]) =>
        [head, 'messages:', '  - role: user', '    content: hi', ...lines, ...(last === '' ? [] : [last])]
          .join('\n')
          .replaceAll('\n', end) + (final ? end : ''),
    );
const sessions = sessionsOf(body, ['']);
/** Sessions without problems, cut or not. Of lines in any order few are, and those are short. */
const good = fc
  .oneof(
    {weight: 4, arbitrary: sessionsOf(wellFormed, ['', 'metadata: {}', 'note: after', '# end'])},
    {weight: 1, arbitrary: sessions},
  )
  .map(text => parseSession(text))
  .filter(session => session.problems.length === 0);
const words = fc.oneof(
  anyText,
  fc.constantFrom(
    '',
    'one line',
    'two\nlines\n',
    '  lead',
    'trail  ',
    'a: b',
    '- x',
    '# no comment',
    '---',
    'a\n\n\nb\n\n',
    '\ttab\n\ttab',
    "it's",
    '"',
    'null',
    '~',
    '2025-01-01',
    '\u202ehidden',
    'a\r\nb',
  ),
);
const message = fc.record({
  role: fc.constantFrom<'user' | 'assistant'>('user', 'assistant'),
  content: words.map(text => Buffer.from(text).toString()),
}) as fc.Arbitrary<Message>;

/** What the cut session says is what one parse of its whole text says. */
function expectSame(session: Session): void {
  const reference = parseWhole(sessionText(session));
  expect(reference.problems).toEqual([]);
  expect(session.messages).toEqual(reference.messages);
  expect(session.header).toEqual(reference.header);
}

describe('a session cut at its messages', () => {
  it('means what a parse of the whole text means, for any text', () => {
    fc.assert(
      fc.property(sessions, text => {
        const session = parseSession(text);
        const reference = parseWhole(text);
        expect(session.problems).toEqual(reference.problems);
        expect(session.messages).toEqual(reference.messages);
        expect(session.header).toEqual(reference.header);
        expect(sessionText(session)).toBe(text);
      }),
      runs(1000),
    );
  });

  it('is cut whenever it is in the ordinary form', () => {
    const text =
      'agent_id: p\nmessages:\n  - role: user\n    content: |\n      - role: fake\n# between\n  - role: assistant\n    content: "- x"\n\nmetadata: {}\n';
    expect(parseSession(text).items).toHaveLength(2);
  });

  it('read again after an edit, with the former as a cache, is the same as read anew', () => {
    fc.assert(
      fc.property(good, sessions, fc.nat(), (before, other, at) => {
        const text = sessionText(before);
        const cut = at % (text.length + 1);
        for (const next of [
          other,
          text.slice(0, cut) + other.slice(0, 8) + text.slice(cut),
          `${text}\n  - role: user\n    content: more\n`,
        ]) {
          expect(parseSession(next, before)).toEqual(parseSession(next));
        }
      }),
      runs(375),
    );
  });
});

describe('edits of sessions, on arbitrary sessions', () => {
  it('appendMessage adds the message and leaves every other line as it was', () => {
    fc.assert(
      fc.property(good, message, (session, added) => {
        const after = appendMessage(session, added);
        expectSame(after);
        expect(after.messages.at(-1)).toEqual(added);
        expect(after.messages.length).toBe(session.messages.length + 1);
        if (!session.items) return;
        const before = sessionText(session);
        const {from, to} = changedLines(before, sessionText(after));
        // Nothing but an insertion; a last line without a line end gets one.
        if (before.endsWith('\n')) expect(from).toBeGreaterThan(to);
        else expect(to - from).toBeLessThanOrEqual(0);
      }),
      runs(750),
    );
  });

  it('insertMessage puts a reply where it belongs', () => {
    fc.assert(
      fc.property(good, message, fc.nat(), (session, added, n) => {
        const index = 1 + (n % session.messages.length);
        const after = insertMessage(session, index, added);
        expectSame(after);
        expect(after.messages[index]).toEqual(added);
        expect(after.messages.length).toBe(session.messages.length + 1);
      }),
      runs(500),
    );
  });

  it('setField changes one key of the session, above the messages', () => {
    fc.assert(
      fc.property(
        good,
        fc.constantFrom<'status' | 'updated' | 'session_id'>('status', 'updated', 'session_id'),
        (session, key) => {
          const value = {status: 'paused', updated: '2025-10-04T10:05:00.000Z', session_id: 'p-abc123'}[
            key
          ] as 'paused';
          const after = setSessionField(session, key as 'status', value);
          expectSame(after);
          expect(after.header).toEqual({...session.header, [key]: value});
          expect(after.messages).toEqual(session.messages);
          const {from, to, added} = changedLines(sessionText(session), sessionText(after));
          if (sessionText(session).endsWith('\n')) {
            expect(to - from).toBeLessThanOrEqual(0);
            expect(added.length).toBe(1);
          }
        },
      ),
      runs(500),
    );
  });

  it('setInMessage changes one message only', () => {
    fc.assert(
      fc.property(good, fc.nat(), words, (session, n, content) => {
        const index = n % session.messages.length;
        const value = Buffer.from(content).toString();
        let after: Session;
        try {
          after = setInMessage(session, index, ['note'], value);
        } catch {
          // Refused (an anchor, an odd flow form): nothing was changed.
          return;
        }
        expectSame(after);
        expect(after.messages[index]).toEqual({...session.messages[index], note: value});
        expect(after.messages.filter((_, i) => i !== index)).toEqual(session.messages.filter((_, i) => i !== index));
      }),
      runs(500),
    );
  });
});

describe('a turn, step by step', () => {
  it('writes what a person would expect to read', () => {
    const start = parseSession(
      '# mine\nagent_id: planner-001   # who answers\nmessages:\n  - role: user\n    content: Is Redis up?\n# keep me\nmetadata: {}\n',
    );
    const call = {
      id: 'call_1',
      type: 'function' as const,
      function: {name: 'execute_command', arguments: '{"command":"docker ps"}'},
    };
    let session = setSessionField(start, 'status', 'active');
    session = appendMessage(session, {
      timestamp: '2025-10-04T10:05:45.000Z',
      role: 'assistant',
      content: 'I look.\nThen I tell.',
      tool_calls: [call],
    });
    session = setInMessage(session, 1, ['tool_calls', 0, 'started'], '2025-10-04T10:05:46.000Z');
    session = appendMessage(session, {role: 'tool_result', tool_call_id: 'call_1', content: '{"success": true}'});
    expect(sessionText(session)).toBe(`# mine
agent_id: planner-001   # who answers
status: active
messages:
  - role: user
    content: Is Redis up?
  - timestamp: '2025-10-04T10:05:45.000Z'
    role: assistant
    content: |-
      I look.
      Then I tell.
    tool_calls:
      - id: call_1
        type: function
        function:
          name: execute_command
          arguments: '{"command":"docker ps"}'
        started: '2025-10-04T10:05:46.000Z'
  - role: tool_result
    tool_call_id: call_1
    content: '{"success": true}'
# keep me
metadata: {}
`);
  });

  it('appends to every form a person may have used', () => {
    for (const text of [
      'agent_id: p\n',
      'agent_id: p\nmessages:\n',
      'agent_id: p\nmessages: []\n',
      'agent_id: p\nmessages: [{role: user, content: hi}]\n',
      '{"agent_id": "p", "messages": []}',
      'agent_id: p\nmessages:\n- role: user\n  content: hi',
      'messages:\n  - role: user\n    content: hi\nagent_id: p\n',
    ]) {
      const session = appendMessage(parseSession(text), {role: 'user', content: 'more'});
      expectSame(session);
      expect(session.messages.at(-1)).toEqual({role: 'user', content: 'more'});
    }
  });

  it('changes a field in place, its comment kept', () => {
    const session = setSessionField(
      parseSession("agent_id: p\nstatus: 'active'   # or paused\nmessages: []\n"),
      'status',
      'paused',
    );
    expect(sessionText(session)).toBe("agent_id: p\nstatus: 'paused'   # or paused\nmessages: []\n");
    expectWithin("agent_id: p\nstatus: 'active'   # or paused\nmessages: []\n", sessionText(session), 2, 2);
  });
});
