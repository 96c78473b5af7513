import {withBlankLine} from '../formats/merge/merge-memory.ts';

/** Anything that a reader may treat as a line end. Following text is indented, or it could pass for another note. */
const LINE_END = /\r\n?|[\n\v\f\u0085\u2028\u2029]/g;

/** Append a note to a memory file, as a list item with date and agent. */
export function withNote(text: string, note: {text: string; agent: string; day: string}): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const [first = '', ...rest] = note.text.replace(LINE_END, '\n').trim().split('\n');
  const lines = [`- ${note.day} @${note.agent}: ${first}`, ...rest.map(line => (line === '' ? '' : `  ${line}`))];
  const gap = text === '' || text.endsWith('\n') ? '' : eol;
  return `${text}${gap}${withBlankLine(text, eol)}${lines.join(eol)}${eol}`;
}
