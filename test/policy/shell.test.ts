import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {doubt} from '../../src/policy/command/plain.ts';
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

  test.each<[string, string]>([
    ['ls é', doubt.character],
    ['ls \u202e', doubt.character],
    ['ls \u0001', doubt.character],
    ['ls\u007f', doubt.character],
    ['ls\t-l', doubt.tab],
    ['ls\nrm x', doubt.newline],
    ['ls\r', doubt.newline],
    ['ls $HOME', doubt.dollar],
    ["ls '$HOME'", doubt.dollar],
    ['ls $(x)', doubt.dollar],
    ["$'ls'", doubt.dollar],
    ['ls `x`', doubt.backtick],
    ['ls ~', doubt.tilde],
    ['ls \\\n-l', doubt.backslash],
    ['ls a\\ b', doubt.backslash],
    ['ls "a\\"b"', doubt.backslash],
    ['ls > x', doubt.redirect],
    ['ls 2>&1', doubt.redirect],
    ['ls < x', doubt.redirect],
    ['ls &> x', doubt.redirect],
    ['ls |& cat', doubt.redirect],
    ['cat <<< x', doubt.redirect],
    ['cat <(ls)', doubt.redirect],
    ['A=b ls', doubt.assignment],
    ['A=b', doubt.assignment],
    ['export A=b', doubt.assignment],
    ['ls *', doubt.glob],
    ['ls a?', doubt.glob],
    ['ls [ab]', doubt.glob],
    ['[ -f x ]', doubt.glob],
    ['ls {a,b}', doubt.brace],
    ['ls {}', doubt.brace],
    ['ls &', doubt.background],
    ['ls & rm x', doubt.background],
    ['cat <<E\nx\nE', doubt.heredoc],
    ['if ls; then ls; fi', doubt.compound],
    ['for i in a; do ls; done', doubt.compound],
    ['while ls; do ls; done', doubt.compound],
    ['case a in b) ls;; esac', doubt.compound],
    ['(ls)', doubt.compound],
    ['{ ls; }', doubt.compound],
    ['[[ a ]]', doubt.compound],
    ['((1))', doubt.compound],
    ['f() { ls; }', doubt.compound],
    ['! ls', doubt.negation],
    ['time ls', doubt.time],
    ['coproc ls', doubt.coproc],
    ['ls # x', doubt.comment],
    ["ls 'a", doubt.quote],
    ['ls ;; ls', doubt.syntax],
    ['ls &&', doubt.syntax],
    ['; ls', doubt.syntax],
    ['', doubt.empty],
    ['   ', doubt.empty],
    ['# x', doubt.empty],
    ["'ls' x", doubt.name],
    ['l"s"', doubt.name],
    ['%1', doubt.name],
    ['-x', doubt.name],
    ['!x', doubt.name],
    [`ls ${'a'.repeat(16_384)}`, doubt.long],
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
