import {headingText} from '../../formats/common/task-lines.ts';

/** A part of a text that is found and shown as a unit. */
export interface Passage {
  /** Offsets into the text. */
  start: number;
  end: number;
  /** Line numbers, from 1. */
  first: number;
  last: number;
  /** Headings above it, and those of further sections in it: `Redis › After a crash · Backup`. */
  trail: string;
}

/** A Markdown passage of this many characters ends with its paragraph or section; shorter sections share a passage. */
const ENOUGH = 900;
const MAX_PASSAGE = 2400;
/** For other text: lines per passage, and how many of them repeat the end of the passage before. */
const LINES = 30;
const OVERLAP = 5;
const LONGEST_TITLE = 120;

interface Line {
  start: number;
  /** Start of the next line. */
  end: number;
  number: number;
}

/** Generate the passages of a text, so that the caller can yield in between. Takes linear time for any text. */
export function passagesOf(text: string, isMarkdown: boolean): Generator<Passage> {
  return isMarkdown ? markdownPassages(text) : linePassages(text);
}

function* linesOf(text: string): Generator<Line> {
  let number = 0;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline + 1;
    number++;
    // Each piece of a very long line counts as a line.
    for (let from = start; from < end; ) {
      const to = cutAt(text, from, end);
      yield {start: from, end: to, number};
      from = to;
    }
    start = end;
  }
}

function cutAt(text: string, from: number, end: number): number {
  if (end - from <= MAX_PASSAGE) return end;
  const code = text.charCodeAt(from + MAX_PASSAGE);
  return from + MAX_PASSAGE - (code >= 0xdc00 && code <= 0xdfff ? 1 : 0);
}

function* linePassages(text: string): Generator<Passage> {
  let block: Line[] = [];
  let fresh = 0;
  const passage = () => makePassage(text, block, '');
  for (const line of linesOf(text)) {
    const first = block[0];
    if (first && (block.length >= LINES || line.end - first.start > MAX_PASSAGE)) {
      const done = passage();
      if (done) yield done;
      block = block.slice(-OVERLAP);
      while (block[0] && line.end - block[0].start > MAX_PASSAGE) block.shift();
      fresh = 0;
    }
    block.push(line);
    fresh++;
  }
  const rest = fresh > 0 ? passage() : undefined;
  if (rest) yield rest;
}

/** Split at headings, and between paragraphs once a passage is long enough. */
function* markdownPassages(text: string): Generator<Passage> {
  const titles: {depth: number; title: string}[] = [];
  const here = () => titles.map(({title}) => title).join(' › ');
  let trail = '';
  let block: Line[] = [];
  let fence: string | undefined;
  /** Whether the block has more than headings. */
  let hasBody = false;
  const flush = (): Passage | undefined => {
    const done = makePassage(text, block, trail);
    block = [];
    hasBody = false;
    trail = here();
    return done;
  };
  for (const line of linesOf(text)) {
    const content = text.slice(line.start, line.end).trimEnd();
    const size = line.start - (block[0]?.start ?? line.start);
    const heading = fence === undefined ? /^ {0,3}(#{1,6})(?=[ \t]|$)/.exec(content) : null;
    const ends = size >= ENOUGH && fence === undefined && (content === '' || (heading !== null && hasBody));
    if (ends || line.end - (block[0]?.start ?? line.start) > MAX_PASSAGE) {
      const done = flush();
      if (done) yield done;
    }
    if (heading) {
      const depth = heading[1]?.length ?? 1;
      while ((titles.at(-1)?.depth ?? 0) >= depth) titles.pop();
      const title = headingText(content.slice(heading[0].length)).slice(0, LONGEST_TITLE);
      titles.push({depth, title});
      trail = hasBody ? `${trail} · ${title}` : here();
    } else if (fence !== undefined) {
      if (content.trimStart().startsWith(fence) && /^\s*([`~])\1*$/.test(content)) fence = undefined;
    } else fence = /^ {0,3}(```+(?=[^`]*$)|~~~+)/.exec(content)?.[1];
    if (!heading && content !== '') hasBody = true;
    if (block.length > 0 || content !== '') block.push(line);
  }
  const rest = flush();
  if (rest) yield rest;
}

/** Trim empty lines at both ends; undefined if nothing is left. */
function makePassage(text: string, block: readonly Line[], trail: string): Passage | undefined {
  const from = block.findIndex(({start, end}) => text.slice(start, end).trim() !== '');
  const first = block[from];
  const last = block.findLast(({start, end}) => text.slice(start, end).trim() !== '');
  if (!first || !last) return undefined;
  return {start: first.start, end: last.end, first: first.number, last: last.number, trail};
}
