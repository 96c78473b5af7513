import {describe, expect, it} from 'vitest';
import {withoutKey} from '../../src/policy/redact/redact-server-error.ts';
import {cpu} from '../cpu.ts';

const keys = {
  openai: 'sk-proj-Ab3dEf6hIj9lMnOpQrStUvWx1234',
  google: 'AIzaSyD4f5g6h7j8k9l0q1w2e3r4t5y6u7wxyz',
  plain: '7f3c9a1e5b2d4860c1e3f5a7b9d0wxyz',
};

/** How servers write half a key. */
const masks: [name: string, mask: (head: string, tail: string) => string][] = [
  ['stars', (head, tail) => `${head}****${tail}`],
  ['many stars', (head, tail) => `${head}${'*'.repeat(60)}${tail}`],
  ['stars and an ellipsis', (head, tail) => `${head}***…${tail}`],
  ['an ellipsis', (head, tail) => `${head}…${tail}`],
  ['dots', (head, tail) => `${head}...${tail}`],
  ['spaced dots', (head, tail) => `${head} ... ${tail}`],
  ['bullets', (head, tail) => `${head}••••••${tail}`],
  ['x', (head, tail) => `${head}xxxxxxxx${tail}`],
  ['X', (head, tail) => `${head}XXXX${tail}`],
  ['dashes', (head, tail) => `${head}------${tail}`],
  ['hashes', (head, tail) => `${head}####${tail}`],
  ['brackets', (head, tail) => `${head}[...]${tail}`],
  ['redacted', (head, tail) => `${head}<redacted>${tail}`],
  ['escaped stars', (head, tail) => `${head}\\*\\*\\*\\*${tail}`],
  ['escaped ellipsis', (head, tail) => `${head}\\u2026${tail}`],
];

describe('half a key in what a server says', () => {
  for (const [name, key] of Object.entries(keys))
    for (const [how, mask] of masks)
      it(`is taken out: ${name}, ${how}`, () => {
        for (const [head, tail] of [
          [key.slice(0, 6), key.slice(-4)],
          [key.slice(0, 12), key.slice(-6)],
          [key.slice(0, 10), ''],
          ['', key.slice(-4)],
        ] as const) {
          const said = `Incorrect API key provided: ${mask(head, tail)}. You can find your key at https://example.com/keys.`;
          const clean = withoutKey(said, key);
          if (head !== '') expect(clean).not.toContain(head);
          if (tail !== '') expect(clean).not.toContain(tail);
          expect(clean).toMatch(/^Incorrect API key provided: \S*.*\[redacted: key\]/);
          expect(clean).toContain('You can find your key at https://example.com/keys.');
          expect(withoutKey(clean, key)).toBe(clean);
        }
      });

  it('is taken out if it is told in words', () => {
    for (const [said, half] of [
      ['The key ending in wxyz is disabled', 'wxyz'],
      ['key that ends with "wxyz" expired', 'wxyz'],
      ['API key (last 4: wxyz) not found', 'wxyz'],
      ['the key starting with 7f3c9a is unknown', '7f3c9a'],
      ['prefix=7f3c9a1e was revoked', '7f3c9a1e'],
    ] as const) {
      const clean = withoutKey(said, keys.plain);
      expect(clean).not.toContain(half);
      expect(clean).toContain('[redacted: key]');
    }
  });

  it('of another account is taken out where it is plainly masked', () => {
    expect(withoutKey('Incorrect API key provided: sk-ab****wxyz.', undefined)).toBe(
      'Incorrect API key provided: [redacted: key].',
    );
    expect(withoutKey('key sk-proj-***…1234 is wrong', undefined)).toBe('key [redacted: key] is wrong');
    expect(withoutKey('key gsk_ab***********yz is wrong', undefined)).toBe('key [redacted: key] is wrong');
  });

  it('leaves ordinary words alone', () => {
    for (const said of [
      'Rate limit reached for gpt-4 in organization org-1: please wait...',
      'context length is 8192 tokens ... you asked for 9000 (8000 in the messages, 1000 in the answer)',
      'see **bold** and a * b and *.ts and 2**10',
      '----- upstream error -----',
      'the model "xxl-large" … does not exist',
      'ending in the year 2030',
    ])
      expect(withoutKey(said, keys.plain)).toBe(said);
  });

  it('is looked for in a time that follows the length', () => {
    for (const piece of ['a*', '*', '.', '…', '7f3c...', 'wxyz', '7f3c9a1', '-', 'x', 'ends ', 'sk-']) {
      const time = (length: number) => {
        const text = piece.repeat(length / piece.length);
        return Math.min(
          ...[1, 2, 3].map(() => {
            const began = cpu();
            withoutKey(text, keys.plain);
            return cpu() - began;
          }),
        );
      };
      // In quadratic time the longer text would take 256 times as long.
      const [short, long] = [time(20_000), time(320_000)];
      expect(long, piece).toBeLessThan(Math.max(200, 80 * short));
    }
  });
});
