import {closesFence, fenceMark, headingText, isLookalike, isRule, keyEnd} from '../common/task-lines.ts';
import {LineCursor} from './line-cursor.ts';
import type {TaskFile} from './task.ts';
import {DUE, FieldTable, ID, keyNamed, knownKey, NOTES} from './task-fields.ts';
import {closingQuote, decodeString, NO_HEAD, readTaskHead} from './task-head.ts';
import {TaskNode} from './task-node.ts';
import {type OpenNotes, readNote} from './task-note-lines.ts';
import {TaskProblems} from './task-problems.ts';

/** The construct that a line is part of. `line`: where it began, for the message if it never ends. */
type Mode =
  | {in: 'text'}
  | {in: 'fence'; mark: string; line: number; task: TaskNode | undefined; item: number}
  | {in: 'comment'; line: number; task: TaskNode | undefined}
  | {in: 'block'; task: TaskNode; row: number; column: number}
  | (OpenNotes & {in: 'notes'});

const TEXT: Mode = {in: 'text'};

/** Must not throw. One pass over the lines, in linear time. */
export function parseTasks(text: string): TaskFile {
  return new Scanner(text).scan();
}

class Scanner extends LineCursor {
  readonly tasks: TaskNode[] = [];
  readonly problems = new TaskProblems();
  readonly table: FieldTable;
  /** Open tasks, each nested in the previous one. */
  stack: TaskNode[] = [];
  /** Items with an unclear box, which are no tasks, and the task that each is part of. */
  readonly holders = new Map<TaskNode, TaskNode | undefined>();
  mode: Mode = TEXT;
  inTodo = false;
  todoEnd: number | undefined;
  afterTask = false;

  constructor(text: string) {
    super(text);
    this.table = new FieldTable(text);
  }

  scan(): TaskFile {
    const {text} = this;
    while (this.advance()) this.readLine();
    this.leave();
    if (this.mode.in === 'fence' && this.mode.item === -1) this.problems.unclosedFence(this.mode.line, this.mode.mark);
    else if (this.mode.in === 'comment') this.problems.unclosedComment(this.mode.line);
    for (const task of this.tasks.toReversed())
      if (task.parent && task.end > task.parent.end) (task.parent as TaskNode).end = task.end;
    return {text, tasks: this.tasks, problems: this.problems.list(), todoEnd: this.todoEnd};
  }

  readLine(): void {
    const blank = this.at === this.end;
    const {mode} = this;
    if (mode.in !== 'text' && this.continues(mode, blank)) {
      if (!blank && this.inTodo) this.todoEnd = this.end;
      return;
    }
    if (blank) {
      this.afterTask = false;
      return;
    }
    const code = this.text.charCodeAt(this.at);
    if (code === 35 && this.column < 4 && this.readHeading()) return;
    if (this.inTodo) this.todoEnd = this.end;
    if ((code === 96 || code === 126) && this.readFence(this.at)) return;
    if (code === 60 && this.text.startsWith('<!--', this.at)) {
      const task = this.own();
      if (!this.rest().includes('-->')) this.mode = {in: 'comment', line: this.line, task};
      return;
    }
    if (
      code === 45 &&
      (this.at + 1 === this.end || this.text.charCodeAt(this.at + 1) <= 32) &&
      !isRule(this.text, this.at, this.end)
    ) {
      this.readItem();
      return;
    }
    this.readField();
  }

  /** Whether the line continues the current mode; leaves the mode if not. */
  continues(mode: Exclude<Mode, {in: 'text'}>, blank: boolean): boolean {
    if (mode.in === 'fence') {
      // A fence inside a list item ends with the item.
      if (!blank && this.column <= mode.item) {
        this.mode = TEXT;
        return false;
      }
      if (!blank && closesFence(this.text, this.at, this.end, mode.mark)) this.mode = TEXT;
      if (mode.task) this.extend(mode.task);
      return true;
    }
    if (mode.in === 'comment') {
      if (this.rest().includes('-->')) this.mode = TEXT;
      if (mode.task) this.extend(mode.task);
      return true;
    }
    if (blank) return true;
    if (mode.in === 'notes' && this.column >= mode.column && readNote(this, mode)) return true;
    if (mode.in === 'block' && this.column > mode.column) {
      this.table.extend(mode.row, this.end);
      mode.task.fieldsEnd = this.end;
      this.extend(mode.task);
      return true;
    }
    this.leave();
    return false;
  }

  leave(): void {
    if (this.mode.in === 'block' || this.mode.in === 'notes') this.mode = TEXT;
  }

  /** Read a code fence that opens at `from`, on its own line or as the content of a list item. */
  readFence(from: number): boolean {
    const mark = fenceMark(this.text, from, this.end);
    if (mark === undefined) return false;
    const task = this.own();
    this.mode = {in: 'fence', mark, line: this.line, task, item: from === this.at ? -1 : this.column};
    return true;
  }

  readHeading(): boolean {
    const {text, end} = this;
    let at = this.at;
    while (at < end && text.charCodeAt(at) === 35) at++;
    const level = at - this.at;
    if (level > 6 || (at < end && text.charCodeAt(at) > 32)) return false;
    // An indented heading under a task is prose of that task.
    if (this.column > 0 && this.stack.some(task => task.column < this.column)) return false;
    this.stack = [];
    const heading = headingText(text.slice(at, end));
    // `# --- Name ---` is a comment of the to-do tool, which divides the section.
    if (level === 2) this.inTodo = /^TODO:?(?:\s*\(.*\))?$/i.test(heading);
    else if (level === 1 && !heading.startsWith('---')) this.inTodo = false;
    if (this.inTodo) this.todoEnd = end;
    return true;
  }

  /** Close tasks that do not contain this column; returns the task that does, if any. */
  close(): TaskNode | undefined {
    const {stack} = this;
    let top = stack[stack.length - 1];
    while (top && top.column >= this.column) {
      stack.pop();
      top = stack[stack.length - 1];
    }
    return top;
  }

  own(): TaskNode | undefined {
    const top = this.close();
    if (top) this.extend(top);
    return top;
  }

  extend(task: TaskNode): void {
    task.end = this.end;
    const holder = this.holders.get(task);
    if (holder) this.extend(holder);
  }

  readItem(): void {
    const content = this.text.slice(this.at + 1, Math.min(this.end, this.at + 12)).trimStart();
    if (/^(?:```|~~~)/.test(content) && this.readFence(this.text.indexOf(content.slice(0, 3), this.at))) return;
    const head = readTaskHead(this.text, this.at + 1, this.end, this.inTodo, this.start, this.line);
    const above = this.close();
    const parent = above && this.holders.has(above) ? this.holders.get(above) : above;
    if ('badBox' in head) {
      const close = this.text.indexOf(']', head.at) + 1;
      if (above) this.extend(above);
      if (head.lookalike && !head.badBox) this.problems.lookalike(this.place(head.at));
      if (!head.badBox) return;
      this.problems.badBox(this.place(head.at), this.text.slice(head.at, close), this.text.charAt(close));
      // Not a task, but the fields below it are no other task's.
      const unclear = new TaskNode(NO_HEAD, this.table, this, undefined);
      this.holders.set(unclear, parent);
      this.stack.push(unclear);
      return;
    }
    const task = new TaskNode(head, this.table, this, parent);
    for (const field of head.fields) this.checkKnown(task, knownKey(field.key, 0, field.key.length), field);
    this.tasks.push(task);
    this.stack.push(task);
    this.afterTask = true;
  }

  readField(): void {
    const {text, end, at} = this;
    const code = text.charCodeAt(at);
    if (code <= 57 && isLookalike(text, at, end)) this.problems.lookalike(this.place(at));
    const colon = keyEnd(text, at, end);
    const previous = this.stack.at(-1);
    const owner = this.close();
    if (colon === -1 || !owner) {
      if (colon !== -1 && previous && this.afterTask && knownKey(text, at, colon) !== -1)
        this.problems.misaligned(this.place(at), previous.title, false);
      if (owner) this.extend(owner);
      this.afterTask = false;
      return;
    }
    this.extend(owner);
    if (owner.fieldColumn === -1) {
      owner.fieldColumn = this.column;
      owner.fieldIndent = text.slice(this.start, at);
    } else if (owner.fieldColumn !== this.column && this.column !== owner.column + 2) {
      owner.strays = true;
      if (knownKey(text, at, colon) !== -1) this.problems.misaligned(this.place(at), owner.title, true);
      return;
    }
    // New fields go to the column where they are accepted in any case.
    if (this.column === owner.column + 2 && owner.fieldColumn !== this.column)
      owner.fieldIndent = text.slice(this.start, at);
    this.addField(owner, colon);
  }

  addField(owner: TaskNode, colon: number): void {
    const {text, at, end, line} = this;
    let valueStart = colon + 1;
    while (valueStart < end && text.charCodeAt(valueStart) <= 32) valueStart++;
    const known = knownKey(text, at, colon);
    if (known === NOTES && valueStart === end && owner.noteIndent === undefined) {
      owner.notesEnd = end;
      owner.noteIndent = '';
      owner.notesKey = text.slice(this.start, at);
      this.mode = {in: 'notes', task: owner, column: this.column, dash: -1, lastLine: line};
      return;
    }
    const first = text.charCodeAt(valueStart);
    const block = first === 124 && /^\|[+-]?[ \t]*$/.test(text.slice(valueStart, end));
    const row = this.table.add(owner.last, at, colon, valueStart, end, line, known, block);
    if (owner.first === -1) owner.first = row;
    owner.last = row;
    owner.fieldsEnd = end;
    if (block) this.mode = {in: 'block', task: owner, row, column: this.column};
    else if (first === 34) this.checkString(valueStart);
    if (known === -1) this.problems.checkUnknown(this.place(at), text.slice(at, colon));
    else
      this.checkKnown(owner, known, {
        line,
        column: at - this.start + 1,
        value: known === ID || known === DUE ? this.table.value(row) : '',
      });
  }

  /** Check that known fields are unique in a task, ids unique in the file, and due dates valid. */
  checkKnown(task: TaskNode, known: number, field: {line: number; column: number; value: string}): void {
    if (known === -1) return;
    if (task.has(known)) this.problems.duplicate(field, keyNamed(known), task.line);
    if (known === ID) this.problems.checkId(field, field.value, task.line);
    else if (known === DUE) this.problems.checkDue(field, field.value);
  }

  checkString(start: number): void {
    const raw = this.text.slice(start, this.end).trimEnd();
    if (closingQuote(raw, 0, raw.length) === raw.length - 1 && decodeString(raw) === undefined)
      this.problems.badString(this.place(start));
  }
}
