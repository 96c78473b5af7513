import {makeVisible} from '../../formats/common/visible.ts';
import {textWidth} from '../terminal/table.ts';

/** The text of the prompt, and where the cursor is. */
export interface Editor {
  text: string;
  cursor: number;
  /** Earlier inputs, oldest first. */
  history: readonly string[];
  /** Which of them is shown; `history.length`: the new text. */
  at: number;
  /** The new text, while an earlier one is shown. */
  draft: string;
}

export function newEditor(history: readonly string[] = []): Editor {
  return {text: '', cursor: 0, history, at: history.length, draft: ''};
}

/** Replaces the text; the cursor goes to its end, or where `cursor` says. */
export function withText(editor: Editor, text: string, cursor = text.length): Editor {
  return {...editor, text, cursor};
}

export function inserted(editor: Editor, text: string): Editor {
  const {text: before, cursor} = editor;
  return withText(editor, before.slice(0, cursor) + text + before.slice(cursor), cursor + text.length);
}

const KEPT = 500;

/** The text was sent: the prompt is empty, and the text is the last of the history. */
export function submitted(editor: Editor): Editor {
  const {text, history} = editor;
  const next = history.at(-1) === text || text.trim() === '' ? history : [...history, text].slice(-KEPT);
  return newEditor(next);
}

const segmenter = new Intl.Segmenter(undefined, {granularity: 'grapheme'});

/** Code units of the character before or after a place. */
function stepBack(text: string, at: number): number {
  const line = Math.max(0, text.lastIndexOf('\n', at - 1), at - 64);
  let last = line;
  for (const {index} of segmenter.segment(text.slice(line, at))) last = line + index;
  return at - last;
}

function stepOn(text: string, at: number): number {
  const [first] = segmenter.segment(text.slice(at, at + 64));
  return first?.segment.length ?? 0;
}

/** What a key does to the text; undefined if the key is not for the editor. */
export function pressed(editor: Editor, key: string): Editor | undefined {
  const {text, cursor} = editor;
  const to = (place: number) => ({...editor, cursor: Math.max(0, Math.min(text.length, place))});
  const cut = (from: number, end: number) => withText(editor, text.slice(0, from) + text.slice(end), from);
  const lineStart = startOfLine(text, cursor);
  const newline = text.indexOf('\n', cursor);
  const lineEnd = newline === -1 ? text.length : newline;
  switch (key) {
    case 'newline':
      return inserted(editor, '\n');
    case 'backspace':
      return cursor === 0 ? editor : cut(cursor - stepBack(text, cursor), cursor);
    case 'delete':
      return cut(cursor, cursor + stepOn(text, cursor));
    case 'left':
    case 'ctrl-b':
      return cursor === 0 ? editor : to(cursor - stepBack(text, cursor));
    case 'right':
    case 'ctrl-f':
      return to(cursor + stepOn(text, cursor));
    case 'home':
      return to(lineStart);
    case 'end':
    case 'ctrl-e':
      return to(lineEnd);
    case 'word-left':
      return to(wordStart(text, cursor));
    case 'word-right':
      return to(wordEnd(text, cursor));
    case 'kill-word':
    case 'ctrl-w':
      return cut(wordStart(text, cursor), cursor);
    case 'kill-word-right':
      return cut(cursor, wordEnd(text, cursor));
    case 'ctrl-u':
      return cut(lineStart, cursor);
    case 'ctrl-k':
      return cut(cursor, lineEnd);
    case 'up':
      return lineStart > 0 ? to(above(text, lineStart, columnOf(editor))) : earlier(editor, -1);
    case 'down':
      return lineEnd < text.length ? to(placeAt(text, lineEnd + 1, columnOf(editor))) : earlier(editor, 1);
    case 'ctrl-p':
      return earlier(editor, -1);
    case 'ctrl-n':
      return earlier(editor, 1);
    default:
      return undefined;
  }
}

function wordStart(text: string, cursor: number): number {
  return text.slice(0, cursor).replace(/\S+\s*$/, '').length;
}

function wordEnd(text: string, cursor: number): number {
  return cursor + (/^\s*\S+/.exec(text.slice(cursor))?.[0].length ?? 0);
}

function startOfLine(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
}

/** The cursor's column in its line. */
function columnOf({text, cursor}: Editor): number {
  let column = 0;
  for (const {segment} of segmenter.segment(text.slice(startOfLine(text, cursor), cursor)))
    column += shownWidth(segment);
  return column;
}

/** The place in a line that is nearest to a column. */
function placeAt(text: string, lineStart: number, column: number): number {
  const end = text.indexOf('\n', lineStart);
  let [place, used] = [lineStart, 0];
  for (const {segment} of segmenter.segment(text.slice(lineStart, end === -1 ? text.length : end))) {
    used += shownWidth(segment);
    if (used > column) break;
    place += segment.length;
  }
  return place;
}

function above(text: string, lineStart: number, column: number): number {
  return placeAt(text, startOfLine(text, lineStart - 1), column);
}

function earlier(editor: Editor, step: number): Editor {
  const {history, at, text, draft} = editor;
  const next = at + step;
  if (next < 0 || next > history.length) return editor;
  const shown = next === history.length ? draft : (history[next] ?? '');
  return {...editor, at: next, draft: at === history.length ? text : draft, text: shown, cursor: shown.length};
}

/** The rows of the prompt on the screen, and the cursor's place in them. */
export interface EditorRows {
  rows: string[];
  row: number;
  column: number;
}

/** Breaks the text into rows of at most `width` columns, and keeps those around the cursor. */
export function editorRows({text, cursor}: Editor, width: number, most: number): EditorRows {
  const rows: string[] = [];
  let [row, column] = [0, 0];
  let current = '';
  let used = 0;
  let at = 0;
  const next = () => {
    rows.push(current);
    current = '';
    used = 0;
  };
  for (const {segment} of segmenter.segment(text)) {
    const columns = segment === '\n' ? 0 : shownWidth(segment);
    if (segment !== '\n' && used + columns > width) next();
    if (at === cursor) [row, column] = [rows.length, used];
    if (segment === '\n') next();
    else {
      current += shown(segment);
      used += columns;
    }
    at += segment.length;
  }
  // The cursor needs a column of its own.
  if (at === cursor && used >= width) next();
  if (at === cursor) [row, column] = [rows.length, used];
  rows.push(current);
  const first = Math.max(0, Math.min(row - Math.floor(most / 2), rows.length - most));
  return {rows: rows.slice(first, first + most), row: row - first, column};
}

/** Tabs, control characters and others of a pasted text that would not be seen, as they are shown. */
function shown(segment: string): string {
  if (segment === '\t') return '  ';
  return makeVisible(segment, false) === segment ? segment : '·';
}

function shownWidth(segment: string): number {
  return textWidth(shown(segment));
}
