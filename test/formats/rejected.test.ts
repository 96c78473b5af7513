import {expect, it} from 'vitest';
import {parseRejected, rejectedLine} from '../../src/formats/rejected.ts';

const aside = (line: number, reason: string, more = {}) =>
  rejectedLine({id: `i${line}`, file: 'inbox/x.jsonl', line, at: '2026-11-17T10:00:00.000Z', reason, ...more});

it('lines that follow each other for one reason are one problem, as much garbage is', () => {
  const garbage = Array.from({length: 5_000}, (_, i) => aside(i + 1, 'expected UTF-8 text')).join('');
  const {entries, problems} = parseRejected(
    `${garbage}${aside(5_001, 'expected JSON')}${aside(5_002, 'no such agent', {to: 'bob'})}${aside(6_000, 'expected JSON')}`,
  );
  expect(entries).toHaveLength(5_003);
  expect(problems.map(({line, message}) => [line, message])).toEqual([
    [1, '5000 lines of inbox/x.jsonl, 1 to 5000, are set aside: expected UTF-8 text'],
    [5_001, '2 lines of inbox/x.jsonl, 5001 to 6000, are set aside: expected JSON'],
  ]);
});
