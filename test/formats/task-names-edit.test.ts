import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {hasErrors} from '../../src/formats/common/diagnostic.ts';
import {UserError} from '../../src/formats/common/errors.ts';
import type {Task} from '../../src/formats/task/task.ts';
import {setTaskNames} from '../../src/formats/task/task-names-edit.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {anyText, linesOf, runs, taskLines} from '../arbitrary.ts';
import {expectWithin} from '../line-diff.ts';

/** Lines of tasks put together from any parts, so that names stand in every place and beside every kind of title. */
const heads = fc
  .tuple(
    fc.constantFrom('- ', '-   ', '  - ', '\t- ', '-\t'),
    fc.constantFrom('', '[ ] ', '[x]  ', '[/]\t', 'x ', '- ', '[ ]'),
    fc.constantFrom('', 'A ', 'D\t'),
    fc.array(fc.constantFrom('@a', '@b-1', '#t', '#u', '@c@pr-1', '@h/d'), {maxLength: 5}),
    fc.constantFrom(' ', '  ', '\t'),
    fc.constantFrom('', 'bare', '"q" id: x due: 2025-01-01', '`t`', "'s' k: v", 'x', 'A', '- -', '[ ] y', '@!', '## h'),
    fc.constantFrom('', ' ', '\t'),
  )
  .map(([dash, box, priority, words, gap, title, end]) => dash + box + priority + [...words, title].join(gap) + end);
const made = fc
  .tuple(fc.array(heads, {minLength: 1, maxLength: 4}), fc.constantFrom('\n', '\r\n'), fc.constantFrom('', '\ufeff'))
  .map(([lines, eol, bom]) => `${bom}## TODO${eol}${lines.join(`${eol}  k: v${eol}`)}${eol}prose`);
const files = fc
  .oneof(linesOf(taskLines, 20), made)
  .map(parseTasks)
  .filter(file => !hasErrors(file.problems) && file.tasks.length > 0);
const names = fc.array(fc.constantFrom('a', 'z9', 'executor-001', 'coder@pr-1', 'buildbox/coder'), {maxLength: 3});

/** All that the file says, names and places aside. */
function rest(tasks: readonly Task[]): unknown {
  return tasks.map(({box, bare, priority, tags, title, fields, notes, parent, children, column}) => ({
    ...{box, bare, priority, tags, title, column, parent: parent?.title, children: children.length},
    fields: fields.map(({key, value}) => [key, value]),
    notes: notes.map(({text}) => text),
  }));
}

/** A line without its words for names, and its gaps alike. */
function bare(line: string): string {
  return line.replaceAll(/[ \t]+/g, ' ').trimEnd();
}

describe('setNames, on arbitrary files', () => {
  it('reads back as exactly these names; only that line changes, and of it only the names', () => {
    let edited = 0;
    fc.assert(
      fc.property(files, fc.nat(), names, (file, n, wanted) => {
        const index = n % file.tasks.length;
        const task = file.tasks[index] as Task;
        let text: string;
        try {
          text = setTaskNames(file, task, wanted);
        } catch (error) {
          // Only without any name may what follows be read as something else.
          expect(error).toBeInstanceOf(UserError);
          expect(wanted).toEqual([]);
          return;
        }
        edited++;
        const after = parseTasks(text);
        expect(after.tasks.map(one => one.names)).toEqual(file.tasks.map((t, i) => (i === index ? wanted : t.names)));
        expect(rest(after.tasks)).toEqual(rest(file.tasks));
        expect(after.problems.length).toBe(file.problems.length);
        expectWithin(file.text, text, task.line, task.line);
        const line = (of: string) => of.split('\n')[task.line - 1] ?? '';
        const strip = (of: string, words: readonly string[]) =>
          words.reduce((all, name) => all.replace(`@${name}`, ' '), of);
        expect(bare(strip(line(text), wanted))).toBe(bare(strip(line(file.text), task.names)));
        // Box, title and fields byte for byte: the edit ends where the title begins.
        const tail = (of: string, from: readonly string[]) => {
          const last = Math.max(0, ...from.map(word => of.lastIndexOf(word) + word.length));
          return of.slice(last).trimStart();
        };
        if (task.tags.length === 0 && wanted.length > 0 && task.names.length > 0)
          expect(tail(line(text), [`@${wanted.at(-1)}`])).toBe(tail(line(file.text), [`@${task.names.at(-1)}`]));
      }),
      runs(6000),
    );
    expect(edited).toBeGreaterThan(100);
  });

  it('the same names: the same text', () => {
    fc.assert(
      fc.property(files, fc.nat(), (file, n) => {
        const task = file.tasks[n % file.tasks.length] as Task;
        expect(setTaskNames(file, task, task.names)).toBe(file.text);
      }),
      runs(500),
    );
  });

  it('a name is one word, whatever is given', () => {
    const file = parseTasks('- [ ] @a "x"\n');
    fc.assert(
      fc.property(anyText, text => {
        const wanted = text.trim();
        try {
          expect(parseTasks(setTaskNames(file, file.tasks[0] as Task, [wanted])).tasks[0]?.names).toEqual([wanted]);
        } catch (error) {
          expect(error).toBeInstanceOf(UserError);
        }
      }),
      runs(1000),
    );
  });

  it.each([
    ['- [ ] A @a #t "x" id: y', ['b'], '- [ ] A @b #t "x" id: y'],
    ['- [ ] A #t @a  @c "x"', ['b'], '- [ ] A #t @b  "x"'],
    ['- [ ] A #t "x"', ['b', 'c'], '- [ ] A @b @c #t "x"'],
    ['- [x]', ['b'], '- [x] @b'],
    ['- [ ] @a', [], '- [ ]'],
    ['- [ ] @a  bare @c title ', ['b'], '- [ ] @b  bare @c title '],
  ])('%s', (before, wanted, after) => {
    const file = parseTasks(`${before}\n`);
    expect(setTaskNames(file, file.tasks[0] as Task, wanted)).toBe(`${after}\n`);
  });

  it('refuses a file with errors, and a line that would be read otherwise', () => {
    const wrong = parseTasks('## TODO\n- [ ] @a "x"\n```\n');
    expect(() => setTaskNames(wrong, wrong.tasks[0] as Task, ['b'])).toThrow(/not edited/);
    const priority = parseTasks('- [ ] @a B or not\n');
    expect(() => setTaskNames(priority, priority.tasks[0] as Task, [])).toThrow(/otherwise/);
  });
});
