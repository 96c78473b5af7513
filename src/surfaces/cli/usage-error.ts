import type {Command, CommanderError} from 'commander';
import {nearest} from '../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../formats/common/errors.ts';
import {aboutOf} from './about.ts';
import {parseWords, pathOf} from './command-words.ts';
import {completeCommand} from './complete.ts';

const MOST_NAMES = 6;

/** Converts a commander error to a UserError with a hint. */
export function usageError(program: Command, words: readonly string[], {message, code}: CommanderError): UserError {
  const {command, given} = parseWords(program, words);
  const [word] = given;
  // `agentdir workspace dif coder` would otherwise run the default command.
  const meant = word === undefined ? undefined : nearestCommand(command, word);
  if (code === 'commander.excessArguments' && meant !== undefined)
    return new UserError(`unknown command '${word}'`, exit.usage, `did you mean ${meant}?`);
  if (code === 'commander.missingArgument' || code === 'commander.optionMissingArgument')
    return new UserError(message.replace(/^error: /, ''), exit.usage, whatToType(program, command, words));
  const [, text, near] = /^(?:error: )?(.*?)(?:\s*\(Did you mean (?:one of )?(.*)\?\))?$/s.exec(message) ?? [];
  const hint = near === undefined ? `see: ${pathOf(command)} --help` : `did you mean ${near.replaceAll(', ', ' or ')}?`;
  return new UserError(text ?? message, exit.usage, hint);
}

/** An example, and possible values of the missing argument. */
function whatToType(program: Command, command: Command, words: readonly string[]): string {
  const flag = parseWords(program, words).awaiting?.long ?? '';
  const lines = aboutOf(command)?.examples.map(([line]) => line) ?? [];
  const example = lines.find(line => line.includes(flag)) ?? lines[0];
  const offered = completeCommand(program, [...words, ''], process.cwd(), process.env).split('\n');
  const names = offered.map(line => line.split('\t')[0] ?? '').filter(name => /^[^:-]/.test(name));
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  const there = names.length > 0 ? `; choose from: ${names.slice(0, MOST_NAMES).join(', ')}${more}` : '';
  return example ? `for example: ${example}${there}` : `see: ${pathOf(command)} --help${there}`;
}

/** `agentdir help statsu`: commander would show the general help without an error. */
export function unknownHelp(program: Command, words: readonly string[]): UserError | undefined {
  const at = words.indexOf('help');
  let {command, given} = parseWords(program, words.slice(0, at));
  if (at === -1 || given.length > 0) return undefined;
  for (const word of words.slice(at + 1).filter(word => !word.startsWith('-'))) {
    if (command.commands.length === 0) return undefined;
    const next = command.commands.find(one => one.name() === word || one.aliases().includes(word));
    if (next === undefined && word !== 'help') {
      const meant = nearestCommand(command, word);
      const hint = meant === undefined ? `see: ${pathOf(command)} --help` : `did you mean ${meant}?`;
      return new UserError(`unknown command '${word}'`, exit.usage, hint);
    }
    command = next ?? command;
  }
  return undefined;
}

function nearestCommand(command: Command, word: string): string | undefined {
  return nearest(
    word,
    command.commands.flatMap(one => [one.name(), ...one.aliases()]),
  );
}
