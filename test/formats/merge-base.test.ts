import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {describeEdit} from '../../src/formats/merge/describe-edit.ts';
import {merge} from '../../src/formats/merge/merge.ts';
import {findMergeBase, mayBeOlder} from '../../src/formats/merge/merge-base.ts';
import {undoesLasting} from '../../src/formats/merge/merge-lasting.ts';
import {cpu} from '../cpu.ts';

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
    const start = cpu();
    const {text, conflicts} = merge('memory', same, `y\n${same}y\n`, `z\n${same.slice(2)}z\n`);
    merge('memory', mixed(1), mixed(3), mixed(5));
    expect(cpu() - start).toBeLessThan(2_000);
    expect(text.startsWith('y\n')).toBe(true);
    expect(conflicts.length).toBeGreaterThan(0);
  });
});

describe('notes of agents in a file of the memory', () => {
  const base = '# Team\n\nRedis runs.\n';
  const note = '- 2026-11-16 @scout: Redis moved to 6380.\n\n  All of it.\n';
  const noted = `${base}\n${note}`;
  it.each([
    ['a line at the end', `${base}Mine.\n`, `${base}Mine.\n\n${note}`],
    ['a line at the beginning', `Mine.\n${base}`, `Mine.\n${noted}`],
    ['the last line changed', base.replace('runs', 'flies'), noted.replace('runs', 'flies')],
    ['no line end', base.trimEnd(), noted],
    ['other line ends', `${base}Mine.\n`.replaceAll('\n', '\r\n'), `${base}Mine.\n\n${note}`.replaceAll('\n', '\r\n')],
    ['a note of its own', `${base}\n- mine\n`, `${base}\n- mine\n${note}`],
    ['the note too', `${noted.trimEnd()}\n- mine`, `${noted}- mine`],
  ])('stay beside %s', (_, person, merged) =>
    expect(merge('memory', base, person, noted)).toEqual({text: merged, conflicts: []}),
  );

  it('stay beside what others changed, too', () => {
    const other = `${noted.replace('Team', 'Our team')}- 2026-11-16 @scout: More.\n`;
    const {text, conflicts} = merge('memory', noted, noted.replace('6380', '6381'), other);
    expect(text).toBe(other.replace('6380', '6381'));
    expect(conflicts).toEqual([]);
  });

  it.each([
    ['a line more', `${noted}Mine.\n`, false],
    ['a note reworded', noted.replace('moved', 'is'), false],
    ['a note gone, and a line more', `${base}Mine.\n`, true],
    ['a note gone, and another changed', noted.replace('Redis runs.\n', '').replace(note, ''), true],
    ['nothing but a note gone: a person took it out', base, false],
  ])('%s', (_, now, expected) => expect(undoesLasting('memory', noted, now)).toBe(expected));

  it('tell the version a text was made from', () => {
    const second = `${noted}- 2026-11-16 @scout: More.\n`;
    expect(findMergeBase('memory', [second, noted, base], noted.replace('moved', 'is'))).toBe(1);
    expect(findMergeBase('memory', [second, noted, base], `${base}Mine.\n`)).toBe(2);
    expect(undoesLasting('memory', second, noted.replace('moved', 'is'))).toBe(true);
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
  ])('tasks: %s', (_, now, expected) => expect(undoesLasting('tasks', before, now)).toBe(expected));

  const session =
    "agent_id: p\nupdated: '2026-11-16T10:00:00.000Z'\nmessages:\n  - role: user\n    content: hi\n  - role: assistant\n    content: ho\n";
  it.each([
    ['a new message', `${session}  - role: user\n    content: more\n`, false],
    ['an edited message', session.replace('hi', 'hello'), false],
    ['an older version', session.replace('T10', 'T09'), true],
    ['a missing reply', session.replace('  - role: assistant\n    content: ho\n', ''), true],
  ])('sessions: %s', (_, now, expected) => expect(undoesLasting('session', session, now)).toBe(expected));

  it('sessions: the same, whether messages were only added or not', () => {
    const line = fc.constantFrom('  - role: user', "    timestamp: '1'", '    content: hi', '    delivery: d', '');
    const lines = fc.array(line, {maxLength: 6});
    const head = fc.array(fc.constantFrom("updated: '1'", "updated: '2'", 'status: active'), {maxLength: 3});
    const lasting = (all: readonly string[]) => all.filter(one => /updated|timestamp|delivery/.test(one));
    fc.assert(
      fc.property(head, head, lines, lines, lines, (first, second, all, more, less) => {
        for (const messages of [
          [...all, ...more],
          [...less, ...all],
        ]) {
          const [before, now] = [
            [...first, 'messages:', ...all],
            [...second, 'messages:', ...messages],
          ];
          const left = lasting(now);
          const lacks = lasting(before).some(key => left.splice(left.indexOf(key) >>> 0, 1).length === 0);
          const text = (all: readonly string[]) => all.map(one => `${one}\n`).join('');
          expect(undoesLasting('session', text(before), text(now))).toBe(lacks);
        }
      }),
      {numRuns: 100},
    );
  });

  it('tasks: the same, however much stands before and after what was changed', () => {
    const line = fc.constantFrom('  id: a', '  id: b', '  started: 1', '- [x] "t"', '- [ ] "t"', 'prose', '');
    const lines = fc.array(line, {maxLength: 6});
    const around = fc
      .tuple(lines, fc.constantFrom(0, 1_500))
      .map(([some, many]) => [...some, ...Array(many).fill('- [x] "same"')]);
    const lasting = (all: readonly string[]) =>
      all.filter(one => /id:|started:|\[x\]/.test(one)).map(one => (one.includes('[x]') ? '[x]' : one.trim()));
    fc.assert(
      fc.property(around, lines, lines, around, (head, old, own, tail) => {
        const [before, now] = [old, own].map(middle => [...head, ...middle, ...tail.toReversed()]);
        const left = lasting(now ?? []);
        const lacks = lasting(before ?? []).some(key => left.splice(left.indexOf(key) >>> 0, 1).length === 0);
        const text = (all: readonly string[] = []) => all.map(one => `${one}\n`).join('');
        expect(undoesLasting('tasks', text(before), text(now))).toBe(lacks);
      }),
      {numRuns: 80},
    );
  });

  it('approval pages: a decision', () => {
    const page = 'status: approved\n\n## Review\n\n**Decision:** APPROVED\n';
    expect(undoesLasting('approval', page, page.replace('APPROVED', '<!-- APPROVED | REJECTED -->'))).toBe(true);
    expect(undoesLasting('approval', page, `${page}more\n`)).toBe(false);
    expect(undoesLasting('memory', 'a', '')).toBe(false);
  });
});

describe('baseOf', () => {
  it('goes by the session’s time, then by the lines, then by age', () => {
    const version = (time: string, text: string) =>
      `updated: '${time}'\nmessages:\n  - role: user\n    content: ${text}\n`;
    const versions = [version('2026-01-03', 'a'), version('2026-01-02', 'b'), version('2026-01-02', 'c')];
    // As near to both: somebody else wrote what the newer has.
    expect(findMergeBase('session', versions, version('2026-01-02', 'c # more'))).toBe(2);
    expect(findMergeBase('session', versions, `${version('2026-01-02', 'c')}\n`)).toBe(2);
    expect(findMergeBase('session', versions, version('2026-01-03', 'b'))).toBe(0);
    expect(findMergeBase('session', versions, version('2026-01-09', 'b'))).toBe(1);
    expect(findMergeBase('tasks', ['a\nb\nc', 'a\nb', 'a'], 'a\nx')).toBe(2);
    expect(findMergeBase('tasks', ['a\nb', 'b\na'], 'a\nb\nc')).toBe(0);
    expect(findMergeBase('tasks', [], 'x')).toBe(0);
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
    expect(findMergeBase('tasks', versions, `${completed}Prose.\n`)).toBe(3);
    expect(findMergeBase('tasks', versions, `${stale}Prose.\n`)).toBe(2);
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

  const queue = tasks.replaceAll('[ ]', '[_]');
  it.each([
    [queue.replace('[_]', '[x]'), 'approved t1', ['t1']],
    [queue.replace('[_]', '[-]'), 'rejected t1', ['t1']],
    [queue.replaceAll('[_]', '[x]'), '2 requests approved', ['t1', 't2']],
    [queue.replace('[_]', '[/]'), 'left unclear t1', ['t1']],
    [queue.replace('id: t1', 'id: t1\n  command: ls'), 'edited t1', ['t1']],
    [queue.slice(0, queue.indexOf('\n- [_] "Two"')), 'removed t2', ['t2']],
    [`${queue}\n- [_] "x"\n`, 'added "x"', []],
  ])('the queue %#', (now, words, ids) => expect(describeEdit('tasks', queue, now, true)).toEqual({words, tasks: ids}));

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

describe('baseOf', () => {
  it('is not drawn to a version in which a task that the person removed was shorter', () => {
    const head = '## TODO\n\n';
    const short = '- [_] "A"\n  id: a\n  status: pending\n\n';
    const long = '- [x] "A"\n  id: a\n  status: approved\n  approved_by: Ada\n  outcome: done\n\n';
    const [b, c] = ['b', 'c'].map(id => `- [_] "${id}"\n  id: ${id}\n  status: pending\n\n`);
    const [last, opened, older] = [`${head}${long}${b}${c}`, `${head}${long}${b}`, `${head}${short}${b}`];
    const person = `${head}A note.\n\n${b}`;
    expect(findMergeBase('tasks', [last, opened, older], person)).toBe(1);
    expect(merge('tasks', opened, person, last)).toEqual({text: `${head}A note.\n\n${b}${c}`, conflicts: []});
  });
});
