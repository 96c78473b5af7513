import type {Nodes, Paragraph, PhrasingContent, RootContent, Table} from 'mdast';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import {unified} from 'unified';
import {makeVisible} from '../../formats/common/visible.ts';
import {colors} from '../terminal/output.ts';
import {fitTable} from '../terminal/table.ts';
import {breakLine, type Span, wrapSpans} from './spans.ts';

const processor = unified().use(remarkParse).use(remarkGfm);
/** remark grows worse than linearly on some texts. */
const MOST_CHARS = 40_000;

/** Renders Markdown as lines of at most `width` columns, with colours if stdout has some. Control characters are written out. */
export function markdownLines(text: string, width: number): string[] {
  const clean = makeVisible(text.replace(/\r\n?/g, '\n'), false).trimEnd();
  if (clean.length > MOST_CHARS) return plainLines(clean, width);
  return blocks(processor.parse(clean).children, Math.max(8, width));
}

/** The text as it is, wrapped. */
export function plainLines(text: string, width: number): string[] {
  return makeVisible(text, false)
    .split('\n')
    .flatMap(line => breakLine(line, Math.max(8, width)));
}

function blocks(nodes: readonly RootContent[], width: number, tight = false): string[] {
  return nodes.flatMap((node, i) => {
    const lines = block(node, width);
    return i > 0 && lines.length > 0 && !tight ? ['', ...lines] : lines;
  });
}

function block(node: RootContent, width: number): string[] {
  switch (node.type) {
    case 'heading': {
      const paint = node.depth <= 2 ? (text: string) => colors.bold(colors.underline(text)) : colors.bold;
      return wrapSpans(phrasing(node.children, paint), width);
    }
    case 'paragraph':
      return wrapSpans(phrasing(node.children), width);
    case 'code':
      return codeLines(node.value, node.lang ?? '', width);
    case 'blockquote':
      return blocks(node.children, width - 2).map(line => `${colors.dim('▎')} ${line}`);
    case 'list':
      return node.children.flatMap((item, i) => {
        const box = item.checked === true ? '[x] ' : item.checked === false ? '[ ] ' : '';
        const mark = `${node.ordered ? `${(node.start ?? 1) + i}.` : '•'} ${box}`;
        const inner = blocks(item.children, Math.max(8, width - mark.length), !item.spread);
        const lines = inner.length > 0 ? inner : [''];
        return lines.map((line, at) => (at === 0 ? mark + line : `${' '.repeat(mark.length)}${line}`.trimEnd()));
      });
    case 'table':
      return tableLines(node, width);
    case 'thematicBreak':
      return [colors.dim('─'.repeat(Math.min(width, 40)))];
    case 'html':
      return plainLines(node.value, width);
    case 'definition':
      return wrapSpans([{text: `[${node.label ?? node.identifier}]: ${node.url}`, paint: colors.dim}], width);
    default:
      return 'children' in node ? blocks(node.children as RootContent[], width) : [];
  }
}

function codeLines(text: string, language: string, width: number): string[] {
  const isDiff = /^(?:diff|patch)\b/.test(language);
  return text.split('\n').flatMap(line => {
    const paint = isDiff ? diffPaint(line) : colors.cyan;
    return breakLine(line, width - 2).map(row => `  ${row === '' ? '' : paint(row)}`);
  });
}

/** The colour of a line of a diff. */
export function diffPaint(line: string): (text: string) => string {
  if (/^(?:\+\+\+|---) /.test(line)) return colors.bold;
  return {'+': colors.green, '-': colors.red, '@': colors.cyan}[line[0] ?? ''] ?? colors.dim;
}

function tableLines(node: Table, width: number): string[] {
  const cells = node.children.map(row => row.children.map(cell => plainText(cell)));
  const [head = [], ...rows] = cells;
  return fitTable(head, rows, width).split('\n');
}

type Paint = (text: string) => string;

function phrasing(nodes: readonly PhrasingContent[], paint: Paint = String): Span[] {
  return nodes.flatMap((node): Span[] => {
    switch (node.type) {
      case 'text':
        // Only Markdown's own line breaks count.
        return [{text: node.value, paint}];
      case 'strong':
        return phrasing(node.children, text => paint(colors.bold(text)));
      case 'emphasis':
        return phrasing(node.children, text => paint(colors.italic(text)));
      case 'delete':
        return phrasing(node.children, text => paint(colors.strikethrough(text)));
      case 'inlineCode':
        return [{text: node.value, paint: text => paint(colors.cyan(text))}];
      case 'break':
        return [{text: '\n'}];
      case 'link': {
        const words = plainText(node);
        const address = words === node.url || `mailto:${words}` === node.url ? '' : ` (${node.url})`;
        return [...phrasing(node.children, text => paint(colors.underline(text))), {text: address, paint: colors.dim}];
      }
      case 'image':
        return [{text: `[${node.alt ?? 'image'}] (${node.url})`, paint: colors.dim}];
      case 'html':
        return [{text: node.value, paint}];
      case 'footnoteReference':
        return [{text: `[${node.label ?? node.identifier}]`, paint: colors.dim}];
      default:
        return 'children' in node ? phrasing(node.children as PhrasingContent[], paint) : [];
    }
  });
}

function plainText(node: Nodes | Paragraph): string {
  if ('value' in node) return node.value;
  return 'children' in node ? node.children.map(child => plainText(child)).join('') : '';
}
