import {dedent, NOTE} from '../common/task-lines.ts';
import type {LineCursor} from './line-cursor.ts';
import {NONE} from './task-head.ts';
import type {TaskNode} from './task-node.ts';

/** The notes of a task while they are read. */
export interface OpenNotes {
  task: TaskNode;
  /** Of their key. */
  column: number;
  /** Column of the first note's dash, -1 before there is one. */
  dash: number;
  lastLine: number;
}

/** A line under `notes:`. Whatever is deeper than that key is a note, never a task. */
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
    // Words before the first note belong to nobody, but to these lines.
    if (note) note.text += '\n'.repeat(line - mode.lastLine) + dedent(text.slice(start, end), mode.dash + 2);
  }
  mode.lastLine = line;
  mode.task.notesEnd = end;
  mode.task.end = end;
  return true;
}
