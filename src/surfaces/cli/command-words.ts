import type {Command, Option} from 'commander';

/** A partly parsed command line. */
export interface ParsedWords {
  command: Command;
  given: string[];
  /** An option whose value comes next. */
  awaiting: Option | undefined;
  /** After `--` nothing is an option. */
  ended: boolean;
  home: string | undefined;
}

export function parseWords(program: Command, words: readonly string[]): ParsedWords {
  const at: ParsedWords = {command: program, given: [], awaiting: undefined, ended: false, home: undefined};
  for (const word of words) {
    if (at.awaiting) {
      if (at.awaiting.long === '--home') at.home = word;
      at.awaiting = undefined;
    } else if (!at.ended && word === '--') at.ended = true;
    else if (!at.ended && word.startsWith('-') && word !== '-') {
      const [flag = '', value] = word.split(/=(.*)/s);
      const option = optionOf(at.command, flag);
      if (value !== undefined && flag === '--home') at.home = value;
      else if (value === undefined && option?.required) at.awaiting = option;
    } else {
      const next = at.given.length === 0 ? subcommand(at.command, word) : undefined;
      if (next) at.command = next;
      else at.given.push(word);
    }
  }
  return at;
}

/** Options of the command and its parents. */
export function optionsOf(command: Command): Option[] {
  const help = command.createHelp();
  const above = command.parent ? optionsOf(command.parent).filter(({long}) => long !== '--version') : [];
  const own = help.visibleOptions(command);
  return [...own, ...above.filter(({long}) => !own.some(option => option.long === long))];
}

export function optionOf(command: Command, flag: string): Option | undefined {
  return optionsOf(command).find(option => option.long === flag || option.short === flag);
}

function subcommand(command: Command, word: string): Command | undefined {
  return command.commands.find(one => one.name() === word || one.aliases().includes(word));
}

/** `agentdir task add` */
export function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
