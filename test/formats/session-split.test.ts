import {describe, expect, it} from 'vitest';
import {parseSession, type Session, sessionText} from '../../src/formats/session/session.ts';
import {appendItems, appendMessage, messageItem} from '../../src/formats/session/session-edit.ts';
import type {Message} from '../../src/formats/session/session-schema.ts';
import {splitPlace, splitSession} from '../../src/formats/session/session-split.ts';

const HEAD = 'session_id: a\nagent_id: ann\nstatus: active\nmessages:\n  - role: user\n    content: first\n';
const long = 'x'.repeat(2_000);
const user = (content: string, rest: Partial<Message> = {}): Message => ({
  role: 'user',
  from: 'human',
  content,
  ...rest,
});
const sessionWith = (messages: readonly Message[]): Session => messages.reduce(appendMessage, parseSession(HEAD));
const own = {session_id: 'a.1', agent_id: 'ann', status: 'completed' as const};

/** What both parts say must be what the whole said. */
function expectWhole(session: Session, place: number): void {
  const {older, rest} = splitSession(session, place, own, '../../schemas/session.json');
  expect([...older.messages, ...rest.messages]).toEqual(session.messages);
  for (const part of [older, rest]) {
    const read = parseSession(sessionText(part));
    expect(read.problems).toEqual([]);
    expect(read.messages).toEqual(part.messages);
    expect(read.header).toEqual(part.header);
  }
  expect(older.header).toEqual(own);
  expect(older.body + rest.body).toBe(session.body);
}

describe('a session that is cut in two', () => {
  it('keeps some of its end, and loses nothing', () => {
    const session = sessionWith(Array.from({length: 60}, (_, i) => user(`${i} ${long}`)));
    const place = splitPlace(session);
    expect(place).toBeGreaterThan(35);
    expect(session.messages.length - place).toBeGreaterThan(10);
    expectWhole(session, place);
  });

  it('keeps what it is at: from the last message that is work on', () => {
    const work = [user('do it'), ...Array.from({length: 40}, (): Message => ({role: 'assistant', content: long}))];
    const session = sessionWith([user(long), ...work, user('go on', {from: 'system'})]);
    expect(splitPlace(session)).toBe(2);
    expect(splitPlace(sessionWith([]))).toBe(0);
  });

  it('never parts a call and its results', () => {
    const calls: Message = {
      role: 'assistant',
      content: null,
      tool_calls: [{id: 'c1', type: 'function', function: {name: 'list_agents', arguments: '{}'}}],
    };
    const many = Array.from({length: 30}, (_, i) => user(`${i} ${long}`));
    expect(splitPlace(sessionWith([calls, ...many])), 'one that has no result yet').toBe(1);
    const answered: Message = {role: 'tool_result', tool_call_id: 'c1', content: '{}'};
    expect(splitPlace(sessionWith([calls, answered, ...many]))).toBeGreaterThan(5);
    expect(splitPlace(sessionWith([calls, ...many, answered]))).toBe(1);
  });

  it('may have been written otherwise by a person', () => {
    const text = `${HEAD}  # a note\n  - {role: user, content: "two"}\n${Array.from({length: 30}, (_, i) => `  - role: user\n    content: ${i} ${long}\n`).join('')}`;
    const session = parseSession(text);
    expect(session.problems).toEqual([]);
    expectWhole(session, splitPlace(session));
  });
});

describe('many messages at the end', () => {
  it('are what they are one after the other', () => {
    const messages = ['plain', 'two\nlines\n', ' odd: #"\'', '', 'ünï\u0007code', '- x', '2026-01-01', 'true'].map(
      content => user(content, {delivery: `inbox/x.jsonl@1:0:${content.length}`, untrusted: true}),
    );
    const session = parseSession(HEAD);
    const items = messages.flatMap(message => messageItem(session, message) ?? []);
    expect(items.length).toBeGreaterThan(5);
    const all = appendItems(session, items);
    const single = items.map(({value}) => value).reduce(appendMessage, session);
    expect(sessionText(all)).toBe(sessionText(single));
    expect(parseSession(sessionText(all)).messages).toEqual(all.messages);
  });
});
