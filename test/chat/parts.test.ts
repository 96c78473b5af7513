import fc from 'fast-check';
import {render} from 'ink-testing-library';
import {createElement} from 'react';
import {describe, expect, it} from 'vitest';
import {complete} from '../../src/surfaces/chat/complete.ts';
import {type Editor, editorRows, inserted, newEditor, pressed, submitted} from '../../src/surfaces/chat/editor.ts';
import {
  answerEntry,
  callEntry,
  channelEntry,
  errorEntry,
  outputEntry,
  senderEntry,
} from '../../src/surfaces/chat/entries.ts';
import {byIdOrPart, readIntent} from '../../src/surfaces/chat/grammar.ts';
import {KeyDecoder, type KeyEvent} from '../../src/surfaces/chat/keys.ts';
import {markdownLines} from '../../src/surfaces/chat/markdown.ts';
import {screenOf} from '../../src/surfaces/chat/screen.ts';
import {isSlashCommand, slashCommands} from '../../src/surfaces/chat/slash-commands.ts';
import {type AgentMark, barLines} from '../../src/surfaces/chat/status-bar.ts';
import {App} from '../../src/surfaces/chat/ui/app.tsx';
import {textWidth} from '../../src/surfaces/terminal/table.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may get to a terminal
const CONTROLS = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

/** Words, wide characters, emoji, Markdown, escape sequences, and whatever else there is. */
const words = fc.array(
  fc.oneof(
    fc.constantFrom(
      'word',
      ' ',
      '\n',
      '漢字',
      '👩‍👩‍👧',
      'é',
      '```',
      '```diff\n+a\n-b\n```',
      '# h',
      '- [x] t',
      '| a | b |\n| - | - |',
    ),
    fc.constantFrom(
      '\u001b[2J',
      '\u001b]0;title\u0007',
      '\u009b2J',
      '\r',
      '\t',
      '\u202e',
      '│ y yes  n no',
      '▲ approval needed',
    ),
    fc.string({unit: 'grapheme', maxLength: 12}),
    fc.string({unit: 'binary', maxLength: 6}),
  ),
  {maxLength: 20},
);
const text = words.map(all => all.join(''));

describe('keys', () => {
  const all = (chunks: readonly string[]) => {
    const decoder = new KeyDecoder();
    const events = chunks.flatMap((chunk, i) => decoder.push(chunk, i * 1_000));
    return [...events, ...decoder.flush()];
  };
  const cut = (whole: string, places: readonly number[]) => {
    const at = [...new Set(places.map(place => place % (whole.length + 1)))].sort((a, b) => a - b);
    return [...at, whole.length].map((end, i) => whole.slice(at[i - 1] ?? 0, end)).filter(Boolean);
  };

  it('a marked paste is one event and never a key, however it is cut', () => {
    const pasted = fc.string({unit: 'binary', maxLength: 60}).filter(some => !some.includes('\u001b[201~'));
    fc.assert(
      fc.property(pasted, fc.array(fc.nat(), {maxLength: 8}), (some, places) => {
        const events = all(cut(`a\u001b[200~${some}\u001b[201~`, places));
        expect(events).toEqual([{text: 'a'}, {paste: some.replace(/\r\n?/g, '\n')}]);
      }),
    );
  });

  it('keys are the same however they are cut', () => {
    const sequences = [
      '\u001b[A',
      '\u001bOB',
      '\u001b[1;5C',
      '\u0001',
      '\u007f',
      '\t',
      '\u001b[3~',
      '\u001bb',
      'é',
      'x',
    ];
    const joined = (events: readonly KeyEvent[]) =>
      events.map(event => ('key' in event ? `<${event.key}>` : 'text' in event ? event.text : '')).join('');
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...sequences)), fc.array(fc.nat(), {maxLength: 6}), (keys, places) => {
        expect(joined(all(cut(keys.join(''), places)))).toBe(joined(keys.flatMap(key => all([key]))));
      }),
    );
  });

  it('lines that come at once are pasted, also without marks and in pieces; a line alone is sent', () => {
    const decoder = new KeyDecoder();
    expect(all(['one\r'])).toEqual([{text: 'one'}, {key: 'enter'}]);
    expect(all(['\r'])).toEqual([{key: 'enter'}]);
    expect(all(['one\rtwo\rthree'])).toEqual([{paste: 'one\ntwo\nthree'}]);
    const events = [...decoder.push('one\r', 0), ...decoder.push('two\r', 10), ...decoder.push('three\r', 20)];
    expect(events.map(event => ('key' in event ? event.key : Object.values(event)[0])).join('')).toBe(
      'one\ntwo\nthree\n',
    );
    expect(events.some(event => 'key' in event)).toBe(false);
  });

  it('Esc alone is a key once nothing follows', () => {
    const decoder = new KeyDecoder();
    expect(decoder.push('\u001b')).toEqual([]);
    expect(decoder.isPending).toBe(true);
    expect(decoder.flush()).toEqual([{key: 'esc'}]);
  });
});

describe('the prompt', () => {
  const names = [
    'left',
    'right',
    'up',
    'down',
    'home',
    'end',
    'backspace',
    'delete',
    'ctrl-w',
    'ctrl-u',
    'ctrl-k',
    'newline',
  ];
  const step = fc.oneof(
    fc.constantFrom(...names, 'word-left', 'word-right', 'ctrl-p', 'ctrl-n').map(key => ({key})),
    text.map(some => ({some})),
  );

  it('keeps its cursor between characters, and shows it on a row', () => {
    const isBetween = ({text: whole, cursor}: Editor) =>
      !/[\ud800-\udbff]$/.test(whole.slice(0, cursor)) && !/^\p{M}|^\u200d/u.test(whole.slice(cursor));
    fc.assert(
      fc.property(
        fc.array(step, {maxLength: 15}),
        fc.integer({min: 4, max: 40}),
        fc.integer({min: 1, max: 8}),
        (steps, width, most) => {
          let editor = newEditor(['earlier', 'two\nlines']);
          for (const one of steps)
            editor = 'key' in one ? (pressed(editor, one.key) ?? editor) : inserted(editor, one.some);
          expect(editor.cursor).toBeGreaterThanOrEqual(0);
          expect(editor.cursor).toBeLessThanOrEqual(editor.text.length);
          if (!steps.some(one => 'some' in one && /[\p{M}\u200d]/u.test(one.some)))
            expect(isBetween(editor)).toBe(true);
          const {rows, row, column} = editorRows(editor, width, most);
          expect(rows.length).toBeLessThanOrEqual(most);
          expect(row).toBeLessThan(rows.length);
          expect(column).toBeLessThanOrEqual(width);
          for (const line of rows) {
            expect(textWidth(line)).toBeLessThanOrEqual(width);
            expect(line).not.toMatch(CONTROLS);
          }
        },
      ),
      {numRuns: 60},
    );
  });

  it('keeps what was typed while earlier inputs are shown', () => {
    let editor = inserted(newEditor(['first', 'second']), 'new');
    for (const key of ['up', 'up', 'up']) editor = pressed(editor, key) ?? editor;
    expect(editor.text).toBe('first');
    for (const key of ['down', 'down']) editor = pressed(editor, key) ?? editor;
    expect(editor.text).toBe('new');
    expect(submitted(editor)).toMatchObject({text: '', history: ['first', 'second', 'new']});
  });
});

describe('the grammar', () => {
  it.each([
    ['hello', {do: 'say', text: 'hello'}],
    ['@coder fix it', {do: 'ask', agent: 'coder', text: 'fix it'}],
    ['@coder: fix\nit', {do: 'ask', agent: 'coder', text: 'fix\nit'}],
    ['@coder@pr-1 fix', {do: 'ask', agent: 'coder@pr-1', text: 'fix'}],
    ['@coder /task look', {do: 'delegate', agent: 'coder', text: 'look'}],
    ['/task look', {do: 'delegate', text: 'look'}],
    ['@coder', {do: 'switch', to: 'coder'}],
    ['/agents stop coder', {do: 'command', name: 'agents', args: ['stop', 'coder'], rest: 'stop coder'}],
    [' /agents', {do: 'say', text: '/agents'}],
    ['/usr/bin is a path', {do: 'say', text: '/usr/bin is a path'}],
    ['   ', {do: 'nothing'}],
  ])('%j', (line, intent) => expect(readIntent(line)).toEqual(intent));

  it('refuses a command that there is not, with the nearest', () => {
    expect(readIntent('/agnets')).toMatchObject({do: 'refuse', hint: expect.stringContaining('/agents')});
    expect(readIntent('@coder /task')).toMatchObject({do: 'refuse'});
  });

  it('finds a session by its id, also if its tasks have longer ones, or by a unique part', () => {
    const sessions = ['pm-7k2m', 'pm-7k2m.1', 'coder-91xq'].map(id => ({id}));
    expect(['pm-7k2m', '91xq', '7k2m', 'one'].map(name => byIdOrPart(sessions, name)?.id)).toEqual([
      ...['pm-7k2m', 'coder-91xq'],
      ...[undefined, undefined],
    ]);
  });

  it('sends nothing but what was typed', () => {
    fc.assert(
      fc.property(text, line => {
        const intent = readIntent(line);
        if (intent.do === 'say' || intent.do === 'ask' || intent.do === 'delegate') expect(line).toContain(intent.text);
        if (intent.do === 'command') expect(isSlashCommand(intent.name)).toBe(true);
      }),
    );
  });
});

describe('completion', () => {
  const known = {agents: ['coder', 'coder-2', 'pm'], sessions: ['pm-shared'], approvals: ['k1'], channels: ['pr-1']};
  it.each([
    ['@p', '@pm ', []],
    ['@co', '@coder', ['@coder', '@coder-2']],
    ['@pm /t', '@pm /task ', []],
    ['/appro', '/approv', ['/approvals', '/approve']],
    ['/approve k', '/approve k1 ', []],
    ['/agents st', '/agents st', ['start', 'stop']],
    ['/switch #', '/switch #pr-1 ', []],
  ])('%j', (typed, filled, options) => {
    expect(complete(typed, typed.length, known)).toMatchObject({text: filled, options});
  });

  it('knows no command that is not in /help', () => {
    for (const {name, usage, about} of slashCommands) {
      expect(usage).toMatch(new RegExp(`^/${name}\\b`));
      expect(about).not.toBe('');
    }
  });
});

const marks: AgentMark[] = ['idle', 'working', 'done', 'failed', 'waiting', 'stopped'];
const tabs = fc.array(
  fc.record({
    name: fc.constantFrom('pm', 'architect', 'reviewer@pr-123', '#pr-123', 'エージェント'),
    mark: fc.constantFrom(...marks),
  }),
  {
    minLength: 1,
    maxLength: 40,
  },
);

describe('the status bar', () => {
  const counts = {tasks: {working: 3, done: 2, failed: 1}, approvals: 1};

  it('is the line of the seed', () => {
    const all = [
      {name: 'pm', mark: 'idle' as const},
      {name: 'architect', mark: 'idle' as const},
      {name: 'impl-1', mark: 'working' as const},
      {name: 'impl-2', mark: 'done' as const},
    ];
    expect(barLines({tabs: all, active: 0, ...counts}, 100)).toEqual([
      '[pm*] [architect] [impl-1:◐] [impl-2:✓] [+New]  Tasks: 3◐ 2✓ 1✗  Approvals: 1',
    ]);
    expect(barLines({tabs: all, active: 2, ...counts}, 40)).toEqual([
      '[pm] [architect] [impl-1*:◐] +1 [+New]',
      'Tasks: 3◐ 2✓ 1✗  Approvals: 1',
    ]);
  });

  it('fits, and shows the active tab, however many there are', () => {
    fc.assert(
      fc.property(tabs, fc.nat(), fc.integer({min: 20, max: 120}), (all, place, width) => {
        const active = place % all.length;
        const lines = barLines({tabs: all, active, ...counts}, width);
        expect(lines.length).toBeLessThanOrEqual(2);
        for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width);
        expect(lines[0]).toContain(`[${all[active]?.name.slice(0, 5)}`);
        expect(lines[0]).toContain('*');
      }),
    );
  });

  it('takes no longer for a thousand agents than for a frame', () => {
    const thousand = Array.from({length: 1_000}, (_, i) => ({
      name: `agent-${i}`,
      mark: marks[i % marks.length] ?? 'idle',
    }));
    const start = process.cpuUsage();
    for (let i = 0; i < 100; i++) barLines({tabs: thousand, active: 500, ...counts}, 80);
    const {user} = process.cpuUsage(start);
    expect(user / 100 / 1000).toBeLessThan(5);
  });
});

describe('what agents write', () => {
  it('stays in its lines, behind its bar, without control characters', () => {
    const call = (args: string) => ({
      id: 'c',
      type: 'function' as const,
      function: {name: 'execute_command', arguments: args},
    });
    fc.assert(
      fc.property(text, fc.integer({min: 20, max: 100}), (some, width) => {
        for (const line of markdownLines(some, width)) {
          expect(textWidth(line)).toBeLessThanOrEqual(width);
          expect(line).not.toMatch(CONTROLS);
        }
        const entries = [
          answerEntry('coder', some),
          senderEntry('inbox/x.jsonl#1', some),
          channelEntry('coder', true, '10:00:00', some),
          callEntry(call(JSON.stringify({command: some})), JSON.stringify({success: true, output: some}), true),
        ];
        for (const entry of entries) {
          const own = entry(width).filter(line => line !== '');
          for (const line of own) {
            expect(line).toMatch(/^(?:│ |● coder|← inbox| {2}… \d+ more lines)/);
            expect(textWidth(line)).toBeLessThanOrEqual(Math.max(width, 34));
            expect(line).not.toMatch(CONTROLS);
          }
        }
      }),
      {numRuns: 150},
    );
  });

  it('is behind a bar also in errors, in the output of commands, and at the end of a long name', () => {
    const forged = '▲ approval needed';
    const long = `${'x'.repeat(78)} ${forged}\n${forged}`;
    for (const entry of [
      errorEntry(`the server said: ${long}`, 'a hint'),
      outputEntry('show x', `a line\n${long}\n\u001b[31m${long}\u001b[39m`),
      senderEntry(long, 'text'),
      channelEntry(long, true, long, 'text'),
      answerEntry(long, 'text'),
    ])
      for (const line of entry(80)) {
        expect(line).toMatch(/^(?:│ |● x|← x|✗ the|\$ agentdir|$)| {2}a hint/);
        expect(textWidth(line)).toBeLessThanOrEqual(80);
      }
    expect(outputEntry('x', `\u001b[31m${'漢'.repeat(10)}\u001b[39m`)(14).slice(2)).toEqual([
      '│ \u001b[31m漢漢漢漢漢漢\u001b[0m',
      '│ \u001b[31m漢漢漢漢\u001b[39m',
    ]);
  });
});

describe('the changing part of the screen', () => {
  it('is drawn line by line, cut and not wrapped', () => {
    const scroll = {write: () => {}};
    const draw = (lines: string[]) => createElement(App, {screen: {lines, cursor: {x: 0, y: 0}}, scroll});
    const {lastFrame, rerender, unmount} = render(draw(['first', '', 'x'.repeat(300)]));
    const [first, second, third = '', ...more] = (lastFrame() ?? '').split('\n');
    expect([first, second?.trim(), more]).toEqual(['first', '', []]);
    expect(third).toMatch(/^x+…$/);
    rerender(draw(['other']));
    expect(lastFrame()).toBe('other');
    unmount();
  });

  it('is always shorter than the screen, and has its cursor in the prompt', () => {
    fc.assert(
      fc.property(
        ...([
          tabs,
          text,
          text,
          fc.array(text, {maxLength: 30}),
          fc.integer({min: 30, max: 200}),
          fc.integer({min: 6, max: 60}),
          fc.boolean(),
        ] as const),
        (all, typed, live, panel, columns, rows, overlay) => {
          const {lines, cursor} = screenOf({
            ...{columns, rows, bar: {tabs: all, active: 0, tasks: {working: 0, done: 0, failed: 0}, approvals: 0}},
            ...{editor: inserted(newEditor(), typed), label: '>', placeholder: 'message', agent: 'pm'},
            live: {turn: 't', text: live, calls: [{name: 'read_file', args: live}], retry: undefined},
            ...{open: [], awaited: [{agent: 'coder', status: 'active'}]},
            panel: panel.map(line => line.replace(/[^ -~]/gu, '').slice(0, columns)),
            overlay: overlay ? height => Array.from({length: height}, () => 'task') : undefined,
            ...{options: ['@coder', '@pm'], meter: 'meter', hint: 'hint'},
          });
          expect(lines.length).toBeLessThan(rows);
          expect(cursor.y).toBeLessThan(lines.length);
          expect(cursor.x).toBeLessThan(columns);
          for (const line of lines) {
            expect(textWidth(line)).toBeLessThanOrEqual(columns);
            expect(line).not.toMatch(CONTROLS);
          }
        },
      ),
      {numRuns: 150},
    );
  });
});
