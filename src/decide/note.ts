import {withBlankLine} from '../formats/merge/merge-memory.ts';

/** Whatever any reader takes for the end of a line: what follows must be indented, or it would look like a note of somebody else. */
const LINE_END = /\r\n?|[\n\v\f\u0085\u2028\u2029]/g;

/** The text of a memory file with one more note at its end: a list item that says who and when. */
export function withNote(text: string, note: {text: string; agent: string; day: string}): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const [first = '', ...rest] = note.text.replace(LINE_END, '\n').trim().split('\n');
  const lines = [`- ${note.day} @${note.agent}: ${first}`, ...rest.map(line => (line === '' ? '' : `  ${line}`))];
  const gap = text === '' || text.endsWith('\n') ? '' : eol;
  return `${text}${gap}${withBlankLine(text, eol)}${lines.join(eol)}${eol}`;
}
