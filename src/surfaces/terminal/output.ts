import pc from 'picocolors';
import type {UserError} from '../../formats/common/errors.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {wrap} from './wrap.ts';

/** Colours on a terminal that has them, or where FORCE_COLOR wants them; never with NO_COLOR. JSON has none. */
export function isColoured(stream: {isTTY?: boolean}, {NO_COLOR, FORCE_COLOR, TERM}: NodeJS.ProcessEnv): boolean {
  if (NO_COLOR) return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  return stream.isTTY === true && TERM !== 'dumb';
}

export const colors = pc.createColors(isColoured(process.stdout, process.env));
const noteColors = pc.createColors(isColoured(process.stderr, process.env));

/** Columns that a line may have; as many as it likes where no terminal shows it, so that nothing is lost on grep. */
export function screenWidth(): number {
  if (!process.stdout.isTTY) return Number.POSITIVE_INFINITY;
  return process.stdout.columns || Number(process.env.COLUMNS) || 80;
}

/** Words, for people: on a terminal in lines that fit. `hang`: how far further lines are indented. */
export function print(text: string, hang?: number): void {
  printWhole(wrap(text, screenWidth(), hang));
}

/** The same for what is no prose (a diff, a table, JSON), and what is to be pasted. */
export function printWhole(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** A failure, for people on stderr; with --json also where its readers look. */
export function printError({message, hint}: UserError, json: boolean): void {
  if (json) printJson({error: message, hint: hint ?? null});
  complain(message, hint);
}

/** What went wrong, as the program itself tells of it. */
export function complain(text: string, hint?: string): void {
  writeError(`agentdir: ${visibleLine(text)}${hint ? `\n  ${visibleLine(hint)}` : ''}`);
}

/** Something beside the result, on stderr. */
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

/** A call on one line. */
export function shortCall(name: string, args: string): string {
  const flat = args.replace(/\s+/g, ' ').trim();
  return `${name} ${flat.length > SHORT ? `${flat.slice(0, SHORT - 1)}…` : flat}`.trimEnd();
}
