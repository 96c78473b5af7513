import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, it} from 'vitest';
import {hasErrors} from '../../src/formats/common/diagnostic.ts';
import {fieldOf, stringifyTasks, type Task} from '../../src/formats/task/task.ts';
import {addTask, appendNote, setBox, setTaskField} from '../../src/formats/task/task-edit.ts';
import {setTaskNames} from '../../src/formats/task/task-names-edit.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {changedLines} from '../line-diff.ts';

const corpus = fileURLToPath(new URL('../../../shared/corpus/todo-tool/', import.meta.url));
const isThere = existsSync(corpus);
if (!isThere) console.warn(`skipped: the files of the to-do tool are not in ${corpus}`);

const textOf = (name: string) => readFileSync(join(corpus, name), 'utf8');
const fieldsOf = (task: Task) => Object.fromEntries(task.fields.map(({key, value}) => [key, value]));
/** Line, parent's line, state, priority, names, tags, title, fields. */
const told = (task: Task) => [
  task.line,
  task.parent?.line,
  task.state,
  task.priority,
  task.names.join(' '),
  task.tags.join(' '),
  task.title,
  fieldsOf(task),
];

describe.skipIf(!isThere)('files of the to-do tool', () => {
  it('todo.task.md: every task is found, with its state, title and fields', () => {
    const file = parseTasks(textOf('todo.task.md'));
    expect(file.problems).toEqual([]);
    expect(file.tasks.map(told)).toEqual([
      [9, undefined, 'pending', 'A', 'Alice', 'planning', 'Prepare roadmap', {due: '2025-10-05', weight: '10'}],
      [10, undefined, 'pending', 'B', 'Alice Bob', 'backend', 'Refactor auth service', {effort: '5h'}],
      [11, undefined, 'pending', 'C', '', '', 'Unassigned title task with no prefixes', {}],
      [12, undefined, 'completed', undefined, '', '', 'Completed item using x macro only', {}],
      [13, undefined, 'skipped', undefined, '', '', 'Skipped item with dash prefix', {}],
      [17, undefined, 'pending', 'A', 'Bob', 'infra urgent', 'Server migration', {due: '2025-12-01'}],
      [18, undefined, 'completed', 'B', 'Carol', 'finance', 'Close Q4 budgets', {}],
      [19, undefined, 'pending', 'D', 'Dave', 'loweffort', 'Water office plants', {}],
      [
        23,
        undefined,
        'pending',
        'B',
        '',
        '',
        'Write documentation',
        {title: '`Write documentation`', priority: 'B', effort: '2h'},
      ],
      [
        27,
        undefined,
        'pending',
        'A',
        'Alice',
        'game',
        'Plan "game engine" features',
        {
          title: '`Plan "game engine" features`',
          due: '2025-10-05',
          weight: '10',
          description:
            'Plan the architecture for the game engine:\n  - ECS system\n  - Rendering backend\n  - Asset pipeline',
          notes: 'Review team document.\nEnsure compatibility with existing tools.',
        },
      ],
      [
        42,
        undefined,
        'pending',
        'B',
        'Eve',
        'ecs',
        'Design ECS system',
        {description: 'Design an entity-component-system suitable\nfor the engine.'},
      ],
      [46, 42, 'pending', 'C', '', 'ecs', 'Define Components', {}],
      [47, 46, 'pending', 'D', '', '', 'Investigate memory layout options', {}],
      [51, undefined, 'pending', undefined, '', '', '', {due: '2026-01-01', weight: '3', customField: 'foo'}],
      [55, undefined, 'pending', 'A', '', '', 'Task with "escaped" quotes and `backticks`', {tags: 'cool'}],
      [56, undefined, 'pending', undefined, '', 'tagonly', 'Tag prefix first, no other macros', {}],
      [57, undefined, 'pending', undefined, 'Frank', '', 'Stakeholder-only prefix', {}],
      [
        61,
        undefined,
        'completed',
        undefined,
        'Grace',
        '',
        '',
        {effort: '3h', notes: "Forgot to add a title, but that's okay.\nTitle will be undefined or null."},
      ],
    ]);
  });

  it('example.task.md: a second section too, and nothing of the prose between them', () => {
    const file = parseTasks(textOf('example.task.md'));
    expect(hasErrors(file.problems)).toBe(false);
    expect(file.tasks.map(task => [task.state, task.priority, task.title])).toEqual([
      ['completed', 'A', 'Fix authentication bug'],
      ['pending', 'B', 'Review security patch'],
      ['pending', 'C', 'Test on staging'],
      ['pending', 'C', 'Update documentation'],
      ['pending', 'B', 'Optimize database queries'],
      ['completed', 'A', 'Completed task example'],
      ['skipped', undefined, 'Skipped task example'],
      ['pending', undefined, 'Unquoted title with spaces followed by key: value'],
      ['pending', 'A', 'B @Alice "Multiple priorities on same line"'],
      ['pending', undefined, 'Bad indentation'],
      ['pending', undefined, 'Valid task'],
    ]);
    expect(fieldsOf(file.tasks[0] as Task)).toEqual({
      due: '2025-10-01',
      weight: '10',
      description: 'The login system is failing for users with special\ncharacters in their passwords.',
      notes: 'Check with security team before deploying.',
    });
    expect(fieldsOf(file.tasks[2] as Task)).toEqual({effort: '2h'});
    expect(fieldsOf(file.tasks.at(-1) as Task)).toEqual({another_key: '# This should be fine'});
  });

  describe.each(isThere ? readdirSync(corpus).filter(name => name.endsWith('.task.md')) : [])('%s', name => {
    const text = isThere ? textOf(name) : '';
    const file = parseTasks(text);
    const others = (edited: string, but: number) => parseTasks(edited).tasks.filter((_, i) => i !== but);
    const meaning = (task: Task) => told(task).slice(2);

    it('stays byte for byte', () => expect(stringifyTasks(file)).toBe(text));

    it.each([
      ['its box', (task: Task) => setBox(file, task, '/')],
      ['a field', (task: Task) => setTaskField(file, task, 'assigned', '2026-01-01T00:00:00.000Z')],
      ['a note', (task: Task) => appendNote(file, task, {time: '2026-01-01T00:00:00.000Z', who: 'ann', text: 'seen'})],
      ['its names', (task: Task) => setTaskNames(file, task, ['ann'])],
    ])('an edit of one task (%s) leaves every other line as it is', (_, edit) => {
      for (const [i, task] of file.tasks.entries()) {
        const edited = edit(task);
        expect(edited, task.title).not.toBe(text);
        expect(others(edited, i).map(meaning), task.title).toEqual(others(text, i).map(meaning));
        const {from, to, added} = changedLines(text, edited);
        expect(to - from, task.title).toBeLessThanOrEqual(0);
        expect(added.length, task.title).toBeLessThanOrEqual(to < from ? 2 : 3);
      }
    });

    it('gets a new task at the end of its list', () => {
      const edited = addTask(file, {title: 'new'});
      expect(edited.replace(/[\r\n]*- \[ \] "new"/, '')).toBe(text);
      expect(parseTasks(edited).tasks.length).toBe(file.tasks.length + 1);
    });
  });
});

describe('what the to-do tool writes', () => {
  const one = (line: string) => parseTasks(`## TODO\n${line}\n`).tasks[0] as Task;

  it.each([
    ['- [ ] title: Bare words, as they are due: 2026-01-01', 'Bare words, as they are'],
    ['- [ ] title: `say: this` effort: 2h', 'say: this'],
    ['- [ ] title: "a \\"b\\""', 'a "b"'],
    ["- [ ]\n  title: 'quoted'", 'quoted'],
    ['- [ ] "line" \n  title: field', 'line'],
    ['- [ ] Redis: is it up?', 'Redis: is it up?'],
    ['- [ ] description: mend the typo in it', 'description: mend the typo in it'],
    ['- [ ] effort: 3h', 'effort: 3h'],
    ['- [ ] `C:\\dir\\`', 'C:\\dir\\'],
    ['- [ ] `a \\` b` due: 2026-01-01', 'a ` b'],
    ['- [ ] ``a ` b``', 'a ` b'],
  ])('%s', (line, title) => expect(one(line).title).toBe(title));

  it('a priority in a field, also by its name, counts where none is on the line', () => {
    expect(one('- [ ] "a"\n  priority: high').priority).toBe('A');
    expect(one('- [ ] C "a"\n  priority: A').priority).toBe('C');
    expect(one('- [ ] "a"\n  priority: 7').priority).toBeUndefined();
  });

  it('only a comment of the tool, not a title of its own, stands inside the section', () => {
    const titles = (heading: string) => parseTasks(`## TODO\n- a\n${heading}\n- b\n`).tasks.map(task => task.title);
    expect(titles('# --- Later ---')).toEqual(['a', 'b']);
    expect(titles('### Later')).toEqual(['a', 'b']);
    expect(titles('# Later')).toEqual(['a']);
    expect(titles('## Later')).toEqual(['a']);
    expect(titles('## TODO (later)')).toEqual(['a', 'b']);
    expect(fieldOf(one('- due: 2026-01-01'), 'due')).toBe('2026-01-01');
  });
});
