import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {wrap} from '../../src/surfaces/terminal/wrap.ts';
import {installed, terminal} from '../daemon/terminal.ts';
import {main, newHome} from './run.ts';

describe('words on a terminal', () => {
  it('are broken at spaces only, and none is lost', () => {
    const word = fc.string({unit: fc.constantFrom(...'abcé中|'), minLength: 1, maxLength: 9});
    const space = fc.constantFrom(' ', ' ', ' ', '   ');
    const line = fc
      .tuple(fc.constantFrom('', '  ', '      '), fc.array(fc.tuple(word, space), {maxLength: 20}))
      .map(([indent, words]) => (indent + words.flat().join('')).trimEnd());
    fc.assert(
      fc.property(line, fc.integer({min: 8, max: 60}), fc.option(fc.nat(30), {nil: undefined}), (text, width, hang) => {
        const wrapped = wrap(text, width, hang);
        expect(wrapped.split(/\s+/).filter(Boolean)).toEqual(text.split(/\s+/).filter(Boolean));
        for (const each of wrapped.split('\n'))
          if (each.replaceAll('中', '..').length > width) expect(each.trim()).not.toContain(' ');
      }),
    );
  });

  it('go on below the second column, or below the first where that is far', () => {
    expect(wrap('  init   make a home, or more', 20)).toBe('  init   make a\n         home, or\n         more');
    expect(wrap('  --timeout   no longer than', 20)).toBe('  --timeout\n      no longer than');
    expect(wrap('one two three', 8)).toBe('one two\nthree');
    expect(wrap('  one two three', 8)).toBe('  one\n    two\n    three');
  });

  it('colours take no room', () => {
    expect(wrap('\u001b[2mone\u001b[22m two three', 13)).toBe('\u001b[2mone\u001b[22m two three');
  });

  const commands = [
    'status',
    'doctor',
    '--help',
    'help send',
    'approve --help',
    'log',
    'tasks',
    'list',
    'peek',
    'init x',
    'check',
  ];
  // Other widths are those of the property above.
  const tries = (process.env.FUZZ ? [40, 60, 80, 120] : [40, 80]).flatMap(columns =>
    commands.map(line => [columns, line] as const),
  );
  it.runIf(installed('script'))('no command leaves it to the terminal to break lines', async () => {
    const home = await newHome({
      'sessions/long.session.yaml': `agent_id: planner-001\nstatus: ${'wrong '.repeat(40)}\nmessages: []\n`,
      'tasks/odd.task.md': `- [ ] @nobody "${'some words '.repeat(20)}"\n`,
    });
    for (const [columns, line] of tries) {
      const at = terminal(home, `${process.execPath} ${main} ${line}`, columns);
      await at.exited;
      const shown = await at.shows(/.*$/s);
      // What is to be pasted stays whole.
      const long = shown
        .split(/\r*\n|\r/)
        .filter(each => each.length > columns && each.trim().includes(' ') && !/^ {2}(?:cd|export) /.test(each));
      expect({columns, line, long}).toEqual({columns, line, long: []});
    }
  });
});
