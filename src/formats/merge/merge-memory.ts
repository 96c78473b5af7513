import {type MergeResult, mergeLines} from './merge-lines.ts';

/** Start of an agent's note: `- 2026-11-16 @scout:`. Its further lines are indented. */
const NOTE = /^- \d{4}-\d\d-\d\d @\S+:(?=\s|$)/;

/** Identify a note by day and agent, which a person who rewords it keeps. */
export function noteKey(line: string): string | undefined {
  return NOTE.exec(line)?.[0];
}

/** Whether a person only removed whole notes: `now` is `before` without these. */
export function onlyLacksNotes(before: string, now: string): boolean {
  const {rest, taken} = withoutNotes(before, notesIn(now));
  return taken.length > 0 && written(rest) === written(now);
}

/**
 * Merge the person's text with notes added since `base`, which go to the end, and other changes line by line. Notes
 * that the person's text already has, as after an earlier merge, are not added again.
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

/** A list below a heading or paragraph starts after a blank line. */
export function withBlankLine(text: string, eol: string): string {
  const last = text.trimEnd().split('\n').at(-1) ?? '';
  return text === '' || /^\s*- |^ {2}/.test(last) || /\n\r?\n$/.test(text) ? '' : eol;
}

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

/** Split into notes, without trailing blank lines, and other lines. */
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

/** Text without blank lines: those around a note come and go with it. */
function written(text: string): string {
  return text
    .split('\n')
    .map(line => line.trimEnd())
    .filter(line => line !== '')
    .join('\n');
}

/** Ignore differences in line ends. */
function plain(note: string): string {
  return note.trimEnd().replaceAll('\r\n', '\n');
}
