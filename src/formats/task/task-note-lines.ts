import {dedent, NOTE} from '../common/task-lines.ts';
import type {LineCursor} from './line-cursor.ts';
import {NONE} from './task-head.ts';
import type {TaskNode} from './task-node.ts';

/** State while reading the notes of a task. */
export interface OpenNotes {
  task: TaskNode;
  /** Column of the key `notes:`. */
  column: number;
  /** Column of the first note's dash; -1 before there is one. */
  dash: number;
  lastLine: number;
}

/** Read a line under `notes:`. Everything deeper than that key is a note, never a task. */
export function readNote(cursor: LineCursor, mode: OpenNotes): boolean {
  const {text, at, start, end, column, line} = cursor;
  const isDash = text.charCodeAt(at) === 45 && (at + 1 >= end || text.charCodeAt(at + 1) <= 32);
  if (column === mode.column && !(isDash && NOTE.test(text.slice(at, Math.min(end, at + 200))))) return false;
  if (isDash && (mode.dash === -1 || column <= mode.dash)) {
    if (mode.dash === -1) {
      mode.dash = column;
      mode.task.noteIndent = text.slice(start, at);
    }
    const note = NOTE.exec(text.slice(at, end));
    const plain = text.slice(at + 1, end).trim();
    if (mode.task.notes === NONE) mode.task.notes = [];
    mode.task.notes.push({
      time: note?.[1],
      who: note?.[2],
      text: note ? (note[3] ?? '').trimEnd() : plain,
      line,
    });
  } else {
    const note = mode.task.notes.at(-1);
    // Text before the first note belongs to no note.
    if (note) note.text += '\n'.repeat(line - mode.lastLine) + dedent(text.slice(start, end), mode.dash + 2);
  }
  mode.lastLine = line;
  mode.task.notesEnd = end;
  mode.task.end = end;
  return true;
}
