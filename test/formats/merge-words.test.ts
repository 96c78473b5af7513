import {describe, expect, it} from 'vitest';
import {findMergeBase} from '../../src/formats/merge/merge-base.ts';
import {onlyResets, resetsIn} from '../../src/formats/merge/merge-boxes.ts';
import {keepMessageWords, mayLackMessageWords} from '../../src/formats/merge/merge-words.ts';

const said = (...words: string[]) =>
  `agent_id: a\nmessages:\n${words.map(each => `  - role: user\n    content: ${each}\n    from: human\n`).join('')}`;

describe('messages in other words', () => {
  it('are kept, but for those that were changed in the buffer too', () => {
    const [base, last] = [said('one', 'two'), said('uno', 'due')];
    expect(keepMessageWords(base, said('one', 'two', 'three'), last)).toBe(said('uno', 'due', 'three'));
    expect(keepMessageWords(base, said('eins', 'two'), last)).toBe(said('eins', 'due'));
    expect(keepMessageWords(base, said('two'), last)).toBe(said('due'));
  });

  it('are left alone where nobody can tell which is which, or more was changed than words', () => {
    expect(keepMessageWords(said('one', 'one'), said('one', 'one', 'two'), said('one', 'uno'))).toBe(
      said('one', 'one', 'two'),
    );
    expect(keepMessageWords(said('one'), said('one', 'two'), said('uno', 'due'))).toBe(said('one', 'two'));
    const assistant = said('one').replace('role: user', 'role: assistant');
    expect(keepMessageWords(assistant, `${assistant}# mine\n`, assistant.replace('one', 'uno'))).toBe(
      `${assistant}# mine\n`,
    );
    expect(keepMessageWords('a: [\n', said('one'), said('uno'))).toBe(said('one'));
  });

  it('keep head and line ends of the person', () => {
    const crlf = (text: string) => text.replaceAll('\n', '\r\n');
    const person = crlf(said('one', 'two')).replace('agent_id', '# mine\r\nagent_id');
    expect(keepMessageWords(crlf(said('one')), person, crlf(said('uno')))).toBe(person.replace('one', 'uno'));
  });

  it('take more than one change to be missed: other words for one message are just that', () => {
    expect(mayLackMessageWords(said('one'), said('uno'))).toBe(false);
    expect(mayLackMessageWords(said('one'), said('one', 'two'))).toBe(false);
    expect(mayLackMessageWords(said('one'), said('uno', 'two'))).toBe(true);
  });
});

describe('boxes that a person set, set back and set again', () => {
  const task = (a: string, b: string, more = '') => `- [${a}] "a"\n  id: a\n${more}- [${b}] "b"\n  id: b\n`;
  const done = '  completed: 2026-01-01T00:00:00.000Z\n';
  // Ticked, completed by the daemon, set back, what it wrote removed, and b completed by an agent.
  const [last, back, ticked, first] = [task(' ', 'x'), task(' ', ' ', done), task('x', ' ', done), task(' ', ' ')];
  const versions = [last, back, ticked, first];

  it('make a text that was there before, of the person’s own save', () => {
    expect(findMergeBase('tasks', versions, ticked, [false, true, false, false])).toBe(1);
    // Nobody but the daemon wrote since: it is from there, with nothing new.
    expect(findMergeBase('tasks', versions, ticked, [false, false, false, false])).toBe(2);
    // Their save had what it lacks: an older buffer, and told as such.
    expect(findMergeBase('tasks', versions, first, [false, true, false, false])).toBe(3);
  });

  it('and lines that they brought in are in no buffer from before', () => {
    const prose = [`mine\n${last}`, `mine\n${back}`, ticked, first];
    expect(findMergeBase('tasks', prose, `mine\n${ticked}`, [false, true, false, false])).toBe(1);
    expect(findMergeBase('tasks', prose, `other\n${ticked}`, [false, true, false, false])).toBe(2);
  });

  it('are told where a save that is just like an older version has them otherwise', () => {
    expect(resetsIn([task('x', 'x'), task('x', ' '), first], [false, true, false])).toEqual([
      'task a: it was saved as pending, and had been set since; it stays completed',
    ]);
    expect(onlyResets([task('x', ' '), first], [true, false], first)).toBe(true);
    expect(onlyResets([task('x', ' '), first], [false, false], first)).toBe(false);
  });
});
