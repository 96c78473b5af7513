import {describe, expect, it} from 'vitest';
import {parseAllowlist} from '../../src/formats/allowlist.ts';
import type {Problem} from '../../src/formats/common/diagnostic.ts';
import {parseSession} from '../../src/formats/session/session.ts';
import {parseSettings} from '../../src/formats/settings.ts';
import {parseTemplate} from '../../src/formats/template.ts';

const SESSION = `agent_id: a
status: active
messages:
  - role: user
    content: Hi
    from: human
  - role: assistant
    content: Hello
`;
const TEMPLATE = `id: x
type: x
system_prompt: |
  You are.
  Be brief.
capabilities:
  - read_file
  - grep
limits:
  max_turns: 5
`;

const session = (from: string, to: string) => parseSession(SESSION.replace(from, to)).problems;
const template = (from: string, to: string) => parseTemplate(TEMPLATE.replace(from, to), 'x').problems;
const shown = (problems: readonly Problem[]) =>
  problems.map(({code, line, column, message, hint}) => `${code} ${line}:${column} ${message} = ${hint}`);

/** One slip, and the one problem that tells of it. */
const slips: [string, Problem[], string][] = [
  ['a colon above a list', session('messages:', 'messages'), "3:9 missing ':' after messages = write messages:"],
  ['a colon of the first key', session('agent_id:', 'agent_id'), "1:9 missing ':' after agent_id = write agent_id: a"],
  ['a colon in an item', session('content: Hi', 'content Hi'), "5:12 missing ':' after content = write content: Hi"],
  ['a colon after a dash', session('- role: user', '- role user'), "4:9 missing ':' after role = write - role: user"],
  ['a colon of the last key', session('from: human', 'from human'), "6:9 missing ':' after from = write from: human"],
  [
    'a colon above a text',
    template('prompt: |', 'prompt |'),
    "3:14 missing ':' after system_prompt = write system_prompt: |",
  ],
  [
    'a colon below a text',
    template('capabilities:', 'capabilities'),
    "6:13 missing ':' after capabilities = write capabilities:",
  ],
  ['= for a colon', template('type: x', 'type = x'), "2:5 expected ':' after type, found '=' = write type: x"],
  [
    'a blank after the colon',
    session('content: Hi', 'content:Hi'),
    "5:12 missing blank after 'content:' = write content: Hi",
  ],
  [
    'a blank after the dash',
    session('- role: assistant', '-role: assistant'),
    "7:3 missing blank after '-' = write - role: assistant",
  ],
  ['a dash', template('  - grep', '  grep'), "8:3 missing '- ' before an item of the list = write - grep"],
  [
    'a tab',
    session('    content: Hi', '\tcontent: Hi'),
    '5:1 expected spaces as indentation, found a tab = indent the line with 4 spaces',
  ],
  [
    'a tab before a dash',
    session('  - role: user', '\t- role: user'),
    '4:1 expected spaces as indentation, found a tab = indent the line with 2 spaces',
  ],
  [
    'an unclosed quote',
    session('Hi', '"Hi'),
    '5:14 expected " at the end of what begins with ", found none = write content: "Hi"',
  ],
  [
    'an unclosed quote above another',
    parseSession(SESSION.replace('Hi', '"Hi').replace('human', '"human"')).problems,
    '5:14 expected " at the end of what begins with ", found none = write content: "Hi"',
  ],
  [
    'an apostrophe in quotes',
    session('Hi', "'It's me'"),
    "5:14 expected '' for a ' inside '…', found ' = write content: 'It''s me'",
  ],
  [
    'text after a quote',
    session('Hi', '"Hi" there'),
    `5:14 expected nothing after the closing ", found text = write content: '"Hi" there'`,
  ],
  [
    'a colon in a text',
    session('Hi', 'Note: hi'),
    "5:14 expected quotes around a value that contains ': ' = write content: 'Note: hi'",
  ],
  [
    'a sign with a meaning',
    parseSettings('schedules:\n  - cron: * * * * *\n    to: a\n    message: x\n').problems,
    "2:11 expected quotes around a value that begins with * = write - cron: '* * * * *'",
  ],
  [
    'an unclosed bracket',
    template('\n  - read_file\n  - grep', ' [read_file, grep'),
    '6:15 expected ] at the end of what begins with [, found none = write capabilities: [read_file, grep]',
  ],
  [
    'a key too far left',
    session('    content: Hi', '   content: Hi'),
    '5:4 wrong indentation: expected 4 spaces, found 3 = indent the line with 4 spaces, as its neighbours',
  ],
  [
    'a key too far right',
    session('    content: Hi', '     content: Hi'),
    '5:6 wrong indentation: expected 4 spaces, found 5 = indent the line with 4 spaces, as its neighbours',
  ],
  [
    'an item too far left',
    session('  - role: assistant', ' - role: assistant'),
    '7:2 wrong indentation: expected 2 spaces, found 1 = indent the line with 2 spaces, as its neighbours',
  ],
  [
    'an item too far right',
    session('  - role: assistant', '    - role: assistant'),
    '7:5 wrong indentation: expected 2 spaces, found 4 = indent the line with 2 spaces, as its neighbours',
  ],
  [
    'a line of a text',
    template('  Be brief.', 'Be brief.'),
    "5:1 expected the text of system_prompt with 2 spaces of indentation, found 0 = indent the line with 2 spaces; or, if Be is a key, add ':' after it",
  ],
];

describe('a slip in YAML is one problem, at the line to change', () => {
  it.each(slips)('%s', (_, problems, expected) => {
    expect(shown(problems)).toEqual([`YAML_SYNTAX ${expected}`]);
  });

  it('a key twice', () => {
    expect(shown(session('from: human', 'content: Ho'))).toEqual([
      'YAML_DUPLICATE_KEY 6:5 expected each key once, found "content" again = remove one of the two',
    ]);
  });

  it('a colon or blank that YAML can do without, but the format cannot', () => {
    expect(shown(template('max_turns: 5', 'max_turns:5'))).toEqual([
      'WRONG_TYPE 10:3 limits: expected keys and values, got "max_turns:5" = put a blank after "max_turns:"',
    ]);
    expect(shown(parseAllowlist('version: 1\ncommands:\n  allow\n    - ls\n').problems)).toEqual([
      'WRONG_TYPE 3:3 commands: expected keys and values, got "allow - ls" = is the ":" after allow missing?',
    ]);
    expect(shown(template('  max_turns: 5', 'max_turns: 5'))).toMatchObject([
      'WRONG_TYPE 9:8 limits: expected keys and values, got nothing = indent its keys below it, or remove it',
    ]);
  });

  it('with CRLF, and of two slips the first', () => {
    const crlf = SESSION.replaceAll('\n', '\r\n')
      .replace('content: Hi', 'content Hi')
      .replace('content: He', 'content He');
    expect(shown(parseSession(crlf).problems)).toEqual([
      "YAML_SYNTAX 5:12 missing ':' after content = write content: Hi",
    ]);
  });

  it('far down in a long session', () => {
    const long = `${SESSION}${'  - role: user\n    content: |\n      - role: not an item\n      Go on, please.\n'.repeat(3000)}`;
    expect(shown(parseSession(`${long}  - role: user\n    content Hi\n`).problems)).toEqual([
      "YAML_SYNTAX 12010:12 missing ':' after content = write content: Hi",
    ]);
    expect(shown(parseSession(`${long}  - role: user\n   content: Hi\n    from: human\n`).problems)).toEqual([
      'YAML_SYNTAX 12010:4 wrong indentation: expected 4 spaces, found 3 = indent the line with 4 spaces, as its neighbours',
    ]);
    for (const text of [long, SESSION + '  - role: user\n    content: Hi\n'.repeat(3000)])
      expect(shown(parseSession(text.replace('messages:', 'messages')).problems)).toEqual([
        "YAML_SYNTAX 3:9 missing ':' after messages = write messages:",
      ]);
    const prompt = TEMPLATE.replace('  Be brief.\n', '  Be brief.\n'.repeat(1000));
    expect(shown(parseTemplate(prompt.replace('capabilities:', 'capabilities'), 'x').problems)).toEqual([
      "YAML_SYNTAX 1005:13 missing ':' after capabilities = write capabilities:",
    ]);
  });

  it('that nobody knows is told once too', () => {
    const problems = parseSettings(`${'a: [}\n'.repeat(50)}`).problems;
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({code: 'YAML_SYNTAX', line: 1});
  });
});
