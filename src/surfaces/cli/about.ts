import type {Command} from 'commander';

/** The kind of a name on the command line, for completions. */
export type NameOf = 'agent' | 'assignee' | 'session' | 'task' | 'approval' | 'target' | 'any' | 'file' | 'dir';

/** More about a command, for help, manual, completions and tests. */
export interface About {
  examples: readonly (readonly [line: string, what: string])[];
  /** Exit codes other than 0 (done) and 2 (wrong usage or no home). */
  exits?: Partial<Record<1 | 3 | 4 | 5, string>>;
  /** Output with --json. Commands with subcommands have none. */
  json?: 'value' | 'lines' | 'value, or lines with -f' | {none: string};
  /** By argument or option, if the name is not enough. */
  names?: Record<string, NameOf>;
}

const known = new WeakMap<Command, About>();

/** The description defaults to the summary, as a sentence. */
export function about(command: Command, given: About): Command {
  known.set(command, given);
  const summary = command.summary();
  if (command.description() === '') command.description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`);
  return command.addHelpText('after', () => `\n${helpOf(given)}`);
}

export function aboutOf(command: Command): About | undefined {
  return known.get(command);
}

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
