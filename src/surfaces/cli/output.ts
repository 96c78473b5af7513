import pc from 'picocolors';

/** Colours on a terminal unless NO_COLOR, never with --json. */
export const colors = pc.createColors(Boolean(process.stdout.isTTY) && !process.env.NO_COLOR);

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
