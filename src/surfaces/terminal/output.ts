import pc from 'picocolors';
import type {UserError} from '../../formats/common/errors.ts';
import {jsonText, visibleLine} from '../../formats/common/visible.ts';
import {wrap} from './wrap.ts';

/** Colours on a terminal or with FORCE_COLOR, never with NO_COLOR. */
export function isColoured(stream: {isTTY?: boolean}, {NO_COLOR, FORCE_COLOR, TERM}: NodeJS.ProcessEnv): boolean {
  if (NO_COLOR) return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  return stream.isTTY === true && TERM !== 'dumb';
}

export const colors = pc.createColors(isColoured(process.stdout, process.env));
const noteColors = pc.createColors(isColoured(process.stderr, process.env));

/** Width of the terminal; unlimited if stdout is not one, so that grep finds everything. */
export function screenWidth(): number {
  // Chat shows the output of commands on its own screen.
  const given = Number(process.env.AGENTDIR_WIDTH);
  if (given > 0) return given;
  if (!process.stdout.isTTY) return Number.POSITIVE_INFINITY;
  return process.stdout.columns || Number(process.env.COLUMNS) || 80;
}

/** Prints text, wrapped on a terminal. `hang` indents continuation lines. */
export function print(text: string, hang?: number): void {
  printWhole(wrap(text, screenWidth(), hang));
}

/** Prints without wrapping: diffs, tables, commands to paste. */
export function printWhole(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints one JSON value on a line. Text of agents stays exact, but no control character leaves unescaped. */
export function printJson(value: unknown): void {
  process.stdout.write(`${jsonText(value)}\n`);
}

/** Prints a failure on stderr; with --json also on stdout. */
export function printError({message, hint}: UserError, json: boolean): void {
  if (json) printJson({error: message, hint: hint ?? null});
  complain(message, hint);
}

/** Prints an error and its hint on stderr. */
export function complain(text: string, hint?: string): void {
  writeError(`agentdir: ${visibleLine(text)}${hint ? `\n  ${visibleLine(hint)}` : ''}`);
}

/** Prints a note on stderr. */
export function note(text: string): void {
  writeError(noteColors.dim(visibleLine(text)));
}

function writeError(text: string): void {
  const {stderr} = process;
  stderr.write(`${stderr.isTTY ? wrap(text, stderr.columns || 80) : text}\n`);
}

export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

const SHORT = 100;

export function shortCall(name: string, args: string): string {
  const flat = args.replace(/\s+/g, ' ').trim();
  return `${name} ${flat.length > SHORT ? `${flat.slice(0, SHORT - 1)}…` : flat}`.trimEnd();
}
