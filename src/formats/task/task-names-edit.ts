import {refuseErrors} from '../common/diagnostic.ts';
import {exit, UserError} from '../common/errors.ts';
import {type Splice, splice} from '../common/lines.ts';
import {jsonText} from '../common/visible.ts';
import type {Task, TaskFile} from './task.ts';
import {refuseWrongTask} from './task-edit.ts';
import {NAME_WORD} from './task-head.ts';
import {parseTasks} from './task-parse.ts';

/**
 * Replace the names before the title, at the place of the first one. Only the names on the task's own line change;
 * throws if the rest of the line would then be read differently.
 */
export function setTaskNames(file: TaskFile, task: Task, names: readonly string[]): string {
  refuseErrors(file.problems);
  refuseWrongTask(file, task);
  for (const name of names)
    if (!NAME_WORD.test(`@${name}`)) throw new UserError(`${jsonText(name)} is not a name`, exit.badFile);
  if (isSame(names, task.names)) return file.text;
  const {text} = file;
  const splices = splicesFor(text, task, names.map(name => `@${name}`).join(' '));
  const edited = splice(text, splices);
  const grown = splices.reduce((sum, {start, end, insert}) => sum + insert.length - (end - start), 0);
  const [now, second] = readLine(edited, task, task.headEnd + grown);
  const [before] = readLine(text, task, task.headEnd);
  const kept = now && !second && before && besidesNames(now) === besidesNames(before);
  if (!kept || !isSame(now.names, names))
    throw new UserError(
      `the line of "${task.title}" would be read otherwise with these names`,
      exit.badFile,
      'quote its title, in an editor',
    );
  return edited;
}

function splicesFor(text: string, task: Task, written: string): Splice[] {
  const {words, at} = namesAndTags(text, task);
  const [first, ...others] = words.filter(({start}) => text[start] === '@');
  if (first && written !== '') return [{...first, insert: written}, ...others.map(word => without(text, task, word))];
  if (first) return [first, ...others].map(word => without(text, task, word));
  if (at < task.headEnd) return [{start: at, end: at, insert: `${written} `}];
  const gap = text[at - 1] === ' ' || text[at - 1] === '\t' ? '' : ' ';
  return [{start: at, end: at, insert: gap + written}];
}

interface Word {
  start: number;
  end: number;
}

/** The words between priority and title, which are names and tags, and where the first may go. */
function namesAndTags(text: string, task: Task): {words: Word[]; at: number} {
  const {boxStart, headEnd} = task;
  const boxWidth = task.box === undefined ? 0 : task.bare ? 1 : 3;
  let at = afterGap(text, boxStart + boxWidth, headEnd);
  if (/^[A-D]$/.test(text[at] ?? '') && (at + 1 >= headEnd || isGap(text[at + 1])))
    at = afterGap(text, at + 1, headEnd);
  const words: Word[] = [];
  for (let start = at; words.length < task.names.length + task.tags.length; ) {
    let end = start;
    while (end < headEnd && !isGap(text[end])) end++;
    words.push({start, end});
    start = afterGap(text, end, headEnd);
  }
  return {words, at};
}

/** Remove a word with the gap after it; at the end of the line, with the gap before it. */
function without(text: string, {headEnd}: Task, {start, end}: Word): Splice {
  const next = afterGap(text, end, headEnd);
  if (next < headEnd || next > end) return {start, end: next, insert: ''};
  while (isGap(text[start - 1])) start--;
  return {start, end, insert: ''};
}

function afterGap(text: string, at: number, end: number): number {
  while (at < end && isGap(text[at])) at++;
  return at;
}

function isGap(char: string | undefined): boolean {
  return char === ' ' || char === '\t';
}

/** Parse the line of a task alone: what follows depends only on the column of its dash. */
function readLine(text: string, {start, inTodo}: Task, end: number): readonly Task[] {
  return parseTasks(`${inTodo ? '## TODO\n' : ''}${text.slice(start, end).replace(/^\ufeff/, '')}\n`).tasks;
}

function besidesNames({box, bare, priority, tags, title, fields, column}: Task): string {
  return JSON.stringify([box, bare, priority, tags, title, fields.map(({key, value}) => [key, value]), column]);
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, i) => name === b[i]);
}
