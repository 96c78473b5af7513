import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {historyProblems} from '../../src/check/session-history.ts';
import {chatHistory} from '../../src/decide/history.ts';
import {isComplete} from '../../src/decide/session.ts';
import {taintOf} from '../../src/decide/taint.ts';
import type {Session} from '../../src/formats/session/session.ts';
import type {Message} from '../../src/formats/session/session-schema.ts';
import {SettledPrefix} from '../../src/formats/session/settled-prefix.ts';
import {spentIn} from '../../src/formats/session/spent.ts';
import {runs} from '../arbitrary.ts';

const time = (n: number) => new Date(Date.UTC(2026, 0, 1 + (n % 5), n % 24)).toISOString();
const call = (id: string, args = '{"url":"http://x"}') => ({
  id,
  type: 'function' as const,
  function: {name: 'fetch', arguments: args},
});
/** Now and then something is wrong: an id twice, a result without a call, arguments that are no JSON, no time, no sender. */
const message: fc.Arbitrary<Message> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.nat(200).map((n): Message => ({role: 'user', from: 'human', timestamp: time(n), content: `${n}`})),
  },
  {
    weight: 3,
    arbitrary: fc.nat(200).map(
      (n): Message => ({
        role: 'assistant',
        timestamp: time(n),
        content: 'yes',
        usage: {input_tokens: n, output_tokens: 1},
      }),
    ),
  },
  fc.nat(300).map((n): Message => ({role: 'assistant', timestamp: time(n), tool_calls: [call(`c${n}`)]})),
  fc
    .nat(300)
    .map((n): Message => ({role: 'tool_result', tool_call_id: `c${n}`, content: '{"success":true,"untrusted":true}'})),
  fc.constantFrom<Message>(
    {role: 'user', from: 'inbox/mail', timestamp: time(1), content: 'from outside'},
    {role: 'user', from: '@other', timestamp: time(1), content: 'told', taint: ['fetch http://y']},
  ),
);
const odd: fc.Arbitrary<Message> = fc.constantFrom<Message>(
  {role: 'user', content: 'no time, no sender'},
  {role: 'assistant', tool_calls: [call('bad', '{')]},
);

/** Everything that is summed up from one version of a conversation to the next. */
function summedUp(messages: readonly Message[]): unknown {
  const header = {agent_id: 'a', session_id: 's', agent_type: 'x', model: 'm', system_prompt: 'p'};
  const times = {created: time(1), updated: time(1), status: 'active' as const};
  const session: Session = {
    ...{head: '', body: '', foot: '', items: undefined, problems: []},
    header: {...header, ...times},
    messages,
  };
  return {
    taint: taintOf(session),
    spent: spentIn(messages),
    complete: isComplete(session),
    history: chatHistory('You plan.', messages),
    problems: historyProblems('sessions/a/s.session.yaml', session).map(({code, message: words}) => [code, words]),
  };
}

describe('a long conversation', () => {
  it('comes to the same, version by version, as one that is read for the first time', () => {
    const edit = fc.oneof(
      {weight: 4, arbitrary: fc.array(message, {minLength: 1, maxLength: 40}).map(added => ({added, at: undefined}))},
      fc.record({added: fc.array(fc.oneof(message, odd), {minLength: 1, maxLength: 3}), at: fc.nat(400)}),
      fc.record({at: fc.nat(400), removed: fc.integer({min: 1, max: 60})}),
    );
    fc.assert(
      fc.property(
        fc.array(message, {minLength: 120, maxLength: 200}),
        fc.array(edit, {minLength: 1, maxLength: 6}),
        (start, edits) => {
          let messages: readonly Message[] = start;
          for (const each of [{added: [], at: undefined}, ...edits]) {
            const at = Math.min(each.at ?? messages.length, messages.length);
            messages = messages.toSpliced(
              at,
              'removed' in each ? each.removed : 0,
              ...('added' in each ? each.added : []),
            );
            expect(summedUp(messages)).toEqual(summedUp(structuredClone(messages) as Message[]));
          }
        },
      ),
      runs(100),
    );
  });

  it('is not read again from its start when it grows', () => {
    let read = 0;
    const counting = new SettledPrefix(
      () => ({}),
      () => void read++,
    );
    let messages = Array.from({length: 10_000}, (_, i): Message => ({role: 'user', content: `${i}`}));
    counting.of(messages);
    const first = read;
    for (let i = 0; i < 10; i++) {
      messages = messages.concat({role: 'user', content: 'one more'});
      counting.of(messages);
    }
    expect(first).toBeGreaterThan(9_900);
    expect(read - first).toBe(10);
  });
});
