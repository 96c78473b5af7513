import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {cutPlace, fittingCut} from '../../src/decide/compact-plan.ts';
import {type CheckpointText, modelContext, type RequestInput} from '../../src/decide/context.ts';
import {partsCall} from '../../src/decide/context-versions.ts';
import {recallQuery, recallRange} from '../../src/decide/recall.ts';
import {batchEnd} from '../../src/decide/request-batch.ts';
import {shortenResults} from '../../src/decide/shorten-results.ts';
import type {Message} from '../../src/formats/session/session-schema.ts';
import {invalid} from '../model/strict-chat.mjs';

/** Some turns: each a message, calls with results of all sizes, an answer; some calls of the last turn may be open. */
const talk = fc
  .array(fc.record({said: fc.string(), results: fc.array(fc.nat(6_000), {maxLength: 3}), pin: fc.boolean()}), {
    minLength: 1,
    maxLength: 30,
  })
  .map(turns =>
    turns.flatMap(({said, results, pin}, turn): Message[] => {
      const ids = results.map((_, n) => `call_${turn}_${n}`);
      const calls = ids.map(id => ({id, type: 'function' as const, function: {name: 'read_file', arguments: '{}'}}));
      return [
        {role: 'user', content: said, ...(pin && {pin})},
        ...(ids.length > 0 ? [{role: 'assistant' as const, tool_calls: calls}] : []),
        ...ids.map((id, n) => ({
          role: 'tool_result' as const,
          tool_call_id: id,
          content: JSON.stringify({success: true, text: 'x'.repeat(results[n] ?? 0)}),
        })),
        {role: 'assistant', content: `answer ${turn}`},
      ];
    }),
  );

const inputOf = (messages: readonly Message[], more: Partial<RequestInput> = {}): RequestInput => ({
  ...{system: 'You are brief.', tools: [], messages, checkpoint: undefined, tainted: false},
  ...{standing: {approvals: [], children: []}, path: 'sessions/a.session.yaml', most: undefined},
  ...more,
});
const checkpoint = (upto: number): CheckpointText => ({
  entry: {version: 2, reason: 'compacted'},
  upto,
  text: 'They talked.',
});

describe('what the model is sent', () => {
  it('is valid and within its limit wherever it is cut, and has every pinned message', () => {
    fc.assert(
      fc.property(talk, fc.nat(40), fc.integer({min: 1_500, max: 20_000}), (messages, keep, most) => {
        const cut = fittingCut(messages, {from: 0, keep, rooms: [most * 2]}) ?? cutPlace(messages, {from: 0, keep});
        expect(partsCall(messages, cut)).toBe(false);
        const context = modelContext(inputOf(messages, {most, checkpoint: cut > 0 ? checkpoint(cut) : undefined}));
        expect(invalid({model: 'm', messages: context.messages})).toBeUndefined();
        const sent = JSON.stringify(context.messages);
        for (const {pin, content} of messages)
          if (pin && content?.trim()) expect(sent).toContain(JSON.stringify(content.trim()).slice(1, -1));
      }),
      {numRuns: 150},
    );
  });

  it('is the same again after an undo', () => {
    fc.assert(
      fc.property(talk, fc.nat(40), (messages, keep) => {
        const before = JSON.stringify(modelContext(inputOf(messages, {most: 4_000})));
        modelContext(inputOf(messages, {most: 4_000, checkpoint: checkpoint(cutPlace(messages, {from: 0, keep}))}));
        expect(JSON.stringify(modelContext(inputOf(messages, {most: 4_000})))).toBe(before);
      }),
      {numRuns: 50},
    );
  });

  it('shortens results from the oldest on, and those that are pointers stay pointers', () => {
    fc.assert(
      fc.property(talk, fc.integer({min: 3_000, max: 40_000}), (messages, room) => {
        let before: readonly Message[] = [];
        for (let count = 1; count <= messages.length; count++) {
          const {messages: now} = shortenResults(messages.slice(0, count), {room, first: 1, path: 'a'});
          const wasShort = (at: number) => before[at] !== undefined && before[at] !== messages[at];
          // The newest may come back: it is only cut for want of anything else.
          for (let at = 0; at < count - 6; at++) if (wasShort(at)) expect(now[at]).not.toBe(messages[at]);
          before = now;
        }
      }),
      {numRuns: 50},
    );
  });
});

describe('many waiting lines', () => {
  const line = (n: number): Message => ({
    role: 'user',
    from: `inbox/a.jsonl#${n}`,
    untrusted: true,
    content: `line ${n}`,
  });
  const lines = Array.from({length: 120}, (_, n) => line(n));

  it('come in batches, and not in the middle of a turn', () => {
    expect(batchEnd(lines)).toBe(50);
    expect(batchEnd(lines.slice(0, 50))).toBe(50);
    const handled: Message[] = [...lines.slice(0, 50), {role: 'assistant', content: 'ok'}, ...lines.slice(50)];
    expect(batchEnd(handled)).toBe(101);
    const call = {id: 'c', type: 'function' as const, function: {name: 'fetch', arguments: '{}'}};
    const turn: Message[] = [
      ...lines.slice(0, 50),
      {role: 'assistant', tool_calls: [call]},
      {role: 'tool_result', tool_call_id: 'c', content: '{}'},
      ...lines.slice(50),
    ];
    expect(batchEnd(turn)).toBe(52);
    expect(batchEnd(lines, 2_000)).toBeLessThan(10);
  });
});

describe('recall', () => {
  const messages: Message[] = Array.from({length: 300}, (_, n) => ({
    role: n % 2 === 0 ? 'user' : 'assistant',
    content: `Message about topic ${n}. ${n === 123 ? 'The password of the gate is swordfish.' : ''}`,
  }));

  it('finds rare words first, and pages through long ranges', () => {
    expect(recallQuery(messages, 'password gate').messages[0]).toMatchObject({n: 124});
    expect(recallQuery(messages, 'nothing of the kind at-all').messages.length).toBeLessThanOrEqual(12);
    const long: Message[] = [{role: 'user', content: 'abc'.repeat(10_000)}, ...messages];
    const first = recallRange(long, 1, 3);
    expect(first.more).toBe('recall {"from": 1, "to": 3, "offset": 12000}');
    expect(recallRange(long, 1, 3, 24_000).messages.map(({n}) => n)).toEqual([1, 2, 3]);
  });
});
