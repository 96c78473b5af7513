import {describe, expect, it} from 'vitest';
import {merge} from '../../src/formats/merge/merge.ts';
import {parseSession, type Session, sessionText} from '../../src/formats/session/session.ts';
import {appendMessage, insertMessage, setInMessage, setSessionField} from '../../src/formats/session/session-edit.ts';
import type {Message} from '../../src/formats/session/session-schema.ts';

const base = `# yaml-language-server: $schema=../schemas/session.json
session_id: planner-001-abc123
agent_id: planner-001
status: active # for now
updated: '2026-11-16T10:00:00.000Z'
messages:
  - role: user
    content: Is Redis up?
  # a comment between
  - timestamp: '2026-11-16T10:00:01.000Z'
    role: assistant
    content: I will look.
    tool_calls:
      - id: call-1
        type: function
        function:
          name: execute_command
          arguments: '{"command":"docker ps"}'
  - role: user
    content: |
      And Postgres?
`;

const LATER = '2026-11-16T10:00:05.000Z';
const result: Message = {role: 'tool_result', tool_call_id: 'call-1', content: '{"success":true}'};
const reply: Message = {timestamp: LATER, role: 'assistant', content: 'It is up.\nBoth are.\n', model: 'playbook'};

function daemon(text: string, ...edits: ((session: Session) => Session)[]): string {
  let session = parseSession(text);
  for (const edit of edits) session = edit(session);
  return sessionText(session);
}
const touch = (session: Session) => setSessionField(session, 'updated', LATER);
const start = (session: Session) => setInMessage(session, 1, ['tool_calls', 0, 'started'], LATER);
const answer = (session: Session) => insertMessage(session, 2, result);

function merged(person: string, later: string, from = base): string {
  const {text, conflicts} = merge('session', from, person, later);
  expect(conflicts).toEqual([]);
  expect(parseSession(text).problems).toEqual([]);
  return text;
}

const contents = (text: string) => parseSession(text).messages.map(message => message.content);
const callOf = (text: string, index = 1) => parseSession(text).messages[index]?.tool_calls?.[0];

describe('a stale session saved over the daemon’s', () => {
  it('keeps both: a message of the person’s, and the daemon’s start mark, result and time', () => {
    const person = `${base}  - role: user   # mine\n    content: "Well?"\n`;
    const later = daemon(base, touch, start, answer);
    expect(merged(person, later)).toBe(`${later}  - role: user   # mine\n    content: "Well?"\n`);
  });

  it('has what the person said once, though nobody knows the version in which the daemon took it', () => {
    const said = (words: string) => `  - role: user   # mine\n    content: ${words}\n`;
    const later = daemon(
      base + said('Well?') + said('Well?'),
      touch,
      ...[3, 4].map(n => (session: Session) => setInMessage(session, n, ['from'], 'human')),
      ...[3, 4].map(n => (session: Session) => setInMessage(session, n, ['timestamp'], LATER)),
      session => appendMessage(session, reply),
    );
    const person = base + said('Well?') + said('Well?') + said('Well?') + said('And now?');
    expect(merged(person, later)).toBe(later + said('Well?') + said('And now?'));
    const posted = daemon(base, touch, session =>
      appendMessage(session, {role: 'user', from: '@boss', delivery: 'd-1', content: 'Well?'}),
    );
    expect(contents(merged(base + said('Well?'), posted)).filter(words => words === 'Well?')).toHaveLength(2);
  });

  it('puts a reply below the message that it answers, and what the person wrote meanwhile below that', () => {
    const later = daemon(base, touch, session => appendMessage(session, reply));
    const text = merged(`${base}  - role: user\n    content: Well?\n`, later);
    expect(contents(text).slice(-3)).toEqual(['And Postgres?\n', 'It is up.\nBoth are.\n', 'Well?']);
  });

  it('keeps an edit, a deletion and a comment of the person’s', () => {
    const later = daemon(base, touch, start, answer);
    const person = base
      .replace('Is Redis up?', "'Is Redis up, really?'")
      .replace('I will look.', 'I will look. # not a comment, but this is: # yes')
      .replace('  - role: user\n    content: |\n      And Postgres?\n', '');
    const text = merged(person, later);
    expect(text).toContain("content: 'Is Redis up, really?'\n  # a comment between\n");
    expect(contents(text)).toHaveLength(3);
    expect(callOf(text)?.started).toBe(LATER);
    expect(text).toContain('# not a comment, but this is: # yes');
    expect(text).toContain(`updated: '${LATER}'`);
  });

  it('obeys a status that the person set, and takes the daemon’s if they did not', () => {
    const later = daemon(base, touch, session => setSessionField(session, 'status', 'waiting'));
    expect(merged(base.replace('status: active # for now', 'status: paused # stop'), later)).toContain(
      'status: paused # stop\n',
    );
    expect(merged(base.replace('Is Redis up?', 'Is Redis down?'), later)).toContain('status: waiting # for now\n');
  });

  it('takes in keys that the daemon filled in, also beside new ones of the person’s and below the messages', () => {
    const from = 'agent_id: planner-001\nmessages:\n- role: user\n  content: hi\nmetadata:\n  a: 1\n';
    const later = daemon(
      from,
      session => setSessionField(session, 'session_id', 'planner-001-x'),
      session => setSessionField(session, 'updated', LATER),
      session => setSessionField(session, 'metadata', {a: 1, b: 2}),
      session => setInMessage(session, 0, ['from'], 'human'),
    );
    const person = from.replace('agent_id', 'model: m # mine\nagent_id').replace('  a: 1\n', '  a: 1\n  c: 3\n');
    const text = merged(person.replace('content: hi', 'content: hello'), later, from);
    const {header, messages} = parseSession(text);
    expect(header).toMatchObject({
      session_id: 'planner-001-x',
      updated: LATER,
      model: 'm',
      metadata: {a: 1, b: 2, c: 3},
    });
    expect(messages).toEqual([{role: 'user', content: 'hello', from: 'human'}]);
    expect(text).toContain('model: m # mine\n');
  });

  it('keeps CRLF, another indentation, and a last line without its end', () => {
    const later = daemon(base, touch, start, answer, session => appendMessage(session, reply));
    const body = base.slice(base.indexOf('messages:\n') + 10);
    const person = `${base.slice(0, -body.length)}${body.replace(/^ {2}/gm, '')}`
      .replace('Is Redis up?', 'Is it?')
      .replaceAll('\n', '\r\n')
      .slice(0, -2);
    const text = merged(person, later);
    expect(text.replaceAll('\r\n', '')).not.toContain('\n');
    expect(contents(text)).toEqual(['Is it?', 'I will look.', result.content, 'And Postgres?\n', reply.content]);
    expect(callOf(text)?.started).toBe(LATER);
  });

  it('drops messages that the daemon moved to a segment', () => {
    const session = parseSession(base);
    const later = daemon(
      session.head +
        (session.items ?? [])
          .slice(1)
          .map(item => item.text)
          .join(''),
      touch,
      one => setSessionField(one, 'segments', ['archive/x.1.session.yaml']),
    );
    const text = merged(`${base}  - role: user\n    content: Well?\n`, later);
    expect(text).toBe(`${later}  - role: user\n    content: Well?\n`);
  });

  it('has a message once that both have', () => {
    const later = daemon(base, touch, answer, session => appendMessage(session, reply));
    const person = daemon(base, answer).replace('Is Redis up?', 'Is it?');
    expect(contents(merged(person, later))).toEqual([
      'Is it?',
      'I will look.',
      result.content,
      'And Postgres?\n',
      reply.content,
    ]);
  });
});

describe('where both changed one message', () => {
  it('a deleted message comes back if its call was started or has a result', () => {
    const session = parseSession(base);
    const person =
      session.head +
      (session.items ?? [])
        .filter((_, i) => i !== 1)
        .map(item => item.text)
        .join('');
    for (const later of [daemon(base, touch, start), daemon(base, touch, answer)]) {
      const {text, conflicts} = merge('session', base, person, later);
      expect(text).toBe(later);
      expect(conflicts).toHaveLength(1);
    }
    const touched = merged(person, daemon(base, touch));
    expect(contents(touched)).toEqual(['Is Redis up?', 'And Postgres?\n']);
  });

  it('a call that the person removed comes back if it was started or has a result', () => {
    const person = base.replace(/ {4}tool_calls:[^-]*- id: call-1\n(?: {8}.*\n)+/, '');
    expect(person).not.toContain('call-1');
    for (const later of [daemon(base, touch, start), daemon(base, touch, answer)]) {
      const {text, conflicts} = merge('session', base, person, later);
      expect(callOf(text)?.id).toBe('call-1');
      expect(callOf(text)?.started).toBe(callOf(later)?.started);
      expect(conflicts).toHaveLength(1);
    }
  });

  it('the person’s value is kept, a start mark is the daemon’s', () => {
    const later = daemon(base, touch, start, session => setInMessage(session, 0, ['from'], 'human'));
    const person = base
      .replace('content: Is Redis up?', 'content: Is Redis up?\n    from: "@boss"')
      .replace('type: function', "type: function\n        started: '2020-01-01T00:00:00.000Z'");
    const {text, conflicts} = merge('session', base, person, later);
    expect(callOf(text)?.started).toBe(LATER);
    expect(text).toContain('from: "@boss"');
    expect(conflicts).toEqual([
      'message 1: from was changed on both sides; yours is kept',
      "message 2: started was changed on both sides; the daemon's stays",
    ]);
  });
});

describe('a session that cannot be cut', () => {
  it('is merged by lines, else stays as the daemon wrote it', () => {
    const from = 'agent_id: p\nstatus: active\n\nmodel: m\n\nmessages: [{role: user, content: hi}]\n';
    const later = from.replace('hi}', 'hi}, {role: assistant, content: ho}');
    expect(merged(from.replace('active', 'paused'), later, from)).toBe(later.replace('active', 'paused'));
    const torn = merge('session', from, from.replace('content: hi}]', 'content: '), later);
    expect(torn.text).toBe(later);
    expect(torn.conflicts).toHaveLength(1);
  });

  it('or has an error, is not made worse', () => {
    const later = daemon(base, touch, start, answer);
    const broken = base.replace('status: active # for now', 'status: actve');
    const {text} = merge('session', base, broken, later);
    expect(text).toContain(`started: '${LATER}'`);
    expect(text).toContain('tool_call_id: call-1');
  });
});
