import type {Problem} from '../../formats/common/diagnostic.ts';
import {lineStarts} from '../../formats/common/lines.ts';
import {makeVisible, visibleLine} from '../../formats/common/visible.ts';
import {colors, screenWidth} from '../terminal/output.ts';
import {textWidth} from '../terminal/table.ts';
import {wrap} from '../terminal/wrap.ts';

/** file:line:column, what is wrong, the lines around it with a caret, and what to do. */
export function renderProblem(problem: Problem, text: string | undefined, starts?: readonly number[]): string {
  const severity = problem.severity === 'error' ? colors.red('error') : colors.yellow('warning');
  const place = `${visibleLine(problem.file)}:${problem.line}:${problem.column}`;
  const head = `${colors.bold(place)}: ${severity} ${colors.dim(problem.code)}: ${visibleLine(problem.message)}`;
  const excerpt = text === undefined ? [] : renderExcerpt(problem, text, starts ?? lineStarts(text));
  const hint = `  ${colors.cyan('=')} ${visibleLine(problem.hint)}`;
  return [wrap(head, screenWidth()), ...excerpt, wrap(hint, screenWidth(), 4)].join('\n');
}

/** Longest excerpt of a line. */
const MAX_EXCERPT = 160;
const LEAST = 20;

function renderExcerpt(problem: Problem, text: string, starts: readonly number[]): string[] {
  const lines = linesAround(text, problem.line, starts);
  const digits = String(problem.line).length;
  const width = Math.min(MAX_EXCERPT, Math.max(LEAST, screenWidth() - digits - 5));
  const out: string[] = [];
  for (const {number, content} of lines) {
    const from = number === problem.line ? Math.max(0, problem.column - 1 - (width >> 1)) : 0;
    const shown = content.slice(from, from + width).replaceAll('\t', '    ');
    out.push(`${colors.dim(`${String(number).padStart(digits + 2)} |`)} ${makeVisible(shown)}`);
    if (number !== problem.line) continue;
    const before = content.slice(from, problem.column - 1).replaceAll('\t', '    ');
    out.push(
      `${colors.dim(`${' '.repeat(digits + 2)} |`)} ${' '.repeat(textWidth(makeVisible(before)))}${colors.red('^')}`,
    );
  }
  return out;
}

function linesAround(text: string, line: number, starts: readonly number[]): {number: number; content: string}[] {
  const found: {number: number; content: string}[] = [];
  for (const number of [line - 1, line]) {
    const start = starts[number - 1];
    if (start === undefined) continue;
    found.push({number, content: text.slice(start, starts[number] ?? text.length).replace(/\r?\n$/, '')});
  }
  return found;
}
