import {UserError} from '../common/errors.ts';
import {escapeAll, jsonText, makeVisible, needsEscape} from '../common/visible.ts';
import type {Box, Priority, Task} from './task.ts';

export interface NewNote {
  time: string;
  who: string;
  text: string;
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
  /** For approvals: no hidden character reaches the file unescaped. */
  strict?: boolean;
}

export const KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._/@-]*$/;
const TAG = /^[^\s#][^\s]*$/;

/** Text from an agent must not be able to end its word or line and begin another. */
export function must(pattern: RegExp, word: string, what: string): void {
  if (!pattern.test(word) || needsEscape(word)) throw new UserError(`${jsonText(word)} is not a ${what}`, 4);
}

export function mustNote(note: NewNote): void {
  must(NAME, note.who, 'name');
  must(/^[\dT:.Z+-]+$/, note.time, 'time');
}

export function mustTask(task: NewTask): void {
  must(/^[ _/xX!-]$/, task.box ?? ' ', 'box');
  must(/^[A-D]$/, task.priority ?? 'A', 'priority');
  for (const name of task.names ?? []) must(NAME, name, 'name');
  for (const tag of task.tags ?? []) must(TAG, tag, 'tag');
  for (const key of Object.keys(task.fields ?? {})) must(KEY, key, 'field name');
  for (const note of task.notes ?? []) mustNote(note);
  for (const child of task.children ?? []) mustTask(child);
}

export function inlineValue(value: string): string {
  return /^[^\s":]+$/.test(value) && !needsEscape(value) ? value : jsonText(value);
}

interface FieldStyle {
  /** Allow a block of several lines. */
  block?: boolean;
  /** Escape everything invisible, including joiners. */
  strict?: boolean;
}

/** `key: value` in the plainest form that reads back as exactly `value`. */
export function fieldText(
  key: string,
  value: string,
  indent: string,
  eol: string,
  {block = true, strict = false}: FieldStyle = {},
): string {
  const hides = strict ? makeVisible(value) !== value : needsEscape(value);
  if (!hides && isPlain(value)) return `${key}: ${value}`;
  if (hides || !block || !isBlock(value)) return `${key}: ${strict ? escapeAll(value) : jsonText(value)}`;
  const lines = value.split('\n').map(line => (line === '' ? '' : `${indent}  ${line}`));
  return `${key}: |${eol}${lines.join(eol)}`;
}

function isPlain(value: string): boolean {
  if (value === '' || value.includes('\n')) return false;
  if (value.charCodeAt(0) <= 32 || value.charCodeAt(value.length - 1) <= 32) return false;
  return value[0] !== '"' && !/^\|[+-]?$/.test(value);
}

/** Several lines, at least one not indented, and no blank line at the end. */
function isBlock(value: string): boolean {
  if (!value.includes('\n')) return false;
  const lines = value.split('\n');
  return lines.some(line => /^\S/.test(line)) && lines.at(-1)?.trim() !== '';
}

/** Indent further lines deeper than the dash, so that they cannot begin a note, field or task. */
export function noteText(note: NewNote, dash: string, eol: string): string {
  const lines = makeVisible(note.text, false).trim().split('\n');
  const rest = lines.slice(1).map(line => (line.trim() === '' ? '' : `${dash}  ${line}`));
  return [`${dash}- ${note.time} @${note.who}: ${lines[0] ?? ''}`, ...rest].join(eol);
}

export function taskText(task: NewTask, indent: string, eol: string): string {
  const words = [`[${task.box ?? ' '}]`];
  if (task.priority) words.push(task.priority);
  for (const name of task.names ?? []) words.push(`@${name}`);
  for (const tag of task.tags ?? []) words.push(`#${tag}`);
  words.push(task.strict ? escapeAll(task.title) : jsonText(task.title));
  const inner = `${indent}  `;
  const lines = [`${indent}- ${words.join(' ')}`];
  for (const [key, value] of Object.entries(task.fields ?? {}))
    lines.push(inner + fieldText(key, value, inner, eol, {strict: task.strict === true}));
  if (task.notes?.length) lines.push(`${inner}notes:`, ...task.notes.map(note => noteText(note, `${inner}  `, eol)));
  for (const child of task.children ?? []) lines.push(taskText(child, inner, eol));
  return lines.join(eol);
}

/** Whether this note exists, at any position. */
export function hasNote({notes}: Task, {time, who, text}: NewNote): boolean {
  const words = wordsOf(makeVisible(text, false));
  return notes.some(note => note.time === time && note.who === who && wordsOf(note.text) === words);
}

/** Ignores indentation and line breaks. */
function wordsOf(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
