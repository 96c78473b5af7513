import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {hasErrors} from '../../src/formats/common/diagnostic.ts';
import {UserError} from '../../src/formats/common/errors.ts';
import {columnOf} from '../../src/formats/common/task-lines.ts';
import {type Box, type Field, fieldOf, stateOfBox, type Task, type TaskFile} from '../../src/formats/task/task.ts';
import {addTask, appendNote, setBox, setTaskField, updateTask} from '../../src/formats/task/task-edit.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {anyText, linesOf, runs, taskLines} from '../arbitrary.ts';
import {changedLines, expectWithin} from '../line-diff.ts';

const files = linesOf(taskLines, 20)
  .map(parseTasks)
  .filter(file => !hasErrors(file.problems) && file.tasks.length > 0);
const chosen = fc.tuple(files, fc.nat()).map(([file, n]) => ({file, index: n % file.tasks.length}));
const nasty = fc.oneof(
  anyText,
  fc.constantFrom(
    '',
    ' ',
    '|',
    '"',
    '"x"',
    '|-',
    '  lead',
    'trail ',
    'a\nb',
    'a\n\nb',
    '\n',
    'a\n',
    ' a\nb',
    'a\n  b\n\tc',
    '- [x] a',
    '## TODO',
    '```',
    '<!--',
    'a: b # c',
    '123',
    'true',
    '2025-01-01',
    'C:\\x',
    '\u202e',
    'a\r\nb',
  ),
);
const boxes = fc.constantFrom<Box>(' ', '_', '/', 'x', '-', '!');

/** Line ends are the file's; a lone surrogate cannot be written as UTF-8. */
function wellFormed(text: string): string {
  return Buffer.from(text.replaceAll('\r\n', '\n')).toString();
}

/** All that a task says, places aside. */
function meaning(task: Task): unknown {
  return {
    state: task.state,
    priority: task.priority,
    names: task.names,
    tags: task.tags,
    title: task.title,
    fields: task.fields.map(f => [f.key, f.value]),
    notes: task.notes.map(({time, who, text}) => ({time, who, text})),
    parent: task.parent?.title,
    depth: task.children.length,
  };
}

function others(file: TaskFile, index: number): unknown[] {
  return file.tasks.filter((_, i) => i !== index).map(meaning);
}

function lastLine(file: TaskFile, offset: number): number {
  return file.text.slice(0, offset).split('\n').length;
}

describe('edits of task files, on arbitrary files', () => {
  it('setBox changes the box and nothing else, on that line only', () => {
    fc.assert(
      fc.property(chosen, boxes, ({file, index}, box) => {
        const task = file.tasks[index] as Task;
        const text = setBox(file, task, box);
        const after = parseTasks(text);
        expect(after.tasks.map(meaning)).toEqual(
          file.tasks.map((t, i) => (i === index ? {...(meaning(t) as object), state: stateOfBox[box]} : meaning(t))),
        );
        expectWithin(file.text, text, task.line, task.line);
      }),
      runs(2000),
    );
  });

  it('setField reads back as exactly the value, whatever it is, and touches no other task or line', () => {
    fc.assert(
      fc.property(
        chosen,
        fc.constantFrom('id2', 'result', 'prompt', 'depends_on', 'command', 'description'),
        nasty,
        ({file, index}, key, value) => {
          const task = file.tasks[index] as Task;
          const clean = wellFormed(value);
          const text = setTaskField(file, task, key, clean);
          const after = parseTasks(text);
          expect(hasErrors(after.problems)).toBe(false);
          expect(fieldOf(after.tasks[index] as Task, key)).toBe(clean);
          expect(others(after, index)).toEqual(others(file, index));
          const kept = (t: Task) => ({
            ...(meaning(t) as object),
            fields: t.fields.filter(f => f.key !== key).map(f => [f.key, f.value]),
          });
          expect(kept(after.tasks[index] as Task)).toEqual(kept(task));
          const old = task.fields.find(f => f.key === key);
          if (old) expectWithin(file.text, text, old.line, lastLine(file, old.end));
          else {
            // A new field: the lines before and after stay as they are.
            const {from, to} = changedLines(file.text, text);
            if (file.text.includes('\n', task.fieldsEnd)) expect(from).toBeGreaterThan(to);
          }
        },
      ),
      runs(4000),
    );
  });

  it('removing a field removes its lines and nothing else', () => {
    fc.assert(
      fc.property(chosen, ({file, index}) => {
        const task = file.tasks[index] as Task;
        // Without its title a task is another parent to its children.
        for (const field of task.fields.filter(({key}) => key !== 'title')) {
          let text: string;
          try {
            text = setTaskField(file, task, field.key, undefined);
          } catch (error) {
            // Refused where the lines around it would be read otherwise.
            expect(error).toBeInstanceOf(UserError);
            continue;
          }
          const after = parseTasks(text);
          expect(after.tasks.length).toBe(file.tasks.length);
          expect(others(after, index)).toEqual(others(file, index));
          const first = task.fields.indexOf(task.fields.find(f => f.key === field.key) as Field);
          expect((after.tasks[index] as Task).fields.map(f => [f.key, f.value])).toEqual(
            task.fields.filter((_, i) => i !== first).map(f => [f.key, f.value]),
          );
          // Another one added at once takes nothing else with it.
          const both = parseTasks(updateTask(file, task, {fields: {[field.key]: undefined, added: 'new'}}));
          expect(others(both, index)).toEqual(others(file, index));
          expect((both.tasks[index] as Task).fields.map(f => [f.key, f.value])).toEqual([
            ...task.fields.filter((_, i) => i !== first).map(f => [f.key, f.value]),
            ['added', 'new'],
          ]);
        }
      }),
      runs(1500),
    );
  });

  it('appendNote adds one note, whatever its text, and nothing in it becomes a task, a field or a box', () => {
    fc.assert(
      fc.property(chosen, nasty, ({file, index}, words) => {
        const task = file.tasks[index] as Task;
        const last = task.children.at(-1);
        // The one layout with no place for notes: fields deeper than the last child. It is refused.
        fc.pre(!last || !task.fieldIndent || last.column >= columnOf(task.fieldIndent));
        const text = appendNote(file, task, {time: '2025-10-04T10:00:00.000Z', who: 'planner-001', text: words});
        const after = parseTasks(text);
        const now = after.tasks[index] as Task;
        expect(others(after, index)).toEqual(others(file, index));
        expect({...(meaning(now) as object), notes: 0}).toEqual({...(meaning(task) as object), notes: 0});
        expect(now.notes.slice(0, -1).map(n => n.text)).toEqual(task.notes.map(n => n.text));
        expect(now.notes.at(-1)).toMatchObject({time: '2025-10-04T10:00:00.000Z', who: 'planner-001'});
      }),
      runs(3000),
    );
  });

  it('addTask adds exactly one task, at the end of TODO or under its parent', () => {
    fc.assert(
      fc.property(chosen, nasty, nasty, fc.boolean(), ({file, index}, title, prompt, nested) => {
        const parent = nested ? file.tasks[index] : undefined;
        const clean = wellFormed;
        const text = addTask(
          file,
          {
            title: clean(title),
            priority: 'B',
            names: ['executor-001'],
            tags: ['x'],
            fields: {id: 'task-new', prompt: clean(prompt)},
          },
          parent,
        );
        const after = parseTasks(text);
        const at = after.tasks.findIndex(task => fieldOf(task, 'id') === 'task-new');
        const made = after.tasks[at] as Task;
        expect(made).toMatchObject({
          title: clean(title),
          priority: 'B',
          names: ['executor-001'],
          tags: ['x'],
          state: 'pending',
        });
        expect(fieldOf(made, 'prompt')).toBe(clean(prompt));
        expect(made.parent?.title).toBe(parent?.title);
        const strip = (value: unknown) => ({...(value as object), depth: 0});
        expect(others(after, at).map(strip)).toEqual(file.tasks.map(meaning).map(strip));
      }),
      runs(3000),
    );
  });

  it('does several things at once', () => {
    const file = parseTasks('## TODO\r\n\r\n- [ ] A @planner-001 "Plan"\r\n  id: task-1\r\n\r\nprose\r\n');
    const [task] = file.tasks;
    const text = updateTask(file, task as Task, {
      box: 'x',
      fields: {completed: '2025-10-04T10:05:00.000Z', result: 'two\nlines'},
      note: {time: '2025-10-04T10:05:00.000Z', who: 'planner-001', text: 'done'},
    });
    expect(text).toBe(
      '## TODO\r\n\r\n- [x] A @planner-001 "Plan"\r\n  id: task-1\r\n  completed: 2025-10-04T10:05:00.000Z\r\n  result: |\r\n    two\r\n    lines\r\n  notes:\r\n    - 2025-10-04T10:05:00.000Z @planner-001: done\r\n\r\nprose\r\n',
    );
  });

  it('puts a first note in the place of the last field', () => {
    const note = {time: '2025-10-04T10:05:00.000Z', who: 'human', text: 'again'};
    for (const end of ['', '\n', '\n\nprose\n', '\n  - [ ] "b"\n']) {
      const file = parseTasks(`- [!] "a"\n  id: a\n  assigned: today${end}`);
      const text = updateTask(file, file.tasks[0] as Task, {box: ' ', fields: {assigned: undefined}, note});
      expect(text).toBe(`- [ ] "a"\n  id: a\n  notes:\n    - ${note.time} @human: again${end}`);
    }
  });

  it('warns of a field that is a letter away from a known one, and of no other', () => {
    const {problems} = parseTasks('- [ ] "a"\n  depnds_on: x\n  colour: red\n  Note: prose\n');
    expect(problems).toMatchObject([{code: 'LIKELY_TYPO', line: 2, column: 3, hint: 'did you mean "depends_on"?'}]);
  });

  it('refuses names, tags, keys and authors that could begin a line or a word of their own', () => {
    const file = parseTasks('## TODO\n- [ ] "a"\n');
    const task = file.tasks[0] as Task;
    for (const key of ['a b', 'a\n- [x] injected', '', 'a:'])
      expect(() => setTaskField(file, task, key, 'x')).toThrow(UserError);
    expect(() => appendNote(file, task, {time: '2025-10-04T10:00:00.000Z', who: 'a\n- [x] b', text: 'x'})).toThrow(
      UserError,
    );
    expect(() => addTask(file, {title: 'x', names: ['a "']})).toThrow(UserError);
    expect(() => addTask(file, {title: 'x', tags: ['a\nb']})).toThrow(UserError);
  });

  it('refuses to edit a file with errors', () => {
    const file = parseTasks('## TODO\n- [ ] "a"\n```\n');
    expect(() => setBox(file, file.tasks[0] as Task, 'x')).toThrow(/not edited/);
  });
});
