import type {Nodes, Root, RootContent} from 'mdast';
import remarkParse from 'remark-parse';
import {unified} from 'unified';
import {headingText} from './task-lines.ts';

/** A heading and its content, up to the next heading of the same or a higher level. Offsets into the text. */
export interface Section {
  depth: number;
  title: string;
  line: number;
  start: number;
  bodyStart: number;
  end: number;
}

export interface Outline {
  /** YAML between the `---` lines at the top. */
  front: {start: number; end: number; bodyStart: number} | undefined;
  sections: Section[];
}

const FRONT = /^\ufeff?---[ \t]*\r?\n/;

/**
 * Headings of a text, except those in fences, comments or front matter. A line scanner, because remark takes far more
 * than linear time on hostile text (64 KB of "1. " take a minute); remark reads only sections with structure.
 */
export function readOutline(text: string): Outline {
  const sections: Section[] = [];
  const front = readFront(text);
  let fence: string | undefined;
  let comment = false;
  let line = front ? text.slice(0, front.bodyStart).split('\n').length - 1 : 0;
  for (let start = front?.bodyStart ?? 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const next = newline === -1 ? text.length : newline + 1;
    const content = text
      .slice(start, next)
      .replace(/^\ufeff/, '')
      .trimEnd();
    line++;
    if (fence !== undefined) {
      if (closes(content, fence)) fence = undefined;
    } else if (comment) comment = !content.includes('-->');
    else if (/^ {0,3}(```+[^`]*|~~~+.*)$/.test(content)) fence = /(`+|~+)/.exec(content)?.[0];
    else if (/^ {0,3}<!--/.test(content)) comment = !content.includes('-->');
    else {
      const heading = /^ {0,3}(#{1,6})(?=[ \t]|$)/.exec(content);
      if (heading) {
        const depth = heading[1]?.length ?? 1;
        sections.push({
          depth,
          title: headingText(content.slice(heading[0].length)),
          line,
          start,
          bodyStart: next,
          end: text.length,
        });
      }
    }
    start = next;
  }
  const open: Section[] = [];
  for (const section of sections) {
    while ((open.at(-1)?.depth ?? 0) >= section.depth) {
      const closed = open.pop();
      if (closed) closed.end = section.start;
    }
    open.push(section);
  }
  return {front, sections};
}

function closes(content: string, fence: string): boolean {
  const trimmed = content.trimStart();
  return (
    content.length - trimmed.length < 4 &&
    trimmed.length >= fence.length &&
    trimmed === trimmed.charAt(0).repeat(trimmed.length) &&
    trimmed.charAt(0) === fence.charAt(0)
  );
}

function readFront(text: string): Outline['front'] {
  const open = FRONT.exec(text);
  if (!open) return undefined;
  const start = open[0].length;
  const close = /(?:^|\n)---[ \t]*(?:\r?\n|$)/g;
  close.lastIndex = start - 1;
  const found = close.exec(text);
  if (!found) return undefined;
  const end = Math.max(start, found.index + (found[0].startsWith('\n') ? 1 : 0));
  return {start, end, bodyStart: found.index + found[0].length};
}

const processor = unified().use(remarkParse);

/** Blocks of a short section; undefined if it is longer or deeper than people write by hand. */
export function readBlocks(text: string): RootContent[] | undefined {
  if (text.length > 32_768) return undefined;
  let items = 0;
  for (const line of text.split('\n')) {
    if (/^[\s>]*(?:[-*+>]|\d+[.)])/.test(line) && ++items > 1000) return undefined;
    if (/(?:(?:[-*+>]|\d{1,9}[.)])[ \t]*){9}/.test(line.slice(0, 200)) && !/^[-*+=_\s]+$/.test(line)) return undefined;
    if (line.length > 4000) return undefined;
  }
  return (processor.parse(text) as Root).children;
}

/** Text of a node as a reader sees it, without comments. */
export function plainText(node: Nodes): string {
  if (node.type === 'html') return '';
  if ('value' in node) return node.value;
  if (node.type === 'break') return '\n';
  return 'children' in node ? node.children.map(child => plainText(child)).join('') : '';
}

/** Fence `content` so that nothing in it can close the fence. */
export function fenced(content: string, language = ''): string {
  let longest = 2;
  for (const run of content.match(/`+/g) ?? []) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${content}${content.endsWith('\n') || content === '' ? '' : '\n'}${fence}`;
}
