import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import type {Message} from '../../src/formats/session/session-schema.ts';
import {
  addSpent,
  costWords,
  dayOf,
  grouped,
  NOTHING_SPENT,
  oneTurn,
  spentIn,
  workIn,
} from '../../src/formats/session/spent.ts';

const said = (timestamp: string, input_tokens: number, cost_usd?: number): Message => ({
  role: 'assistant',
  content: 'x',
  timestamp,
  usage: {input_tokens, output_tokens: 1, ...(cost_usd === undefined ? {} : {cost_usd})},
});
const user = (from: string, timestamp?: string): Message => ({
  role: 'user',
  content: 'x',
  from,
  ...(timestamp === undefined ? {} : {timestamp}),
});

describe('the day of a time', () => {
  it('is that in UTC, however it is written', () => {
    expect(dayOf('2026-11-16T23:59:59.999Z')).toBe('2026-11-16');
    expect(dayOf('2026-11-16')).toBe('2026-11-16');
    expect(dayOf('2026-11-16T23:30')).toBe('2026-11-16');
    expect(dayOf('2026-11-16 23:30:00')).toBe('2026-11-16');
    expect(dayOf('2026-11-16T23:30:00-01:00')).toBe('2026-11-17');
    expect(dayOf('2026-11-17T00:30:00+0100')).toBe('2026-11-16');
  });
});

describe('what a session came to', () => {
  it('is that of its newest day', () => {
    expect(spentIn([])).toBeUndefined();
    expect(spentIn([user('human', '2026-11-16T10:00:00Z'), {role: 'assistant', content: 'x'}])).toBeUndefined();
    expect(
      spentIn([
        said('2026-11-15T10:00:00.000Z', 100, 1),
        user('human'),
        said('2026-11-16T10:00:00.000Z', 10, 0.1),
        said('2026-11-15T23:00:00.000Z', 100, 1),
        {role: 'assistant', content: 'without usage', timestamp: '2026-11-16T11:00:00.000Z'},
        said('2026-11-16T12:00:00.000Z', 20, 0.2),
      ]),
    ).toEqual({day: '2026-11-16', turns: 3, input_tokens: 30, output_tokens: 2, cost_usd: 0.3, unpriced_tokens: 0});
  });

  it('says what cost is unknown, and never that it was nothing', () => {
    const at = '2026-11-16T10:00:00.000Z';
    const words = (...messages: Message[]) => {
      const spent = spentIn(messages);
      return spent && costWords(spent);
    };
    expect(spentIn([said(at, 10), said(at, 20, 0.5)])).toMatchObject({cost_usd: 0.5, unpriced_tokens: 11});
    expect(words(said(at, 10))).toBe('cost unknown');
    expect(words(said(at, 1999), said(at, 20, 0.5))).toBe('$0.50, cost of 2,000 tokens unknown');
    expect(words(said(at, 20, 0.5))).toBe('$0.50');
    expect(words(said(at, 20, 0))).toBe('$0.00');
    expect(words({role: 'assistant', content: 'of a playbook', timestamp: at})).toBe('');
  });

  it('is the same summed at once or call by call', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(1e6), fc.nat(1e6)), {minLength: 1}), calls => {
        const time = '2026-11-16T10:00:00.000Z';
        const messages = calls.map(([tokens, cost]) => said(time, tokens, cost / 1e6));
        const sum = calls.reduce(
          (total, [tokens, cost]) =>
            addSpent(total, oneTurn({input_tokens: tokens, output_tokens: 1, cost_usd: cost / 1e6})),
          {...NOTHING_SPENT},
        );
        expect(spentIn(messages)).toEqual({day: '2026-11-16', ...sum});
      }),
    );
  });
});

describe('a piece of work', () => {
  it('begins with the last message that is not from the daemon itself', () => {
    const time = '2026-11-16T10:00:00.000Z';
    expect(workIn([])).toEqual({since: 'start', turns: 0});
    expect(workIn([said(time, 1)])).toEqual({since: 'start', turns: 1});
    expect(workIn([user('human', time), said(time, 1), user('system', time), said(time, 1)])).toEqual({
      since: time,
      turns: 2,
    });
    expect(workIn([user('human', time), said(time, 1), user('@a'), said(time, 1)])).toEqual({
      since: 'message 3',
      turns: 1,
    });
  });
});

it('numbers have commas as English writes them', () => {
  fc.assert(fc.property(fc.nat(), count => grouped(count) === count.toLocaleString('en-US')));
  expect([0, 999, 1000, 1234567].map(grouped)).toEqual(['0', '999', '1,000', '1,234,567']);
});
