import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {hasErrors} from '../../src/formats/common/diagnostic.ts';
import {type Kind, kinds} from '../../src/formats/common/key.ts';
import {describeEdit} from '../../src/formats/merge/describe-edit.ts';
import {merge} from '../../src/formats/merge/merge.ts';
import {findMergeBase} from '../../src/formats/merge/merge-base.ts';
import {undoesLasting} from '../../src/formats/merge/merge-lasting.ts';
import {parseSession, type Session, sessionText} from '../../src/formats/session/session.ts';
import {appendMessage, insertMessage, setInMessage, setSessionField} from '../../src/formats/session/session-edit.ts';
import {fieldOf, type Task} from '../../src/formats/task/task.ts';
import {addTask, updateTask} from '../../src/formats/task/task-edit.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {anyText, eol, linesOf, otherLines, runs, taskLines, yamlLines} from '../arbitrary.ts';

const nat = fc.nat({max: 1000});
const time = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString();

/** A number that no other edit of the same case has: what is written can be found again. */
const deeds = <T extends string>(...names: T[]) =>
  fc.array(fc.tuple(fc.constantFrom(...names), nat), {minLength: 1, maxLength: 5});

const taskFiles = fc
  .tuple(
    fc.array(
      fc.record({
        title: fc.constantFrom('alpha', 'beta', 'gamma one', 'gamma two', '"delta: x"', '`eps`'),
        box: fc.constantFrom('[ ]', '[_]', '[x]', '[/]'),
        id: fc.boolean(),
        below: fc.subarray(['due: 2026-12-01', 'prompt: |\n    Do it.\n\n    Well.', '<!-- mine -->', 'words of mine']),
        note: fc.boolean(),
        deep: fc.boolean(),
        blank: fc.boolean(),
      }),
      {minLength: 1, maxLength: 7},
    ),
    eol,
    fc.boolean(),
    fc.boolean(),
  )
  .map(([tasks, end, bom, final]) => {
    const lines = ['# Title', '', 'Prose.', '', '## TODO', ''];
    for (const [i, {title, box, id, below, note, deep, blank}] of tasks.entries()) {
      const lead = deep && i > 0 ? '  ' : '';
      const own = [`- ${box} ${title}`];
      if (id) own.push(`  id: t${i}`);
      own.push(...below.map(line => `  ${line}`));
      if (note) own.push('  notes:', `    - ${time(i)} @a: note ${i}`);
      lines.push(
        ...own
          .join('\n')
          .split('\n')
          .map(line => (line === '' ? line : lead + line)),
      );
      if (blank) lines.push('');
    }
    return (bom ? '\ufeff' : '') + lines.join(end) + (final ? end : '');
  })
  .filter(text => !hasErrors(parseTasks(text).problems));

const taskDeeds = deeds('fill in', 'start', 'complete', 'note', 'add', 'add child');

/** The daemon's edits; `marks` are words that must never be lost, `fills` those that go with a deleted task. */
function actOnTasks(base: string, edits: readonly (readonly [string, number])[]): {text: string; marks: string[]} {
  let text = base;
  const marks: string[] = [];
  for (const [n, [deed, at]] of edits.entries()) {
    const file = parseTasks(text);
    const task = file.tasks[at % file.tasks.length] as Task;
    const mark = time(100_000 + n);
    try {
      if (deed === 'fill in' && fieldOf(task, 'id') === undefined)
        text = updateTask(file, task, {fields: {id: `new-${n}`, created: mark}});
      else if (deed === 'start') text = updateTask(file, task, {box: '/', fields: {started: mark, assigned: 'x'}});
      else if (deed === 'complete')
        text = updateTask(file, task, {box: 'x', fields: {completed: mark, result: `r${n}`}});
      else if (deed === 'note') text = updateTask(file, task, {note: {time: mark, who: 'b', text: `did\nit ${n}`}});
      else if (deed === 'add') text = addTask(file, {title: 'alpha', fields: {id: `added-${n}`, created: mark}});
      else if (deed === 'add child')
        text = addTask(file, {title: 'beta', fields: {id: `child-${n}`, created: mark}}, task);
      else continue;
      if (deed !== 'fill in') marks.push(mark);
    } catch {
      // Refused: what stands below the task leaves no place.
    }
  }
  // A later edit may have replaced the time of an earlier one.
  return {text, marks: marks.filter(mark => text.includes(mark))};
}

const personDeeds = deeds('retitle', 'tick', 'add', 'add child', 'delete', 'move', 'comment', 'prose', 'field');

/** Edits as made with an editor; `lines` are those the person wrote. */
function editTasks(base: string, edits: readonly (readonly [string, number])[]): {text: string; lines: string[]} {
  let text = base;
  const end = base.includes('\r\n') ? '\r\n' : '\n';
  const lines: string[] = [];
  const put = (offset: number, line: string) => {
    lines.push(line.trim());
    text = text.slice(0, offset) + end + line + text.slice(offset);
  };
  for (const [n, [deed, at]] of edits.entries()) {
    const {tasks} = parseTasks(text);
    const task = tasks[at % Math.max(1, tasks.length)];
    if (!task) break;
    const lead = ' '.repeat(task.column);
    const before = text;
    if (deed === 'retitle') text = text.slice(0, task.headEnd) + text.slice(task.headEnd).replace(/^/, ` mine ${n}`);
    else if (deed === 'tick' && task.box) text = `${text.slice(0, task.boxStart)}[x]${text.slice(task.boxStart + 3)}`;
    else if (deed === 'add') put(task.end, `${lead}- [ ] "mine ${n}"`);
    else if (deed === 'add child') put(task.end, `${lead}  - [ ] "mine ${n}"`);
    else if (deed === 'comment') put(task.headEnd, `${lead}  <!-- mine ${n} -->`);
    else if (deed === 'field') put(task.headEnd, `${lead}  mine-${n}: value`);
    else if (deed === 'prose') text = text.replace('Prose.', () => `Prose.${end}mine ${n}`);
    else if (deed === 'delete') text = text.slice(0, task.start) + text.slice(task.end);
    else if (deed === 'move') {
      const lines = text.slice(task.start, task.end);
      text = `${text.slice(0, task.start)}${text.slice(task.end)}${end}${lines}${end}`;
    }
    if (hasErrors(parseTasks(text).problems)) text = before;
  }
  return {text, lines: lines.filter(line => text.includes(line))};
}

function count(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

/** Every line of the person's is in the result as often, but for those of a task's head, whose box may have been set. */
function expectLines(person: string, result: string): void {
  const has = count(result.split(/\r?\n/));
  for (const [line, times] of count(person.split(/\r?\n/)))
    if (line.trim() !== '' && !/^\s*- \[/.test(line) && !/^\s*(?:started|completed|assigned|result):/.test(line))
      expect(has.get(line) ?? 0, `${line}\n\nin\n${result}`).toBeGreaterThanOrEqual(times);
}

describe('a person’s edits and the daemon’s, of any task file', () => {
  it('are both in the result', () => {
    fc.assert(
      fc.property(taskFiles, taskDeeds, personDeeds, (base, daemonEdits, personEdits) => {
        const daemon = actOnTasks(base, daemonEdits);
        const person = editTasks(base, personEdits);
        const {text, conflicts} = merge('tasks', base, person.text, daemon.text);
        expect(hasErrors(parseTasks(text).problems)).toBe(false);
        for (const mark of daemon.marks) expect(text, `${mark}; ${conflicts.join()}`).toContain(mark);
        if (conflicts.length > 0) return;
        for (const line of person.lines) expect(text).toContain(line);
        expectLines(person.text, text);
      }),
      runs(400),
    );
  });

  it('and where only one side changed something, it is that side’s text', () => {
    fc.assert(
      fc.property(taskFiles, taskDeeds, personDeeds, (base, daemonEdits, personEdits) => {
        const daemon = actOnTasks(base, daemonEdits).text;
        const person = editTasks(base, personEdits).text;
        expect(merge('tasks', base, person, base)).toEqual({text: person, conflicts: []});
        expect(merge('tasks', base, base, daemon)).toEqual({text: daemon, conflicts: []});
        expect(merge('tasks', base, daemon, daemon)).toEqual({text: daemon, conflicts: []});
      }),
      runs(50),
    );
  });

  it('land in the right task: titles that stay are those of the same ids', () => {
    fc.assert(
      fc.property(fc.integer({min: 3, max: 9}), taskDeeds, personDeeds, eol, (size, daemonEdits, personEdits, end) => {
        const base = ['## TODO', ...Array.from({length: size}, (_, i) => `- [ ] "task number${i}"`), ''].join(end);
        const daemon = actOnTasks(base, daemonEdits).text;
        const person = editTasks(
          base,
          personEdits.filter(([deed]) => deed !== 'retitle'),
        ).text;
        const {text, conflicts} = merge('tasks', base, person, daemon);
        const fieldsOf = (file: string) =>
          new Map(
            parseTasks(file).tasks.map(task => [task.title, task.fields.map(({key, value}) => `${key}=${value}`)]),
          );
        const [now, later] = [fieldsOf(text), fieldsOf(daemon)];
        if (conflicts.length > 0) return;
        for (const title of fieldsOf(person).keys())
          if (/^task number/.test(title) && later.has(title))
            expect(now.get(title)).toEqual(expect.arrayContaining(later.get(title) ?? []));
      }),
      runs(150),
    );
  });
});

const sessions = fc
  .tuple(
    fc.array(fc.constantFrom('user', 'user time', 'assistant', 'call', 'call2', 'comment', 'block', 'unknown'), {
      minLength: 1,
      maxLength: 8,
    }),
    eol,
    fc.boolean(),
    fc.constantFrom('', 'metadata: {a: 1}', '# end\nnote: x'),
    fc.constantFrom('', '  ', '    '),
  )
  .map(([parts, end, final, foot, lead]) => {
    const lines = ['# mine', 'agent_id: p', 'status: active', `updated: '${time(0)}'`, 'messages:'];
    for (const [i, part] of parts.entries()) {
      const item =
        part === 'user'
          ? ['- role: user', '  content: same words']
          : part === 'user time'
            ? [`- timestamp: '${time(i)}'`, '  role: user', `  content: "words ${i}"`]
            : part === 'assistant'
              ? ['- role: assistant', '  content: |', `    words ${i}`, '', '    more']
              : part === 'comment'
                ? ['# between', '- {role: user, content: flow}']
                : part === 'block'
                  ? ['- role: system', '  content: >-', '    folded', '    words']
                  : part === 'unknown'
                    ? ['- role: user', '  odd: {a: [1, 2]} # kept', '  content: odd']
                    : [
                        '- role: assistant',
                        '  content: null',
                        '  tool_calls:',
                        `  - id: c${i}`,
                        '    function: {name: read_file, arguments: "{}"}',
                        ...(part === 'call2' ? [`  - {id: d${i}, function: {name: x, arguments: '{}'}}`] : []),
                      ];
      lines.push(...item.map(line => (line === '' ? '' : lead + line)));
    }
    if (foot !== '') lines.push(...foot.split('\n'));
    return lines.join(end) + (final ? end : '');
  })
  .filter(text => !hasErrors(parseSession(text).problems));

const sessionDeeds = deeds('append', 'insert', 'start', 'answer', 'status', 'usage');

function actOnSession(base: string, edits: readonly (readonly [string, number])[]): {text: string; marks: string[]} {
  let session: Session = setSessionField(parseSession(base), 'updated', time(50_000));
  const marks: string[] = [];
  for (const [n, [deed, at]] of edits.entries()) {
    const mark = time(100_000 + n);
    const size = session.messages.length;
    const calls = session.messages.flatMap(({tool_calls}, i) => (tool_calls ?? []).map((call, k) => ({i, k, call})));
    const one = calls[at % Math.max(1, calls.length)];
    const message = {timestamp: mark, role: 'assistant' as const, content: `reply ${n}\nof two lines\n`};
    if (deed === 'append') session = appendMessage(session, message);
    else if (deed === 'insert') session = insertMessage(session, at % (size + 1), message);
    else if (deed === 'start' && one && !one.call.started)
      session = setInMessage(session, one.i, ['tool_calls', one.k, 'started'], mark);
    else if (deed === 'answer' && one && !session.messages.some(m => m.tool_call_id === one.call.id))
      session = insertMessage(session, one.i + 1, {
        timestamp: mark,
        role: 'tool_result',
        tool_call_id: one.call.id,
        content: '{}',
      });
    else if (deed === 'status') session = setSessionField(session, 'status', 'waiting');
    else if (deed === 'usage') session = setInMessage(session, at % size, ['usage'], {input_tokens: n});
    else continue;
    if (!['status', 'usage'].includes(deed)) marks.push(mark);
  }
  return {text: sessionText(session), marks};
}

const authorDeeds = deeds('append', 'insert', 'edit', 'delete', 'comment', 'pause', 'key', 'move');

function editSession(base: string, edits: readonly (readonly [string, number])[]): {text: string; lines: string[]} {
  let text = base;
  const end = base.includes('\r\n') ? '\r\n' : '\n';
  const lines: string[] = [];
  for (const [n, [deed, at]] of edits.entries()) {
    const {head, foot, items} = parseSession(text);
    if (!items?.length) break;
    const texts = items.map(item => (item.text.endsWith('\n') ? item.text : item.text + end));
    const index = at % texts.length;
    const lead = (items[0]?.text ?? '').match(/^ */)?.[0] ?? '';
    const added = [`${lead}- role: user`, `${lead}  content: mine ${n}`, ''].join(end);
    const before = text;
    let top = head;
    if (deed === 'append') texts.push(added);
    else if (deed === 'insert') texts.splice(index, 0, added);
    else if (deed === 'edit') texts[index] = (texts[index] ?? '').replace(/words|more|flow|odd$/m, `mine${n}`);
    else if (deed === 'delete' && texts.length > 1) texts.splice(index, 1);
    else if (deed === 'comment') texts[index] += `${lead}  # mine ${n}${end}`;
    else if (deed === 'move') texts.push(...texts.splice(index, 1));
    else if (deed === 'pause') top = head.replace('status: active', 'status: paused');
    else if (deed === 'key') top = head.replace('agent_id', () => `mine${n}: x # mine ${n}${end}agent_id`);
    text = top + texts.join('') + foot;
    if (hasErrors(parseSession(text).problems)) text = before;
    else if (['append', 'insert'].includes(deed)) lines.push(`content: mine ${n}`);
    else if (deed === 'comment') lines.push(`# mine ${n}`);
  }
  return {text, lines: lines.filter(line => text.includes(line))};
}

describe('a person’s edits and the daemon’s, of any session', () => {
  it('are both in the result', () => {
    fc.assert(
      fc.property(sessions, sessionDeeds, authorDeeds, (base, daemonEdits, personEdits) => {
        const daemon = actOnSession(base, daemonEdits);
        const person = editSession(base, personEdits);
        const {text, conflicts} = merge('session', base, person.text, daemon.text);
        const result = parseSession(text);
        expect(result.problems).toEqual([]);
        expect(result.header?.updated).toBe(person.text === base || daemon.text !== base ? time(50_000) : time(0));
        for (const mark of daemon.marks) expect(text, `${mark}; ${conflicts.join()}`).toContain(mark);
        const calls = new Set(result.messages.flatMap(({tool_calls}) => (tool_calls ?? []).map(call => call.id)));
        const late = parseSession(daemon.text).messages.filter(m => m.role === 'tool_result');
        for (const {tool_call_id: id} of late)
          expect(calls.has(id ?? ''), `a result without its call ${id}`).toBe(true);
        if (conflicts.length > 0) return;
        for (const line of person.lines) expect(text).toContain(line);
        const statuses = [person.text, daemon.text].map(one => parseSession(one).header?.status);
        if (statuses[0] === 'paused') expect(result.header?.status).toBe('paused');
        const theirs = parseSession(person.text).messages.length - parseSession(base).messages.length;
        const its = parseSession(daemon.text).messages.length;
        expect(result.messages.length).toBe(its + theirs);
      }),
      runs(400),
    );
  });

  it('and where only one side changed something, it is that side’s text', () => {
    fc.assert(
      fc.property(sessions, sessionDeeds, authorDeeds, (base, daemonEdits, personEdits) => {
        const daemon = actOnSession(base, daemonEdits).text;
        const person = editSession(base, personEdits).text;
        expect(merge('session', base, person, base)).toEqual({text: person, conflicts: []});
        expect(merge('session', base, base, daemon)).toEqual({text: daemon, conflicts: []});
        expect(merge('session', base, daemon, daemon)).toEqual({text: daemon, conflicts: []});
      }),
      runs(50),
    );
  });
});

describe('any texts at all', () => {
  const text = fc.oneof(anyText, linesOf(taskLines), linesOf(yamlLines), linesOf(otherLines), taskFiles, sessions);
  it('never make a merge throw, and one side alone is kept byte for byte', () => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds), text, text, text, (kind: Kind, base, person, daemon) => {
        const {conflicts, text: result} = merge(kind, base, person, daemon);
        expect(typeof result).toBe('string');
        expect(conflicts.every(words => words !== '')).toBe(true);
        expect(merge(kind, base, person, base).text).toBe(person);
        expect(merge(kind, base, base, daemon).text).toBe(daemon);
        expect(merge(kind, base, person, person).text).toBe(person);
        expect(undoesLasting(kind, person, person)).toBe(false);
        expect(findMergeBase(kind, [daemon, base, person], person)).toBeLessThan(3);
        expect(describeEdit(kind, base, person).words).not.toBe('');
      }),
      runs(300),
    );
  });
});
