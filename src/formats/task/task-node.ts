import {
  type Box,
  type Field,
  type Note,
  type Priority,
  priorityNamed,
  stateOfBox,
  type Task,
  type TaskState,
} from './task.ts';
import {type FieldTable, PRIORITY, TITLE} from './task-fields.ts';
import {NONE, type TaskHead, titleIn} from './task-head.ts';

/** A task during and after parsing. Its fields are created on first use. */
export class TaskNode implements Task {
  readonly line: number;
  readonly start: number;
  readonly column: number;
  readonly box: Box | undefined;
  readonly boxStart: number;
  readonly inTodo: boolean;
  readonly bare: boolean;
  readonly names: readonly string[];
  readonly tags: readonly string[];
  readonly parent: TaskNode | undefined;
  readonly headEnd: number;
  notes: Note[] = NONE;
  children: TaskNode[] = NONE;
  fieldsEnd: number;
  notesEnd: number | undefined = undefined;
  end: number;
  fieldIndent: string | undefined = undefined;
  noteIndent: string | undefined = undefined;
  notesKey = '';
  strays = false;
  /** Column of its first field; -1 before there is one. */
  fieldColumn = -1;
  /** First and last row of its fields in the table. */
  first = -1;
  last = -1;
  /** Bit set of its known fields. */
  low = 0;
  high = 0;
  readonly #title: string;
  readonly #priority: Priority | undefined;
  readonly #inline: readonly Field[];
  readonly #table: FieldTable;
  #fields: readonly Field[] | undefined;

  constructor(
    head: TaskHead,
    table: FieldTable,
    place: {line: number; start: number; column: number; end: number; inTodo: boolean},
    parent: TaskNode | undefined,
  ) {
    this.line = place.line;
    this.start = place.start;
    this.column = place.column;
    this.box = head.box;
    this.boxStart = head.boxStart;
    this.inTodo = place.inTodo;
    this.bare = head.bare;
    this.#priority = head.priority;
    this.names = head.names;
    this.tags = head.tags;
    this.#title = head.title;
    this.parent = parent;
    this.headEnd = place.end;
    this.fieldsEnd = place.end;
    this.end = place.end;
    this.#inline = head.fields;
    this.#table = table;
    if (parent) {
      if (parent.children === NONE) parent.children = [this];
      else parent.children.push(this);
    }
  }

  get state(): TaskState {
    return stateOfBox[this.box ?? ' '];
  }

  get title(): string {
    return this.#title === '' && this.#records(TITLE) ? titleIn(this.value('title') ?? '') : this.#title;
  }

  get priority(): Priority | undefined {
    return this.#priority ?? (this.#records(PRIORITY) ? priorityNamed(this.value('priority') ?? '') : undefined);
  }

  get fields(): readonly Field[] {
    if (this.#fields === undefined) {
      const own = this.first === -1 ? NONE : this.#table.read(this.first);
      this.#fields = this.#inline.length > 0 ? [...this.#inline, ...own] : own;
    }
    return this.#fields;
  }

  value(key: string): string | undefined {
    if (this.#fields) return this.#fields.find(field => field.key === key)?.value;
    const beside = this.#inline.length > 0 ? this.#inline.find(field => field.key === key) : undefined;
    return beside ? beside.value : this.#table.find(this.first, key);
  }

  #records(known: number): boolean {
    return ((known < 30 ? this.low : this.high) & (1 << (known % 30))) !== 0;
  }

  /** Record a known field by its index; returns whether it was recorded before. */
  has(known: number): boolean {
    const bit = 1 << (known % 30);
    if (known < 30) {
      const had = (this.low & bit) !== 0;
      this.low |= bit;
      return had;
    }
    const had = (this.high & bit) !== 0;
    this.high |= bit;
    return had;
  }
}
