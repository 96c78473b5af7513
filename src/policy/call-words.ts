import {toolNamed} from './tools.ts';

const MAX_WORDS = 60;

/** Short description of a call: its tool, and for a command the shortened line. `edited`: a person's edits of it. */
export function callWords(
  {name, arguments: args}: {name: string; arguments: string},
  edited?: Readonly<Record<string, string>>,
): string {
  const line = toolNamed(name) === 'execute_command' ? (edited?.command ?? commandOf(args)) : undefined;
  const mark = edited ? ' (edited)' : '';
  if (line === undefined) return `${name}${mark}`;
  const flat = line.replace(/\s+/g, ' ').trim();
  return `${name} \`${flat.length > MAX_WORDS ? `${flat.slice(0, MAX_WORDS - 1)}…` : flat}\`${mark}`;
}

function commandOf(args: string): string | undefined {
  try {
    const {command} = JSON.parse(args) as {command?: unknown};
    return typeof command === 'string' ? command : undefined;
  } catch {
    return undefined;
  }
}
