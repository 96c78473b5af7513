import {describe, expect, it, vi} from 'vitest';
import {progressOn} from '../../src/surfaces/cli/progress.ts';

function told(stream: {isTTY: boolean}, json: boolean, ms: number): string {
  vi.useFakeTimers();
  try {
    let written = '';
    const write = (text: string) => {
      written += text;
      return true;
    };
    const progress = progressOn({...stream, write} as unknown as NodeJS.WriteStream, json, 'files');
    for (let done = 1; done <= 10; done++) {
      vi.advanceTimersByTime(ms / 10);
      progress(done, 10);
    }
    return written;
  } finally {
    vi.useRealTimers();
  }
}

describe('progress', () => {
  it('is told to who waits at a terminal, and is gone when the work is done', () => {
    const text = told({isTTY: true}, false, 2_000);
    expect(text.replaceAll('\x1b[K', '|')).toMatch(/^(?:\r\d of 10 files\|)+\r\|$/);
    expect(text).toContain('9 of 10');
  });

  it('is not told of short work, to no terminal, and not with --json', () => {
    expect(told({isTTY: true}, false, 300)).toBe('');
    expect(told({isTTY: false}, false, 2_000)).toBe('');
    expect(told({isTTY: true}, true, 2_000)).toBe('');
  });
});
