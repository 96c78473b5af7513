import {applyPatch} from 'diff';
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {diffOf as made} from '../../src/effects/tools/diff-of.ts';
import {makeRedactor} from '../../src/policy/redact/redact.ts';
import {runs} from '../arbitrary.ts';

const secret = 'correct-horse-battery-staple-4711';
const redact = makeRedactor([{name: 'KEY', value: secret}]);
const diffOf = (path: string, before: Buffer | number | undefined, after: string) => made(path, before, after, redact);

const line = fc.constantFrom('a', 'b', '', '-- x', '++ y', '@@ z', 'c\r', '\\ d', 'é');
const text = fc
  .tuple(fc.array(line, {maxLength: 12}), fc.boolean())
  .map(([lines, ended]) => lines.join('\n') + (ended ? '\n' : ''));

/** Whatever the file is, what a person sees makes the one of the other. */
function expectDiff(before: string, after: string): string {
  const diff = diffOf('f', Buffer.from(before), after);
  expect(applyPatch(before, diff, {autoConvertLineEndings: false}), diff).toBe(after);
  return diff;
}

describe('a diff', () => {
  it('says all that changes, and nothing else', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after);
        expectDiff(before, after);
      }),
      runs(500),
    );
  });

  it('is unified, with lines around and newlines that are missing', () => {
    expect(diffOf('src/f', Buffer.from('a\nb\nc\nd\ne\nf\n'), 'a\nb\nc\nd\nE\nf')).toBe(
      [
        '--- src/f',
        '+++ src/f',
        '@@ -2,5 +2,5 @@',
        ' b',
        ' c',
        ' d',
        '-e',
        '-f',
        '+E',
        '+f',
        '\\ No newline at end of file',
        '',
      ].join('\n'),
    );
    expect(diffOf('f', undefined, 'a\nb')).toBe(
      '--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n',
    );
  });

  it('of texts that differ everywhere is one change, and not cut', () => {
    const numbers = (from: number, count: number) => Array.from({length: count}, (_, i) => `${from + i}\n`).join('');
    const diff = expectDiff(`x\n${numbers(0, 3000)}y\n`, `x\n${numbers(10_000, 2000)}y\n`);
    expect(diff.match(/^@@.*@@$/gm)).toEqual(['@@ -1,3002 +1,2002 @@']);
    expect(diff).toContain('\n-1500\n');
    // Also where the texts are too long to be compared line by line.
    const long = `${'w'.repeat(5000)}\n`.repeat(450);
    expect(expectDiff(`${long}a\n${long}`, `${long}b\nc${long.slice(0, -1)}`).length).toBeGreaterThan(1_000_000);
  });

  it.each([
    [Buffer.from('a\0b'), 'binary: 3 bytes; all of it is replaced by 2 bytes'],
    [Buffer.from([0x61, 0xff]), 'not UTF-8 text: 2 bytes'],
    [17_000_000, 'too large to be shown: 17000000 bytes'],
    [Buffer.from('x\n'), 'nothing changes'],
    [undefined, '@@ -0,0 +1,1 @@\n+x\n'],
  ])('of %s says so', (before, words) => {
    expect(diffOf('f', before, 'x\n')).toContain(words);
  });

  it('within a secret is told, and not shown', () => {
    const diff = diffOf('f', Buffer.from(`a ${secret}\n`), 'a [redacted: KEY]\n');
    expect(diff).toContain('within secrets');
  });

  it('of empty files says so', () => {
    expect(diffOf('f', undefined, '')).toContain('the new file is empty');
    expect(expectDiff('', 'a\n')).toContain('+a');
    expect(expectDiff('a\n', '')).toContain('-a');
  });
});
