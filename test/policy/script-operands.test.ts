import fc from 'fast-check';
import {expect, it, test} from 'vitest';
import {scriptOperands} from '../../src/policy/command/script-operands.ts';
import {readLine} from '../../src/policy/command/shell.ts';
import {anyText, runs} from '../arbitrary.ts';

const of = (line: string) => scriptOperands(line, readLine(line).segments);

test.each<[string, string[]]>([
  ['./a.sh b', ['a.sh']],
  ['/opt/x/run', ['/opt/x/run']],
  ['bash -eu a.sh data', ['a.sh', 'data']],
  ['bash -- a.sh data', ['a.sh']],
  ['sh a.sh; zsh b.sh', ['a.sh', 'b.sh']],
  ['source a; . b', ['a', 'b']],
  ['sudo -u x nice -n 5 perl a.pl', ['a.pl']],
  ['xargs -n1 ruby a.rb', ['a.rb']],
  ["find . -exec ./a.sh '{}' +", ['a.sh']],
  ["bash -c 'python3 a.py'", ['a.py', 'a.py/__main__.py']],
  ['node -r ./hook.js a.js', ['hook.js', 'a.js']],
  ['awk -f a.awk data', ['a.awk']],
  ['awk -fa.awk data', ['a.awk']],
  ['sed -n -f a.sed data', ['a.sed']],
  ['sed --file=a.sed data', ['a.sed']],
  ['make -f a.mk', ['a.mk', 'GNUmakefile', 'makefile', 'Makefile']],
  ['just', ['justfile', 'Justfile', '.justfile']],
  ['npm run x', ['package.json', '.npmrc']],
  ['rake', ['rakefile', 'Rakefile', 'rakefile.rb', 'Rakefile.rb']],
  ['docker build .', ['Dockerfile', '.dockerignore']],
  ['cd a/b && ./c', ['c', 'a/b/c']],
  ['cat a | sh', ['a']],
  ['python3 -c "print(1)" a', []],
  ['perl -e 1', []],
  ['docker restart redis', []],
  ['ls -la a.sh', []],
  ['bash --version', []],
  ['constructor x; toString y', []],
  ['awk "{print}" data', []],
])('%s runs %j', (line, named) => {
  expect([...of(line).named].sort()).toEqual([...named, ...(line === 'cat a | sh' ? ['cat', 'sh'] : [])].sort());
});

test.each<[string, boolean]>([
  ['"$PWD/run.sh"', true],
  ['sh ${PWD}/run.sh', true],
  ['sh $(pwd)/run.sh', true],
  ['sh ~+/run.sh', true],
  ['D=sub; sh $D/in.sh', true],
  ['A=run; sh $A.sh', true],
  ['cd su*; ./in.sh', true],
  ['sh su*/in.sh', true],
  ['python3 -c "import x"', true],
  ['node -e "require(process.argv[1])" ./x', true],
  ['eval "$(cat x)"', true],
  ['sh -c "$X"', true],
  ['ls | sh', true],
  ['xargs sh < list', true],
  ['for i in *.sh; do sh $i; done', true],
  ['find . -exec sh {} +', true],
  ['. <(cat x)', true],
  ['PATH=.:$PATH foo', true],
  ['make -f $F', true],
  ['awk \'BEGIN{system("./r" "un.sh")}\'', true],
  ['((', true],
  ['sh run*.sh', false],
  ['sh {run,x}.sh', false],
  ['make $TARGET', false],
  ['sh run.sh "$X"', false],
  ['find . -exec ./x {} +', false],
  ['echo $HOME > a.txt', false],
  ['[ -e x ] && ls *.txt', false],
  ['docker restart redis', false],
])('%s may run files that it does not name: %s', (line, unnamed) => {
  expect(of(line).unnamed).toBe(unnamed);
});

it('takes every other word for a file that may be one', () => {
  expect(of('cp a.sh b').possible).toEqual(expect.arrayContaining(['a.sh', 'b']));
  expect(of('X=a.sh; eval $X').possible).toContain('a.sh');
  expect(of('tool --hook=./a.sh').possible).toContain('a.sh');
});

it('never throws, takes no path that no file can have, and is bounded', () => {
  const line = fc.oneof(
    anyText,
    fc
      .array(fc.constantFrom('bash ', 'cd ', 'make ', '-C ', './a ', '$x ', '| ', '; ', '< ', "'", '-f ', '/ '), {
        maxLength: 12,
      })
      .map(parts => parts.join('')),
  );
  fc.assert(
    fc.property(line, text => {
      const {named, possible} = of(text);
      for (const path of [...named, ...possible]) expect(path).toMatch(/^[^\0\n]+$/);
      for (const path of possible) expect(named).not.toContain(path);
    }),
    runs(400),
  );
  const many = of(`tool ${Array.from({length: 5000}, (_, i) => `f${i}`).join(' ')}`);
  expect(many.possible.length).toBeLessThan(20_000);
});
