import fc from 'fast-check';
import stringWidth from 'string-width';
import {expect, it} from 'vitest';
import {isColoured} from '../../src/surfaces/terminal/output.ts';
import {breakAt, fitTable, textWidth} from '../../src/surfaces/terminal/table.ts';
import {NARROW} from '../../src/surfaces/terminal/wrap.ts';

it('breaks lines at words where one ends near, and leaves nothing out', () => {
  expect(breakAt('one two three', 9, true)).toEqual(['one two ', 'three']);
  expect(breakAt('a bbbbbbbbbbbb', 6, true)).toEqual(['a bbbb', 'bbbbbb', 'bb']);
  const text = fc.string({unit: fc.constantFrom(' ', 'a', 'b', '世', '⟨'), maxLength: 60});
  fc.assert(
    fc.property(text, fc.integer({min: 2, max: 12}), (line, width) => {
      const parts = breakAt(line, width, true);
      expect(parts.join('')).toBe(line);
      for (const part of parts) expect(textWidth(part)).toBeLessThanOrEqual(width);
    }),
  );
});

it('knows by themselves only characters of one column', () => {
  for (let code = 32; code < 0xfffe; code++) {
    const char = String.fromCharCode(code);
    if (NARROW.test(char)) expect([char, stringWidth(char)]).toEqual([char, 1]);
  }
});

const head = ['Session', 'Agent', 'Status', 'Updated', 'Last message'];
const rows = [
  ['planner-001-7k2mxw93', 'planner-001', 'waiting', '3m ago', `user: ${'is Redis up? '.repeat(12)}`],
  ['实行者-001', 'executor-001', '', '', '数据库还在运行吗？👩‍👩‍👧 '.repeat(6)],
];

it.each([200, 80, 40])('fits %i columns, also with wide characters', width => {
  const table = fitTable(head, rows, width);
  const lines = table.split('\n');
  for (const line of lines) expect(textWidth(line), line).toBeLessThanOrEqual(width);
  // What is needed to go on is never cut.
  expect(table).toContain('planner-001-7k2mxw93');
  expect(table).toContain('waiting');
  if (width > 40) expect(new Set(lines.map(textWidth)).size).toBe(1);
  if (width === 80) expect(Math.max(...lines.map(textWidth))).toBe(80);
  if (width === 40) expect(table).toMatch(/^Session: planner-001-7k2mxw93\nAgent: planner-001\n/);
});

it('cuts nothing where no terminal shows it', () => {
  const table = fitTable(head, rows, Number.POSITIVE_INFINITY);
  for (const cell of rows.flat()) expect(table).toContain(cell.trim());
});

it('cuts no cell that is to be typed: others give way, or each row has its own lines', () => {
  const rows = [['arcfkh3xfs0v', 'executor-001', 'approved', 'ran: exit code 0, after ten minutes or so']];
  for (const width of [80, 60, 50, 40, 30, 20]) {
    const table = fitTable(['Id', 'Agent', 'State', 'Request'], rows, width, {whole: [0]});
    expect(table).toContain('arcfkh3xfs0v');
    for (const line of table.split('\n')) expect(textWidth(line)).toBeLessThanOrEqual(width);
  }
});

it('fits whatever the cells are', () => {
  const cell = fc.string({unit: fc.constantFrom(' ', ...'aaaabbbb世✓', '\n', '👍🏽'), maxLength: 40});
  const cells = fc.array(fc.tuple(cell, cell, cell), {minLength: 1, maxLength: 4});
  fc.assert(
    fc.property(cells, fc.integer({min: 20, max: 120}), (rows, width) => {
      for (const line of fitTable(['One', 'Two', 'Three'], rows, width).split('\n'))
        expect(textWidth(line)).toBeLessThanOrEqual(width);
    }),
  );
});

it.each([
  [{isTTY: true}, {}, true],
  [{}, {}, false],
  [{isTTY: true}, {NO_COLOR: '1'}, false],
  [{isTTY: true}, {NO_COLOR: ''}, true],
  [{isTTY: true}, {TERM: 'dumb'}, false],
  [{}, {FORCE_COLOR: '1'}, true],
  [{}, {FORCE_COLOR: '1', NO_COLOR: '1'}, false],
  [{isTTY: true}, {FORCE_COLOR: '0'}, false],
])('%j with %j is coloured: %j', (stream, environment, coloured) => {
  expect(isColoured(stream, environment)).toBe(coloured);
});
