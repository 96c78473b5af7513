import {execFileSync} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {mayBeIgnored} from '../../src/home/git/git-ignore.ts';
import {temporary} from '../cli/run.ts';

const name = fc.constantFrom('a', 'B', 'b', 'a.md', 'x.jsonl', '.hid', 'ab', 'sessions');
const piece = fc.constantFrom(
  'a',
  'b',
  '*',
  '?',
  '*.md',
  'a*',
  '.*',
  '**',
  'sessions',
  '[ab]',
  '\\a',
  'x?jsonl',
  'A.MD',
);
const pattern = fc
  .tuple(
    fc.constantFrom('', '!', '/', '#', ' '),
    fc.array(piece, {minLength: 1, maxLength: 3}),
    fc.constantFrom('', '/', ' '),
  )
  .map(([before, parts, after]) => `${before}${parts.join('/')}${after}`);

describe('mayBeIgnored', () => {
  it('says no only of what git does not ignore', () => {
    const top = temporary();
    execFileSync('git', ['init', '-q', top]);
    let certain = 0;
    fc.assert(
      fc.property(
        fc.array(pattern, {maxLength: 3}),
        fc.array(pattern, {maxLength: 2}),
        fc.array(name, {minLength: 1, maxLength: 3}),
        (root, exclude, parts) => {
          const path = parts.join('/');
          writeFileSync(join(top, '.gitignore'), root.map(line => `${line}\n`).join(''));
          writeFileSync(join(top, '.git/info/exclude'), exclude.join('\n'));
          if (mayBeIgnored({top, others: [join(top, '.git/info/exclude')]}, path)) return;
          certain++;
          expect(ignores(top, path), `${path} by ${JSON.stringify([root, exclude])}`).toBe(false);
        },
      ),
      {numRuns: 150, seed: 7},
    );
    expect(certain).toBeGreaterThan(20);
  });

  it('reads the .gitignore of every folder on the way', () => {
    const top = temporary();
    mkdirSync(dirname(join(top, 'sessions/deep/x')), {recursive: true});
    writeFileSync(join(top, 'sessions/.gitignore'), 'deep/*.yaml\n');
    const files = {top, others: [join(top, 'none')]};
    expect(mayBeIgnored(files, 'sessions/deep/a.yaml')).toBe(true);
    expect(mayBeIgnored(files, 'sessions/deep/a.md')).toBe(false);
    expect(mayBeIgnored(files, 'deep/a.yaml')).toBe(false);
  });
});

function ignores(top: string, path: string): boolean {
  try {
    execFileSync('git', ['check-ignore', '-q', '--no-index', `./${path}`], {cwd: top, stdio: 'ignore'});
    return true;
  } catch {
    return false;
  }
}
