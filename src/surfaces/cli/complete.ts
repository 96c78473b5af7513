import type {Command, Option} from 'commander';
import {locateHome} from '../../home/locate.ts';
import {aboutOf, type NameOf} from './about.ts';
import {optionOf, optionsOf, type ParsedWords, parseWords} from './command-words.ts';
import {type KnownName, knownNames} from './known-names.ts';

/** Kinds by argument or option name. */
const ofName: Record<string, NameOf> = {
  agent: 'agent',
  agents: 'agent',
  to: 'agent',
  session: 'session',
  sessions: 'session',
  file: 'file',
  files: 'file',
  dir: 'dir',
};

/**
 * Completions of the last word, one per line, with a description after a tab. `:files` and `:dirs` ask the shell for
 * its own. Must be fast and silent: it runs at each Tab.
 */
export function completeCommand(
  program: Command,
  words: readonly string[],
  from: string,
  environment: NodeJS.ProcessEnv,
): string {
  const current = words.at(-1) ?? '';
  const at = parseWords(program, words.slice(0, -1));
  const home = () => locateHome(at.home, from, environment);
  const [flag = '', value] = current.split(/=(.*)/s);
  const inline = !at.awaiting && value !== undefined ? optionOf(at.command, flag) : undefined;
  const offered = inline ? valuesOf(inline, at.command, home) : candidates(at, current, home);
  return offered
    .map(({name, what}) => ({name: inline && !name.startsWith(':') ? `${flag}=${name}` : name, what}))
    .filter(({name}) => name.startsWith(':') || name.startsWith(current))
    .map(({name, what}) => `${name}${what ? `\t${what}` : ''}\n`)
    .join('');
}

function candidates(at: ParsedWords, current: string, home: () => string): KnownName[] {
  const {command, given, awaiting, ended} = at;
  if (awaiting) return valuesOf(awaiting, command, home);
  if (current.startsWith('-') && current !== '-' && !ended) return optionsOf(command).flatMap(flagsOf);
  const commands = given.length === 0 || (given.length === 1 && given[0] === 'help');
  if (commands && command.commands.length > 0) return commandsOf(command);
  const {registeredArguments} = command;
  const last = registeredArguments.at(-1);
  const argument = registeredArguments[given.length] ?? (last?.variadic ? last : undefined);
  if (!argument) return [];
  if (argument.argChoices) return argument.argChoices.map(name => ({name}));
  const kind = aboutOf(command)?.names?.[argument.name()] ?? ofName[argument.name()];
  return namesOf(kind, home);
}

function commandsOf(command: Command): KnownName[] {
  const shown = command.createHelp().visibleCommands(command);
  return shown.flatMap(one =>
    [one.name(), ...one.aliases()].map(name => ({name, what: one.summary() || one.description()})),
  );
}

function flagsOf({long, short, description}: Option): KnownName[] {
  return [long, short].flatMap(name => (name ? [{name, what: description}] : []));
}

function valuesOf(option: Option, command: Command, home: () => string): KnownName[] {
  if (option.argChoices) return option.argChoices.map(name => ({name}));
  const own = aboutOf(command)?.names?.[option.attributeName()];
  const [, value = ''] = /[<[]([^>\]]+)[>\]]/.exec(option.flags) ?? [];
  return namesOf(own ?? ofName[value] ?? ofName[option.attributeName()], home);
}

function namesOf(kind: NameOf | undefined, home: () => string): KnownName[] {
  if (kind === undefined) return [];
  if (kind === 'file') return [{name: ':files'}];
  if (kind === 'dir') return [{name: ':dirs'}];
  try {
    return knownNames(home(), kind);
  } catch {
    // No home: offer nothing, silently.
    return [];
  }
}
