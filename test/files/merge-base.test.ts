import {describe, expect, it} from 'vitest';
import {describeEdit} from '../../src/files/describe-edit.ts';
import {merge} from '../../src/files/merge.ts';
import {baseOf, mayBeOlder, undoes} from '../../src/files/merge-base.ts';

describe('other files are merged line by line', () => {
  const base = 'a\nb\nc\nd\ne\nf\n';
  it('where both changed other lines', () => {
    expect(merge('memory', base, base.replace('a', 'A'), base.replace('e', 'E\nmore'))).toEqual({
      text: 'A\nb\nc\nd\nE\nmore\nf\n',
      conflicts: [],
    });
  });

  it('and the person’s lines stay where both changed the same', () => {
    expect(merge('policy', base, base.replace('c', 'mine'), base.replace('c', 'its').replace('f', 'F'))).toEqual({
      text: 'a\nb\nmine\nd\ne\nF\n',
      conflicts: ['line 3: the same place was changed on both sides; yours is kept'],
    });
  });

  it('with line ends and a missing last one kept', () => {
    const crlf = 'a\r\nb\r\nc\r\nd';
    expect(merge('memory', crlf, crlf.replace('a', 'A'), `${crlf}\r\ne`).text).toBe('A\r\nb\r\nc\r\nd\r\ne');
  });

  it('and lines that repeat do not take for ever', () => {
    const same = 'x\n'.repeat(50_000);
    const mixed = (seed: number) => Array.from({length: 1_900}, (_, i) => ((i * i + seed) % 7) % 2).join('\n');
    const start = performance.now();
    const {text, conflicts} = merge('memory', same, `y\n${same}y\n`, `z\n${same.slice(2)}z\n`);
    merge('memory', mixed(1), mixed(3), mixed(5));
    expect(performance.now() - start).toBeLessThan(2_000);
    expect(text.startsWith('y\n')).toBe(true);
    expect(conflicts.length).toBeGreaterThan(0);
  });
});

describe('undoes', () => {
  const before = '## TODO\n\n- [/] "One"\n  id: t1\n  started: 2026-11-16T10:00:00.000Z\n\n- [ ] "Two"\n';
  it.each([
    ['an edit of something else', before.replace('Two', 'Three').replace('[ ]', '[x]'), false],
    ['a title', before.replace('One', 'Uno'), false],
    ['a start mark', before.replace(/ {2}started.*\n/, ''), true],
    ['another time', before.replace('10:00', '11:00'), true],
    ['an id', before.replace('  id: t1\n', ''), true],
    ['a box', before.replace('[/]', '[ ]'), true],
  ])('tasks: %s', (_, now, expected) => expect(undoes('tasks', before, now)).toBe(expected));

  const session =
    "agent_id: p\nupdated: '2026-11-16T10:00:00.000Z'\nmessages:\n  - role: user\n    content: hi\n  - role: assistant\n    content: ho\n";
  it.each([
    ['a new message', `${session}  - role: user\n    content: more\n`, false],
    ['an edited message', session.replace('hi', 'hello'), false],
    ['an older version', session.replace('T10', 'T09'), true],
    ['a missing reply', session.replace('  - role: assistant\n    content: ho\n', ''), true],
  ])('sessions: %s', (_, now, expected) => expect(undoes('session', session, now)).toBe(expected));

  it('approval pages: a decision', () => {
    const page = 'status: approved\n\n## Review\n\n**Decision:** APPROVED\n';
    expect(undoes('approval', page, page.replace('APPROVED', '<!-- APPROVED | REJECTED -->'))).toBe(true);
    expect(undoes('approval', page, `${page}more\n`)).toBe(false);
    expect(undoes('memory', 'a', '')).toBe(false);
  });
});

describe('baseOf', () => {
  it('goes by the session’s time, then by the lines, then by age', () => {
    const version = (time: string, text: string) =>
      `updated: '${time}'\nmessages:\n  - role: user\n    content: ${text}\n`;
    const versions = [version('2026-01-03', 'a'), version('2026-01-02', 'b'), version('2026-01-02', 'c')];
    // As near to both: somebody else wrote what the newer has.
    expect(baseOf('session', versions, version('2026-01-02', 'c # more'))).toBe(2);
    expect(baseOf('session', versions, `${version('2026-01-02', 'c')}\n`)).toBe(2);
    expect(baseOf('session', versions, version('2026-01-03', 'b'))).toBe(0);
    expect(baseOf('session', versions, version('2026-01-09', 'b'))).toBe(1);
    expect(baseOf('tasks', ['a\nb\nc', 'a\nb', 'a'], 'a\nx')).toBe(2);
    expect(baseOf('tasks', ['a\nb', 'b\na'], 'a\nb\nc')).toBe(0);
    expect(baseOf('tasks', [], 'x')).toBe(0);
  });
});

describe('a version that a stale save had undone', () => {
  it('is not taken for the first that had what was merged in again', () => {
    const saved = '- [ ] @a "One"\n';
    const completed = '- [ ] @a "One"\n  id: t1\n';
    const stale = '- [ ] @a "One"\n- [ ] @a "Two"\n';
    const merged = '- [ ] @a "One"\n  id: t1\n- [ ] @a "Two"\n';
    const last = '- [ ] @a "One"\n  id: t1\n- [ ] @a "Two"\n  id: t2\n';
    const versions = [last, merged, stale, completed, saved];
    // Another editor, which has had the file open since it was completed; and the one that saved the stale text.
    expect(baseOf('tasks', versions, `${completed}Prose.\n`)).toBe(3);
    expect(baseOf('tasks', versions, `${stale}Prose.\n`)).toBe(2);
  });
});

describe('describeEdit', () => {
  const tasks = '## TODO\n\n- [ ] "Is Redis up?"\n  id: t1\n\n- [ ] "Two"\n  id: t2\n';
  it.each([
    [tasks.replace('[ ]', '[x]'), 'ticked "Is Redis up?"', ['t1']],
    [tasks.replaceAll('[ ]', '[x]'), '2 tasks ticked', ['t1', 't2']],
    [`${tasks}\n- [ ] a\n- [ ] b\n- [ ] c\n`, '3 tasks added', []],
    [tasks.replace('Two', 'Two, three'), 'edited "Two, three"', ['t2']],
    [tasks.slice(0, tasks.indexOf('\n- [ ] "Two"')), 'removed "Two"', ['t2']],
    [`Prose.\n${tasks}`, 'edited', []],
    [tasks.replace('[ ]', '[?]'), 'edited', []],
  ])('tasks %#', (now, words, ids) => expect(describeEdit('tasks', tasks, now)).toEqual({words, tasks: ids}));

  const session =
    'agent_id: p\nstatus: active\nmessages:\n  - role: user\n    content: hi\n  - role: user\n    content: ho\n';
  it.each([
    [`${session}  - role: user\n    content: more\n`, 'user message'],
    [session.replace('active', 'paused'), 'status paused'],
    [session.replace('hi', 'hello').replace('ho', 'hello'), '2 messages edited'],
    [session.replace('  - role: user\n    content: ho\n', ''), '1 message removed'],
    [session.replace('agent_id: p', 'agent_id: p\nmodel: m'), 'model edited'],
    [`${session}# more\n`, '1 message edited'],
    ['[', 'edited'],
    ['', 'edited'],
  ])('sessions %#', (now, words) => expect(describeEdit('session', session, now).words).toBe(words));

  it('other files', () => {
    const page = '# Approval Request: a1\n\n## Review\n\n**Decision:**\n';
    expect(describeEdit('approval', page, page.replace('**Decision:**', '**Decision:** REJECTED')).words).toBe(
      'rejected',
    );
    expect(describeEdit('memory', undefined, 'x').words).toBe('created');
    expect(describeEdit('memory', 'x', 'y').words).toBe('edited');
  });
});

describe('mayBeOlder', () => {
  const full = '- [x] a\n  id: 1\n  completed: t\n- [ ] b\n  id: 2\n';
  it('if something of a task that is still there is not as it was', () => {
    expect(mayBeOlder('tasks', full, '- [x] a\n- [ ] b\n  id: 2\n')).toBe(true);
    expect(mayBeOlder('tasks', full, '- [ ] a\n  id: 1\n- [ ] b\n  id: 2\n')).toBe(true);
    expect(mayBeOlder('tasks', full, full.replace('[ ] b', '[x] b'))).toBe(true);
    expect(mayBeOlder('tasks', full, '- [ ] b\n  id: 2\n- [ ] c\n')).toBe(false);
    expect(mayBeOlder('tasks', full, full)).toBe(false);
    expect(mayBeOlder('tasks', full, '')).toBe(false);
  });
  it('always of a session, which names its version', () => {
    expect(mayBeOlder('session', 'updated: a\n', 'updated: a\n')).toBe(true);
  });
});
