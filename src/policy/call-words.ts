import {toolNamed} from './tools.ts';

const MAX_WORDS = 60;

/**
 * A call in a few words: its tool, and of a command the line, shortened. `edited`: arguments that a person put in place
 * of the agent's; then the words are of what runs.
 */
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
