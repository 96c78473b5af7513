import {describe, expect, test} from 'vitest';
import {knownUse} from '../../src/policy/command/known-use.ts';
import {spells} from '../../src/policy/command/objection.ts';
import {isHarmlessAwk} from '../../src/policy/command/table/awk.ts';
import {isHarmlessJq} from '../../src/policy/command/table/jq.ts';
import {isHarmlessSed} from '../../src/policy/command/table/sed.ts';
import {cpu} from '../cpu.ts';

/** Words that no row knows as harmless; undefined: the command has no row. */
const unknown = (command: string): string[] | undefined => knownUse(command.split(' '))?.unknown.map(use => use.flag);

describe('knownUse', () => {
  test.each([
    ['find . -exec rm x ;', '-exec'],
    ['find . -delete', '-delete'],
    ['find . -fprintf a b', '-fprintf'],
    ['sort -o out in', '-o'],
    ['sort -uo out in', '-uo'],
    ['sort --outp=out in', '--outp'],
    ['sort --compress-prog=x in', '--compress-prog'],
    ['sed -i s/a/b/ x', '-i'],
    ['sed -ni.bak p x', '-ni.bak'],
    ['sed --in-pl p x', '--in-pl'],
    ['sed s/a/b/e x', 's/a/b/e'],
    ['sed wout x', 'wout'],
    ['sed -n -e p -e e x', 'e'],
    ['awk {system("x")} f', '{system("x")}'],
    ['gawk -f prog f', '-f'],
    ['tar xf a.tar', 'xf'],
    ['tar -tf a --to-command=x', '--to-command'],
    ['tar -tf a -I ./x', '-I'],
    ['tar tf a --checkpoint-action=exec=x', '--checkpoint-action'],
    ['git -c a=b log', '-c'],
    ['git log --output=x', '--output'],
    ['git diff --ext-d', '--ext-d'],
    ['git grep -nO./x y', '-nO./x'],
    ['git push --force', 'push'],
    ['git frobnicate', 'frobnicate'],
    ['git branch -D main', '-D'],
    ['git branch new', 'new'],
    ['git stash drop', 'drop'],
    ['git remote add a b', 'add'],
    ['git ls-remote --upload-pack=x y', 'ls-remote'],
    ['rg --pre ./x y', '--pre'],
    ['fd -x rm', '-x'],
    ['uniq in out', 'out'],
    ['tee x', 'x'],
    ['dd if=a of=b', 'of=b'],
    ['curl -sSo x y', '-sSo'],
    ['curl -d @f y', '-d'],
    ['curl --data-bin @f y', '--data-bin'],
    ['curl -K cfg', '-K'],
    ['wget http', 'http'],
    ['make install', 'install'],
    ['npm install x', 'install'],
    ['npm run test', 'run'],
    ['date -s now', '-s'],
    ['date 0101', '0101'],
    ['hostname evil', 'evil'],
    ['docker run alpine', 'run'],
    ['docker container rm x', 'rm'],
    ['docker compose up', 'up'],
    ['docker-compose up', 'up'],
    ['podman run alpine', 'run'],
    ['python3.11 -c x', '-c'],
    ['python3 x.py', 'x.py'],
    ['node -e x', '-e'],
    ['perl x.pl', 'x.pl'],
    ['systemctl restart x', 'restart'],
    ['kubectl delete pod x', 'delete'],
    ['redis-cli flushall', 'flushall'],
    ['ip addr add x', 'add'],
    ['ps auxe', 'auxe'],
    ['/usr/bin/sort -o x', '-o'],
  ])('%s: %s', (command, flag) => {
    expect(unknown(command) ?? [flag]).toContain(flag);
  });

  test.each([
    'find . -name *.ts -type f -executable',
    'sort -u -k 2 x',
    'sed -n 1,5p x',
    'sed -E s/a+/b/g x',
    'awk {print} x',
    'tar -tvf a.tar',
    'git log --oneline -n 5 --output-indicator-new=x',
    'git log -Scode',
    'git branch -a',
    'git branch --list feat',
    'git remote -v',
    'docker ps -a --format x',
    'docker container ls',
    'date +%F',
    'hostname',
    'uniq -c in',
    'curl -fsSL x',
    'python3 --version',
    'ps aux',
    'ps -ef',
    'ls -o',
    'redis-cli PING',
  ])('nothing in %s', command => {
    expect(unknown(command)).toEqual([]);
  });

  test('a rule covers what it spells at that place', () => {
    const use = {index: 1, flag: '--output', reason: ''};
    expect(['--output=*', '--output', '--*', '*', undefined].map(word => spells(word, use))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('scripts', () => {
  test.each(['p', '1p', '1,5p', '/a b/p', '/a/,/b/d', 's/a/b/', 's/a/b/g', 's|a|b|gI', '10q', '2,3s/x/y/p', '='])(
    'sed %s is harmless',
    script => expect(isHarmlessSed(script)).toBe(true),
  );
  test.each([
    'w x',
    's/a/b/w x',
    's/a/b/e',
    'e',
    '1e ls',
    'r x',
    'p;w x',
    's/a/b/;w x',
    '/a/w x',
    's/a/b/gew',
    'W x',
    '1!w x',
  ])('sed %s is not proven', script => expect(isHarmlessSed(script)).toBe(false));
  test.each(['{print > "x"}', '{print | "sh"}', 'BEGIN{system("x")}', '"x"|getline', '@load "x"'])(
    'awk %s is not',
    program => expect(isHarmlessAwk(program)).toBe(false),
  );
  test.each([
    '.name',
    '.[] | select(.a == "x") | {name, id: .b}',
    '[.[] | .env] | length',
    'def f: .a; f',
    '"\\(.a) \\(.b | length)"',
  ])('jq %s is harmless', program => expect(isHarmlessJq(program)).toBe(true));
  test.each([
    'env',
    '$ENV',
    '$ ENV',
    'env.PATH',
    '[env]',
    '{a: env}',
    '{a, b: [1, env]}',
    '"\\(1) {" , env }',
    'import "x" as x; .',
    'include "x"; .',
    'input_filename',
    'def env: 1; env',
    '. # env',
    '"a',
  ])('jq %s is not', program => expect(isHarmlessJq(program)).toBe(false));
  test('long scripts cost little', () => {
    const start = cpu();
    isHarmlessSed(`s/${'\\a'.repeat(8000)}`);
    isHarmlessSed('/a'.repeat(8000));
    expect(cpu() - start).toBeLessThan(500);
  });
});
