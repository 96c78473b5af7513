import {UserError} from '../errors.ts';
import {hasErrors} from './diagnostic.ts';
import {lineEnd, type Splice, splice} from './lines.ts';
import type {Box, Field, Priority, Task, TaskFile} from './task.ts';
import {jsonText, makeVisible, needsEscape} from './visible.ts';

export interface NewNote {
  time: string;
  who: string;
  text: string;
}

/** What may change about a task at once. A field set to undefined is removed. */
export interface TaskChange {
  box?: Box;
  fields?: Readonly<Record<string, string | undefined>>;
  note?: NewNote;
}

export interface NewTask {
  title: string;
  box?: Box;
  priority?: Priority;
  names?: readonly string[];
  tags?: readonly string[];
  fields?: Readonly<Record<string, string>>;
  notes?: readonly NewNote[];
  children?: readonly NewTask[];
}

export function setBox(file: TaskFile, task: Task, box: Box): string {
  return updateTask(file, task, {box});
}

export function setField(file: TaskFile, task: Task, key: string, value: string | undefined): string {
  return updateTask(file, task, {fields: {[key]: value}});
}

export function appendNote(file: TaskFile, task: Task, note: NewNote): string {
  return updateTask(file, task, {note});
}

/** The new text; only the lines of what is changed differ. */
export function updateTask(file: TaskFile, task: Task, change: TaskChange): string {
  refuseBroken(file);
  const {text} = file;
  const eol = lineEnd(text);
  const indent = fieldIndent(text, task);
  const splices: Splice[] = [];
  const added: string[] = [];
  if (change.box !== undefined) splices.push(boxSplice(task, change.box));
  for (const [key, value] of Object.entries(change.fields ?? {})) {
    const old = task.fields.find(field => field.key === key);
    if (old && value !== undefined) splices.push(replaceField(text, old, value, indent, eol));
    else if (old) splices.push(removeField(text, old));
    else if (value !== undefined) added.push(indent + fieldText(key, value, indent, eol));
  }
  if (change.note) {
    const at = task.notesEnd;
    const dash = task.noteIndent || `${indent}  `;
    const lines = noteText(change.note, dash, eol);
    if (at === undefined) added.push(`${indent}notes:`, lines);
    else splices.push({start: at, end: at, insert: eol + lines});
  }
  if (added.length > 0) splices.push({start: task.fieldsEnd, end: task.fieldsEnd, insert: eol + added.join(eol)});
  return splice(text, splices);
}

/** A new task at the end of `## TODO` (made if missing), or as the last child of `parent`. */
export function addTask(file: TaskFile, task: NewTask, parent?: Task): string {
  refuseBroken(file);
  const {text} = file;
  const eol = lineEnd(text);
  if (parent) {
    // Not deeper than the parent's fields: below a block or notes it would be read as part of them.
    const indent =
      parent.fieldIndent ?? (parent.children[0] ? leadOf(text, parent.children[0]) : fieldIndent(text, parent));
    return splice(text, [{start: parent.end, end: parent.end, insert: eol + taskText(task, indent, eol)}]);
  }
  const lines = taskText(task, '', eol);
  if (file.todoEnd !== undefined)
    return splice(text, [{start: file.todoEnd, end: file.todoEnd, insert: eol + eol + lines}]);
  const gap = text === '' || text === '\ufeff' ? '' : text.endsWith('\n') ? eol : eol + eol;
  return `${text}${gap}## TODO${eol}${eol}${lines}${eol}`;
}

function refuseBroken(file: TaskFile): void {
  if (hasErrors(file.problems))
    throw new UserError('a file with errors is not edited', 4, 'mend it first: agentdir check');
}

function leadOf(text: string, task: Task): string {
  return text.slice(task.start, text.indexOf('-', task.start)).replace(/^\ufeff/, '');
}

function fieldIndent(text: string, task: Task): string {
  return task.fieldIndent ?? `${leadOf(text, task)}  `;
}

function boxSplice(task: Task, box: Box): Splice {
  const at = task.boxStart;
  if (task.box === undefined) return {start: at, end: at, insert: `[${box}] `};
  return task.bare ? {start: at, end: at + 1, insert: `[${box}]`} : {start: at + 1, end: at + 2, insert: box};
}

function replaceField(text: string, field: Field, value: string, indent: string, eol: string): Splice {
  if (field.form === 'inline') {
    const gap = field.valueStart === field.end && text[field.valueStart - 1] === ':' ? ' ' : '';
    return {start: field.valueStart, end: field.end, insert: gap + inlineValue(value)};
  }
  return {start: field.start, end: field.end, insert: fieldText(field.key, value, indent, eol)};
}

function removeField(text: string, field: Field): Splice {
  let start = field.start;
  if (field.form === 'inline') {
    while (text[start - 1] === ' ' || text[start - 1] === '\t') start--;
    return {start, end: field.end, insert: ''};
  }
  start = text.lastIndexOf('\n', field.start - 1) + 1;
  const newline = text.indexOf('\n', field.end);
  return {start, end: newline === -1 ? text.length : newline + 1, insert: ''};
}

function inlineValue(value: string): string {
  return /^[^\s":]+$/.test(value) && !needsEscape(value) ? value : jsonText(value);
}

/** `key: value` in the plainest form that reads back as exactly `value`. */
export function fieldText(key: string, value: string, indent: string, eol: string): string {
  if (isPlain(value)) return `${key}: ${value}`;
  if (!isBlock(value)) return `${key}: ${jsonText(value)}`;
  const lines = value.split('\n').map(line => (line === '' ? '' : `${indent}  ${line}`));
  return `${key}: |${eol}${lines.join(eol)}`;
}

function isPlain(value: string): boolean {
  if (value === '' || value.includes('\n') || needsEscape(value)) return false;
  if (value.charCodeAt(0) <= 32 || value.charCodeAt(value.length - 1) <= 32) return false;
  return value[0] !== '"' && !/^\|[+-]?$/.test(value);
}

/** Several lines, one of them not indented, and no blank line at the end. */
function isBlock(value: string): boolean {
  if (!value.includes('\n') || needsEscape(value)) return false;
  const lines = value.split('\n');
  return lines.some(line => /^\S/.test(line)) && lines.at(-1)?.trim() !== '';
}

/** Further lines are indented deeper than the dash, so that nothing in them can begin a note, a field or a task. */
function noteText(note: NewNote, dash: string, eol: string): string {
  const lines = makeVisible(note.text, false).trim().split('\n');
  const rest = lines.slice(1).map(line => (line.trim() === '' ? '' : `${dash}  ${line}`));
  return [`${dash}- ${note.time} @${note.who}: ${lines[0] ?? ''}`, ...rest].join(eol);
}

function taskText(task: NewTask, indent: string, eol: string): string {
  const words = [`[${task.box ?? ' '}]`];
  if (task.priority) words.push(task.priority);
  for (const name of task.names ?? []) words.push(`@${name}`);
  for (const tag of task.tags ?? []) words.push(`#${tag}`);
  words.push(jsonText(task.title));
  const inner = `${indent}  `;
  const lines = [`${indent}- ${words.join(' ')}`];
  for (const [key, value] of Object.entries(task.fields ?? {})) lines.push(inner + fieldText(key, value, inner, eol));
  if (task.notes?.length) lines.push(`${inner}notes:`, ...task.notes.map(note => noteText(note, `${inner}  `, eol)));
  for (const child of task.children ?? []) lines.push(taskText(child, inner, eol));
  return lines.join(eol);
}
