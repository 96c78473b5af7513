import {describe, expect, it} from 'vitest';
import {beside, firstSteps} from '../../src/surfaces/cli/first-steps.ts';

describe('what to type next', () => {
  it('has what it is for beside it or above it, as a comment, so that lines can be pasted', () => {
    const steps = [['cd x', ''] as const, ['agentdir send "hello"', 'an answer'] as const];
    expect(beside(steps, 80)).toEqual(['  cd x', '  agentdir send "hello"   # an answer']);
    expect(beside(steps, 30)).toEqual(['  cd x', '  # an answer', '  agentdir send "hello"']);
  });

  it('ends lines between words', () => {
    const text = firstSteps({home: '/h', source: '/s', isOnPath: true, editor: 'vi'});
    expect(text).toContain(
      'What allowlist.yaml does not allow waits for your yes, in a file. Nothing is committed until\nsomething happens.\n',
    );
  });
});
