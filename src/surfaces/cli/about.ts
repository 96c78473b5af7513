import type {Command} from 'commander';

/** What a name on the command line is a name of: what a shell offers there. */
export type NameOf = 'agent' | 'assignee' | 'session' | 'task' | 'approval' | 'any' | 'file' | 'dir';

/** What help, the manual, completions and tests know of a command beyond its arguments and options. */
export interface About {
  /** What to type, and what it does. */
  examples: readonly (readonly [line: string, what: string])[];
  /** What exit codes mean here; 0 is done, and 2 wrong usage or no home, for all. */
  exits?: Partial<Record<1 | 3 | 4 | 5, string>>;
  /** With --json: one value on stdout, a value a line, or why there is none. A command of commands has none of its own. */
  json?: 'value' | 'lines' | 'value, or lines with -f' | {none: string};
  /** By argument or option, where the name alone does not say it. */
  names?: Record<string, NameOf>;
}

const known = new WeakMap<Command, About>();

export function about(command: Command, given: About): Command {
  known.set(command, given);
  return command.addHelpText('after', () => `\n${helpOf(given)}`);
}

export function aboutOf(command: Command): About | undefined {
  return known.get(command);
}

/** Other than 0. */
export function exitWords({exits = {}}: About): string[] {
  return [...Object.entries(exits).map(([code, what]) => `${code} ${what}`), '2 wrong usage or no home'].sort();
}

export function jsonWords({json}: About): string | undefined {
  if (json === 'value') return 'one value';
  if (json === 'value, or lines with -f') return 'one value; with -f one per line';
  if (json === 'lines') return 'one value per line';
  return json && `none: ${json.none}`;
}

function helpOf(given: About): string {
  const examples = given.examples.flatMap(([line, what]) => [`  ${line}`, `      ${what}`]);
  const json = jsonWords(given);
  return [
    'Examples:',
    ...examples,
    ...(json === undefined
      ? []
      : ['', `With --json: ${json}`, 'Exit codes other than 0:', ...exitWords(given).map(each => `  ${each}`)]),
  ].join('\n');
}
