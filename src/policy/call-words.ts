import {toolNamed} from './tools.ts';

const LONGEST = 60;

/** A call in a few words: its tool, and of a command the line, shortened. */
export function callWords({name, arguments: args}: {name: string; arguments: string}): string {
  const line = toolNamed(name) === 'execute_command' ? commandOf(args) : undefined;
  if (line === undefined) return name;
  const flat = line.replace(/\s+/g, ' ').trim();
  return `${name} \`${flat.length > LONGEST ? `${flat.slice(0, LONGEST - 1)}…` : flat}\``;
}

function commandOf(args: string): string | undefined {
  try {
    const {command} = JSON.parse(args) as {command?: unknown};
    return typeof command === 'string' ? command : undefined;
  } catch {
    return undefined;
  }
}
