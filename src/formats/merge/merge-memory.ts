import {type MergeResult, mergeLines} from './merge-lines.ts';

/** How a note begins that an agent left: `- 2026-11-16 @scout:`. Its other lines are indented. */
const NOTE = /^- \d{4}-\d\d-\d\d @\S+:(?=\s|$)/;

/** A person who rewords a note leaves its day and its agent: by these it is known. */
export function noteKey(line: string): string | undefined {
  return NOTE.exec(line)?.[0];
}

/** Whether `now` is `before` without some of its notes, whole, and with nothing else changed: a person took them out. */
export function onlyLacksNotes(before: string, now: string): boolean {
  const {rest, taken} = withoutNotes(before, notesIn(now));
  return taken.length > 0 && written(rest) === written(now);
}

/**
 * The person's text, with the notes at its end that were added since `base`, and whatever else was changed line by line.
 * A note of `daemon` that the person's text has too, as after an earlier merge, is not added again.
 */
export function mergeMemory(base: string, person: string, daemon: string): MergeResult {
  const {rest, taken} = withoutNotes(daemon, notesIn(base));
  const merged = written(rest) === written(base) ? {text: person, conflicts: []} : mergeLines(base, person, rest);
  const has = notesIn(merged.text);
  const missing = taken.filter(note => !takeNote(has, note));
  if (missing.length === 0) return merged;
  const {text} = merged;
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const gap = text === '' || text.endsWith('\n') ? '' : eol;
  return {
    ...merged,
    text: `${text}${gap}${withBlankLine(text, eol)}${missing.map(note => `${plain(note)}\n`.replaceAll('\n', eol)).join('')}`,
  };
}

/** A list below a heading or a paragraph begins after a blank line. */
export function withBlankLine(text: string, eol: string): string {
  const last = text.trimEnd().split('\n').at(-1) ?? '';
  return text === '' || /^\s*- |^ {2}/.test(last) || /\n\r?\n$/.test(text) ? '' : eol;
}

/** How often each note stands there, all its lines as one. */
function notesIn(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const part of partsOf(text))
    if (part.isNote) counts.set(plain(part.text), (counts.get(plain(part.text)) ?? 0) + 1);
  return counts;
}

function withoutNotes(text: string, kept: Map<string, number>): {rest: string; taken: string[]} {
  const taken: string[] = [];
  let rest = '';
  for (const part of partsOf(text)) {
    if (!part.isNote || takeNote(kept, part.text)) rest += part.text;
    else taken.push(part.text);
  }
  return {rest, taken};
}

function takeNote(counts: Map<string, number>, note: string): boolean {
  const key = plain(note);
  const count = counts.get(key) ?? 0;
  if (count > 0) counts.set(key, count - 1);
  return count > 0;
}

/** The text cut into notes, without blank lines at their ends, and lines of anything else. */
function* partsOf(text: string): Generator<{text: string; isNote: boolean}> {
  let note = '';
  let blank = '';
  for (const [line] of text.matchAll(/[^\n]*\n|[^\n]+$/g)) {
    if (note !== '' && line.trim() === '') {
      blank += line;
      continue;
    }
    if (note !== '' && /^ {2}/.test(line)) {
      note += blank + line;
      blank = '';
      continue;
    }
    if (note !== '') yield {text: note, isNote: true};
    if (blank !== '') yield {text: blank, isNote: false};
    [note, blank] = ['', ''];
    if (noteKey(line) !== undefined) note = line;
    else yield {text: line, isNote: false};
  }
  if (note !== '') yield {text: note, isNote: true};
  if (blank !== '') yield {text: blank, isNote: false};
}

/** Without its blank lines: those around a note come and go with it. */
function written(text: string): string {
  return text
    .split('\n')
    .map(line => line.trimEnd())
    .filter(line => line !== '')
    .join('\n');
}

/** One note is the same with other line ends, and with none at the end of the file. */
function plain(note: string): string {
  return note.trimEnd().replaceAll('\r\n', '\n');
}
