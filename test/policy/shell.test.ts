import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {unclearReasons} from '../../src/policy/command/plain.ts';
import {readLine} from '../../src/policy/command/shell.ts';

const argvs = (line: string): string[][] => readLine(line).segments.map(segment => segment.argv);

describe('readLine', () => {
  test.each<[string, string[][]]>([
    ['ls -la', [['ls', '-la']]],
    ['  ls  ', [['ls']]],
    ['ls;', [['ls']]],
    [
      'docker ps --filter "name=redis" --format "{{.Status}}"',
      [['docker', 'ps', '--filter', 'name=redis', '--format', '{{.Status}}']],
    ],
    ['grep -n \'a.*b\' "x y"', [['grep', '-n', 'a.*b', 'x y']]],
    ["grep 'a\\.b' x", [['grep', 'a\\.b', 'x']]],
    ['echo "(a; b > c) # d"', [['echo', '(a; b > c) # d']]],
    ['echo a\'\'b"c"', [['echo', 'abc']]],
    ['echo \'\' ""', [['echo', '', '']]],
    ['echo a#b', [['echo', 'a#b']]],
    ["find . ! -name 'x*'", [['find', '.', '!', '-name', 'x*']]],
    ['git log main..dev', [['git', 'log', 'main..dev']]],
  ])('reads %s without doubt', (line, expected) => {
    expect(readLine(line).doubts).toEqual([]);
    expect(argvs(line)).toEqual(expected);
  });

  test('says how commands are joined', () => {
    expect(readLine('a; b && c || d | e').segments.map(({operator, source}) => [operator, source])).toEqual([
      ['', 'a'],
      [';', 'b'],
      ['&&', 'c'],
      ['||', 'd'],
      ['|', 'e'],
    ]);
  });

  test('knows a backslash that is a character in double quotes, and brackets that are words', () => {
    expect(readLine('grep "a\\|b\\." c')).toMatchObject({segments: [{argv: ['grep', 'a\\|b\\.', 'c']}], doubts: []});
    expect(readLine("find . \\( -name 'a' \\) -o \\! -empty")).toMatchObject({
      segments: [{argv: ['find', '.', '(', '-name', 'a', ')', '-o', '!', '-empty']}],
      doubts: [],
    });
  });

  test.each<[string, string]>([
    ['ls "a\\$b"', unclearReasons.backslash],
    ['ls "a\\`b"', unclearReasons.backslash],
    ['ls "a\\\\b"', unclearReasons.backslash],
    ['ls a\\(b', unclearReasons.backslash],
    ['ls\\(', unclearReasons.backslash],
    ['ls é', unclearReasons.character],
    ['ls \u202e', unclearReasons.character],
    ['ls \u0001', unclearReasons.character],
    ['ls\u007f', unclearReasons.character],
    ['ls\t-l', unclearReasons.tab],
    ['ls\nrm x', unclearReasons.newline],
    ['ls\r', unclearReasons.newline],
    ['ls $HOME', unclearReasons.dollar],
    ['ls "$HOME"', unclearReasons.dollar],
    ['ls $(x)', unclearReasons.dollar],
    ["$'ls'", unclearReasons.dollar],
    ['ls `x`', unclearReasons.backtick],
    ['ls ~', unclearReasons.tilde],
    ['ls \\\n-l', unclearReasons.backslash],
    ['ls a\\ b', unclearReasons.backslash],
    ['ls "a\\"b"', unclearReasons.backslash],
    ['ls > x', unclearReasons.redirect],
    ['ls 2>&1', unclearReasons.redirect],
    ['ls < x', unclearReasons.redirect],
    ['ls &> x', unclearReasons.redirect],
    ['ls |& cat', unclearReasons.redirect],
    ['cat <<< x', unclearReasons.redirect],
    ['cat <(ls)', unclearReasons.redirect],
    ['A=b ls', unclearReasons.assignment],
    ['A=b', unclearReasons.assignment],
    ['export A=b', unclearReasons.assignment],
    ['ls *', unclearReasons.glob],
    ['ls a?', unclearReasons.glob],
    ['ls [ab]', unclearReasons.glob],
    ['[ -f x ]', unclearReasons.glob],
    ['ls {a,b}', unclearReasons.brace],
    ['ls {}', unclearReasons.brace],
    ['ls &', unclearReasons.background],
    ['ls & rm x', unclearReasons.background],
    ['cat <<E\nx\nE', unclearReasons.heredoc],
    ['if ls; then ls; fi', unclearReasons.compound],
    ['for i in a; do ls; done', unclearReasons.compound],
    ['while ls; do ls; done', unclearReasons.compound],
    ['case a in b) ls;; esac', unclearReasons.compound],
    ['(ls)', unclearReasons.compound],
    ['{ ls; }', unclearReasons.compound],
    ['[[ a ]]', unclearReasons.compound],
    ['((1))', unclearReasons.compound],
    ['f() { ls; }', unclearReasons.compound],
    ['! ls', unclearReasons.negation],
    ['time ls', unclearReasons.time],
    ['coproc ls', unclearReasons.coproc],
    ['ls # x', unclearReasons.comment],
    ["ls 'a", unclearReasons.quote],
    ['ls ;; ls', unclearReasons.syntax],
    ['ls &&', unclearReasons.syntax],
    ['; ls', unclearReasons.syntax],
    ['', unclearReasons.empty],
    ['   ', unclearReasons.empty],
    ['# x', unclearReasons.empty],
    ["'ls' x", unclearReasons.name],
    ['l"s"', unclearReasons.name],
    ['%1', unclearReasons.name],
    ['-x', unclearReasons.name],
    ['!x', unclearReasons.name],
    [`ls ${'a'.repeat(16_384)}`, unclearReasons.long],
  ])('doubts %j', (line, why) => {
    expect(readLine(line).doubts).toContain(why);
  });

  test.each([
    'ls $(rm x)',
    'ls "$(rm x)"',
    'ls `rm x`',
    'ls "`echo \\`rm x\\``"',
    'cat <(rm x)',
    'A=$(rm x) ls',
    'A=$(rm x)',
    'ls ${A:-$(rm x)}',
    'ls $(( $(rm x) ))',
    'cat <<E\n$(rm x)\nE',
    'if true; then rm x; fi',
    'while rm x; do :; done',
    'for i in $(rm x); do :; done',
    'case a in a) rm x;; esac',
    'f() { rm x; }',
    '(cd a && rm x)',
    '{ rm x; }',
    'coproc rm x',
    '! rm x',
    'time rm x',
    '[[ -n $(rm x) ]]',
    'ls > $(rm x)',
    '\\rm x',
    'r\'\'m "x"',
    "$'\\x72m' x",
    '{rm,x}',
    'ls & rm x',
    'ls\nrm x',
    'ls ;; rm x',
    'ls )\nrm x',
    `${'ls;'.repeat(6000)} rm x`,
  ])('finds rm x in %j', line => {
    expect(argvs(line)).toContainEqual(['rm', 'x']);
    expect(readLine(line).doubts).not.toEqual([]);
  });

  test('skips none of many', () => {
    expect(argvs('ls;'.repeat(5000))).toHaveLength(5000);
  });

  test('never throws, and words of a line without doubts hold no shell characters but quoted', () => {
    const anything = fc.oneof(
      fc.string({unit: 'binary', maxLength: 60}),
      fc.array(fc.constantFrom(...'a \'"\\$`(){}[]|&;<>!#~*?=\n'), {maxLength: 40}).map(chars => chars.join('')),
    );
    fc.assert(
      fc.property(anything, line => {
        const {segments, doubts} = readLine(line);
        if (doubts.length > 0) return;
        expect(segments.length).toBeGreaterThan(0);
        const bare = line.replace(/'[^']*'|"[^"]*"/g, '');
        expect(bare).toMatch(/^[a-zA-Z0-9 !#%+,./:=@^_\]|&;-]*$/);
        expect(line).not.toMatch(/[$`~]/);
      }),
      {numRuns: 3000},
    );
  });
});
