import {refuseErrors} from '../common/diagnostic.ts';
import {UserError} from '../common/errors.ts';
import {lineEnd, type Splice, splice} from '../common/lines.ts';
import {columnOf, isNoteLine} from '../common/task-lines.ts';
import type {Box, Field, Task, TaskFile} from './task.ts';
import {parseTasks} from './task-parse.ts';
import {
  fieldText,
  inlineValue,
  KEY,
  must,
  mustNote,
  mustTask,
  type NewNote,
  type NewTask,
  noteText,
  taskText,
} from './task-text.ts';

/** Changes of a task. A field set to undefined is removed. */
export interface TaskChange {
  box?: Box;
  fields?: Readonly<Record<string, string | undefined>>;
  note?: NewNote;
}

export function setBox(file: TaskFile, task: Task, box: Box): string {
  return updateTask(file, task, {box});
}

export function setTaskField(file: TaskFile, task: Task, key: string, value: string | undefined): string {
  return updateTask(file, task, {fields: {[key]: value}});
}

export function appendNote(file: TaskFile, task: Task, note: NewNote): string {
  return updateTask(file, task, {note});
}

/** Return the new text; only changed lines differ. */
export function updateTask(file: TaskFile, task: Task, change: TaskChange): string {
  const {text} = file;
  const edited = updateTasks(file, [[task, change]]);
  if (!change.note) return edited;
  const grown = edited.length - text.length;
  refuseUnless(parseWindow(edited, task, task.end + grown).tasks[0]?.notes.length === task.notes.length + 1, task);
  return edited;
}

/** Update several tasks at once. */
export function updateTasks(file: TaskFile, changes: Iterable<readonly [Task, TaskChange]>): string {
  refuseErrors(file.problems);
  const splices: Splice[] = [];
  for (const [task, change] of changes) {
    refuseWrongTask(file, task);
    splices.push(...splicesFor(file.text, task, change));
  }
  return splice(file.text, splices);
}

/** Throws if the task itself has an error, such as a field or an id that stands twice. */
export function refuseWrongTask({problems}: TaskFile, {line}: Task): void {
  refuseErrors(problems.flatMap(({task, ...problem}) => (task === line ? [problem] : [])));
}

function splicesFor(text: string, task: Task, change: TaskChange): Splice[] {
  for (const key of Object.keys(change.fields ?? {})) must(KEY, key, 'field name');
  if (change.note) mustNote(change.note);
  const eol = lineEnd(text);
  const indent = fieldIndent(text, task);
  const splices: Splice[] = [];
  const added: [string, string][] = [];
  if (change.box !== undefined) splices.push(boxSplice(task, change.box));
  for (const [key, value] of Object.entries(change.fields ?? {})) {
    const old = task.fields.find(field => field.key === key);
    if (old && value !== undefined) splices.push(replaceField(text, old, value, eol));
    else if (old) splices.push(removeField(text, task, old));
    else if (value !== undefined) added.push([key, value]);
  }
  const lines = added.map(([key, value], i) => {
    // A block as the last new line would swallow deeper lines that follow.
    const swallows = i === added.length - 1 && lineAfter(text, task.fieldsEnd).column > columnOf(indent);
    return indent + fieldText(key, value, indent, eol, {block: !swallows});
  });
  const note = change.note && noteSplice(text, task, change.note, indent, eol, added.length > 0);
  // If the last field is removed, new lines below the fields take its place.
  const gone = splices.find(
    ({start, end, insert}) => insert === '' && text[start - 1] === '\n' && end >= task.fieldsEnd,
  );
  const takesPlace = gone && note?.start === task.fieldsEnd;
  if (takesPlace) lines.push(note.insert.slice(eol.length));
  else if (note) splices.push(note);
  if (gone && lines.length > 0) gone.insert = lines.join(eol) + (gone.end > task.fieldsEnd ? eol : '');
  else if (lines.length > 0)
    splices.unshift({start: task.fieldsEnd, end: task.fieldsEnd, insert: eol + lines.join(eol)});
  return splices;
}

/** Append a note below the others; put the first one where `notes:` swallows no other line. */
function noteSplice(text: string, task: Task, note: NewNote, indent: string, eol: string, fixed: boolean): Splice {
  if (task.notesEnd !== undefined) {
    return {
      start: task.notesEnd,
      end: task.notesEnd,
      insert: eol + noteText(note, task.noteIndent || `${task.notesKey}  `, eol),
    };
  }
  const next = lineAfter(text, task.fieldsEnd);
  const column = columnOf(indent);
  const clear = next.start >= task.end || next.column < column || (next.column === column && !isNoteLine(next.text));
  if (clear) return firstNote(task.fieldsEnd, note, indent, eol);
  // Below the children nothing follows that could be swallowed.
  const last = task.children.at(-1);
  const below = last && task.fieldIndent === undefined && !fixed ? leadOf(text, last) : indent;
  refuseUnless(!last || last.column >= columnOf(below), task);
  return firstNote(task.end, note, below, eol);
}

function firstNote(at: number, note: NewNote, indent: string, eol: string): Splice {
  return {start: at, end: at, insert: `${eol}${indent}notes:${eol}${noteText(note, `${indent}  `, eol)}`};
}

/** Parse a task and its children alone, to check an edit. */
function parseWindow(text: string, task: Task, end: number): TaskFile {
  return parseTasks(`${task.inTodo ? '## TODO\n' : ''}${text.slice(task.start, end)}\n`);
}

function refuseUnless(holds: boolean, task: Task): void {
  if (!holds)
    throw new UserError(
      `the lines below "${task.title}" have no room for this`,
      4,
      'align its fields and children, in an editor',
    );
}

/** The next non-blank line below the line of `offset`. */
function lineAfter(text: string, offset: number): {start: number; column: number; text: string} {
  for (let newline = text.indexOf('\n', offset); newline !== -1; ) {
    const end = text.indexOf('\n', newline + 1);
    const line = text.slice(newline + 1, end === -1 ? text.length : end);
    if (line.trim() !== '') return {start: newline + 1, column: columnOf(line), text: line.trim()};
    newline = end;
  }
  return {start: text.length, column: 0, text: ''};
}

/** Add a task at the end of `## TODO` (created if missing), or as the last child of `parent`. */
export function addTask(file: TaskFile, task: NewTask, parent?: Task): string {
  return addTasks(file, [task], parent);
}

export function addTasks(file: TaskFile, tasks: readonly NewTask[], parent?: Task): string {
  refuseErrors(file.problems);
  for (const task of tasks) mustTask(task);
  const {text} = file;
  const eol = lineEnd(text);
  if (parent) return addChildren(text, tasks, parent, eol);
  const lines = tasks.map(task => taskText(task, '', eol)).join(eol + eol);
  if (file.todoEnd !== undefined && lineAfter(text, file.todoEnd).column > 0) {
    throw new UserError(
      'what follows "## TODO" is indented and would become part of the new task',
      4,
      'remove the white space before the next heading',
    );
  }
  if (file.todoEnd !== undefined)
    return splice(text, [{start: file.todoEnd, end: file.todoEnd, insert: eol + eol + lines}]);
  const gap = text === '' || text === '\ufeff' ? '' : text.endsWith('\n') ? eol : eol + eol;
  return `${text}${gap}## TODO${eol}${eol}${lines}${eol}`;
}

function addChildren(text: string, tasks: readonly NewTask[], parent: Task, eol: string): string {
  const indent = childIndent(text, parent);
  const lines = tasks.map(task => eol + taskText(task, indent, eol)).join('');
  const edited = splice(text, [{start: parent.end, end: parent.end, insert: lines}]);
  const childrenIn = (whole: string, end: number) => parseWindow(whole, parent, end).tasks[0]?.children.length ?? 0;
  const before = childrenIn(text, parent.end);
  refuseUnless(childrenIn(edited, parent.end + lines.length) === before + tasks.length, parent);
  return edited;
}

/** Not deeper than the last child, which would own it, nor than the fields, where a block or notes would swallow it. */
export function childIndent(text: string, parent: Task): string {
  const last = parent.children.at(-1);
  const choices = [parent.fieldIndent, last && leadOf(text, last)].filter(choice => choice !== undefined);
  return choices.sort((a, b) => columnOf(a) - columnOf(b))[0] ?? fieldIndent(text, parent);
}

export function leadOf(text: string, task: Task): string {
  return text.slice(task.start, text.indexOf('-', task.start)).replace(/^\ufeff/, '');
}

/** Indentation of its fields; by default two columns, or that of the lines already below it. */
function fieldIndent(text: string, task: Task): string {
  if (task.fieldIndent !== undefined) return task.fieldIndent;
  const usual = `${leadOf(text, task)}  `;
  const next = lineAfter(text, task.headEnd);
  if (next.start >= task.end || next.column <= columnOf(usual)) return usual;
  return text.slice(next.start, text.indexOf(next.text, next.start));
}

function boxSplice(task: Task, box: Box): Splice {
  const at = task.boxStart;
  if (task.box === undefined) return {start: at, end: at, insert: `[${box}] `};
  return task.bare ? {start: at, end: at + 1, insert: `[${box}]`} : {start: at + 1, end: at + 2, insert: box};
}

function replaceField(text: string, field: Field, value: string, eol: string): Splice {
  if (field.form === 'inline') {
    const gap = field.valueStart === field.end && text[field.valueStart - 1] === ':' ? ' ' : '';
    return {start: field.valueStart, end: field.end, insert: gap + inlineValue(value)};
  }
  const own = text.slice(text.lastIndexOf('\n', field.start - 1) + 1, field.start);
  const swallows = lineAfter(text, field.end).column > columnOf(own);
  return {start: field.start, end: field.end, insert: fieldText(field.key, value, own, eol, {block: !swallows})};
}

function removeField(text: string, task: Task, field: Field): Splice {
  let start = field.start;
  if (field.form === 'inline') {
    while (text[start - 1] === ' ' || text[start - 1] === '\t') start--;
    if (!isReadWithout(text, task, field, start)) throw cannotRemove(field);
    return {start, end: field.end, insert: ''};
  }
  start = text.lastIndexOf('\n', field.start - 1) + 1;
  // The field may be all that separates deeper lines below from a block, notes or child above.
  const above = text.slice(0, start).trimEnd().length;
  const open =
    task.notesEnd === above ||
    task.children.some(child => child.start < field.start) ||
    task.fields.some(
      other => other.form === 'block' && text.slice(other.start, other.end).trimEnd().length + other.start === above,
    );
  const lines = task.fields.filter(other => other.form !== 'inline');
  const mixed = task.strays || lines.some(other => other.column !== field.column);
  const first = mixed && lines[0] === field;
  if (first || (open && lineAfter(text, field.end).column > columnOf(text.slice(start, field.start))))
    throw cannotRemove(field);
  const newline = text.indexOf('\n', field.end);
  return {start, end: newline === -1 ? text.length : newline + 1, insert: ''};
}

/** Whether the task's line keeps its other fields without this one: on a line without a title, a known field comes first. */
function isReadWithout(text: string, task: Task, field: Field, from: number): boolean {
  const [now] = parseWindow(text.slice(0, from) + text.slice(field.end), task, task.headEnd - (field.end - from)).tasks;
  const others = task.fields.filter(other => other.form === 'inline' && other !== field);
  return now !== undefined && sameFields(now.fields, others);
}

function sameFields(a: readonly Field[], b: readonly Field[]): boolean {
  return a.length === b.length && a.every(({key, value}, i) => key === b[i]?.key && value === b[i]?.value);
}

function cannotRemove({key}: Field): UserError {
  return new UserError(`removing "${key}" would change how the lines around it are read`, 4, 'remove it in an editor');
}
