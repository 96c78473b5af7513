import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {parseAllowlist} from '../../src/formats/allowlist.ts';
import {judge} from '../../src/policy/judge.ts';
import {everyday, everydayLiterals} from './everyday.ts';

const shipped = parseAllowlist(readFileSync(new URL('../../allowlist.yaml', import.meta.url), 'utf8')).policy;

/** `line   (why it asks)` for each line that does not run by itself. */
function asked(lines: readonly string[]): string[] {
  return lines.flatMap(line => {
    const {verdict, reasons} = judge(line, shipped);
    return verdict === 'allow' ? [] : [`${line}   (${reasons.join('; ')})`];
  });
}

describe('the shipped policy allows the read-only lines of a day', () => {
  test('there are more than 200, each once', () => {
    const lines = Object.values(everyday).flat();
    expect(lines.length).toBeGreaterThan(200);
    expect(lines.filter((line, i) => lines.indexOf(line) !== i)).toEqual([]);
  });

  test.each(Object.entries(everyday))('%s', (_, lines) => {
    expect(asked(lines)).toEqual([]);
  });

  test('$ in single quotes, ~ inside a word', () => {
    expect(asked(everydayLiterals)).toEqual([]);
  });
});
