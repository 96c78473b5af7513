import pc from 'picocolors';
import type {UserError} from '../../errors.ts';
import {visibleLine} from '../../files/visible.ts';

/** Colours on a terminal unless NO_COLOR, never with --json. */
export const colors = pc.createColors(Boolean(process.stdout.isTTY) && !process.env.NO_COLOR);
const noteColors = pc.createColors(Boolean(process.stderr.isTTY) && !process.env.NO_COLOR);

export function print(text: string): void {
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
  process.stderr.write(`agentdir: ${visibleLine(text)}\n${hint ? `  ${visibleLine(hint)}\n` : ''}`);
}

/** Something beside the result, on stderr. */
export function note(text: string): void {
  process.stderr.write(`${noteColors.dim(visibleLine(text))}\n`);
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
