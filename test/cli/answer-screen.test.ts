import fc from 'fast-check';
import {afterEach, beforeEach, describe, expect, it, vi} from 'vitest';
import type {LiveEvent} from '../../src/home/live.ts';
import {streamingScreen} from '../../src/surfaces/cli/answer-screen.ts';

/** As much of a terminal as is needed: it wraps lines, and knows how to go up and to erase below. */
class Screen {
  readonly columns = 12;
  rows: string[] = [''];
  row = 0;
  column = 0;

  write(text: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what terminals are told is made of them
    for (const [token, up] of text.matchAll(/\u001b\[(\d+)A|\u001b\[J|[\s\S]/g)) {
      if (up !== undefined) this.row -= Number(up);
      else if (token === '\u001b[J') {
        this.rows.length = this.row + 1;
        this.rows[this.row] = (this.rows[this.row] ?? '').slice(0, this.column);
      } else if (token === '\r') this.column = 0;
      else if (token === '\n') this.#next();
      else {
        if (this.column === this.columns) this.#next();
        this.rows[this.row] = (this.rows[this.row] ?? '').slice(0, this.column) + token;
        this.column++;
      }
    }
  }

  #next(): void {
    this.row++;
    this.column = 0;
    this.rows[this.row] ??= '';
  }
}

beforeEach(() => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const text = fc.string({unit: fc.constantFrom(...'aaaaaaaaabbbbbb \n'), maxLength: 40, size: 'max'});
const turn = fc.record({
  /** Texts of tries that came to nothing, each ended by a retry or by the turn being dropped. */
  lost: fc.array(fc.tuple(text, fc.boolean()), {maxLength: 3}),
  answer: text,
  /** How much of the answer came live before the file had it, in how many parts, and what comes after that. */
  shown: fc.nat({max: 40}),
  parts: fc.integer({min: 1, max: 4}),
  ended: fc.boolean(),
  late: fc.boolean(),
  /** Nothing of the turn comes before the file has its answer. */
  lagging: fc.boolean(),
});

describe('an answer on a terminal', () => {
  it('is in the end what the file says, once, whatever came live and when', () => {
    fc.assert(
      fc.property(fc.array(turn, {minLength: 1, maxLength: 4}), turns => {
        const screen = new Screen();
        const shown = streamingScreen({
          write: piece => screen.write(piece),
          size: () => ({columns: screen.columns, rows: 1000}),
        });
        let clock = Date.parse('2026-01-01T00:00:00.000Z');
        const tick = () => new Date(clock++).toISOString();
        let count = 0;
        let answers = 0;
        const live = (event: object) =>
          shown.live({at: tick(), agent: 'a', session: 's', turn: String(count), ...event} as LiveEvent, answers);
        const begin = () => live({event: 'begin', after: {messages: 1, answers}});
        const reply = (content: string) => {
          answers++;
          shown.reply({role: 'assistant', content});
        };
        for (const {lost, answer, shown: length, parts, ended, late, lagging} of turns) {
          count++;
          if (lagging) {
            reply(answer);
            live({event: 'begin', after: {messages: 1, answers: answers - 1}});
            live({event: 'text', text: answer});
            if (ended) live({event: 'end', how: 'answered'});
            continue;
          }
          begin();
          for (const [piece, dropped] of lost) {
            live({event: 'text', text: piece});
            if (dropped) {
              live({event: 'end', how: 'dropped'});
              count++;
              begin();
            } else live({event: 'retry', why: 'x', next: tick()});
          }
          const before = answer.slice(0, length);
          const size = Math.ceil(before.length / parts) || 1;
          for (let at = 0; at < before.length; at += size) live({event: 'text', text: before.slice(at, at + size)});
          if (ended) live({event: 'end', how: 'answered'});
          reply(answer);
          if (late) {
            live({event: 'text', text: answer.slice(length)});
            live({event: 'end', how: 'answered'});
          }
        }
        shown.finish('');
        const expected = new Screen();
        for (const {answer} of turns) expected.write(answer === '' || answer.endsWith('\n') ? answer : `${answer}\n`);
        expect(screen.rows.join('\n').trimEnd()).toBe(expected.rows.join('\n').trimEnd());
      }),
    );
  });
});
