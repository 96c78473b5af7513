import type {Command, Option} from 'commander';
import {breakAt} from '../terminal/table.ts';
import {aboutOf, exitWords, jsonWords} from './about.ts';
import {pathOf} from './command-words.ts';

const WIDTH = 72;

/** Generates the manual page from the commands. */
export function manPage(program: Command): string {
  const help = program.createHelp();
  const groups = grouped(program);
  const lines = [
    `.TH AGENTDIR 1 "2026-11-17" "agentdir ${program.version() ?? ''}" "User Commands"`,
    '.SH NAME',
    'agentdir \\- a directory of text files is the multi-agent system',
    '.SH SYNOPSIS',
    '.B agentdir',
    '[\\fB\\-\\-home\\fR \\fIDIR\\fR] [\\fB\\-\\-json\\fR] \\fICOMMAND\\fR',
    '.SH DESCRIPTION',
    text(program.description()),
    text(
      'A home is a directory with agentdir.yaml. The daemon (agentdir start) keeps it moving. The commands read and change the same files that you edit, and also work without a daemon. Any unique part of an id works.',
    ),
    '.SH OPTIONS',
    'These work in any position.',
    ...help.visibleOptions(program).flatMap(option),
    ...[...groups].flatMap(([heading, commands]) => [
      `.SH ${escaped(heading.replace(/:$/, '').toUpperCase())}`,
      ...commands
        .filter(one => one.name() !== 'help')
        .flatMap(one => [one, ...one.commands])
        .flatMap(section),
    ]),
    ...ENDING,
  ];
  return `${lines.join('\n')}\n`;
}

const ENDING = [
  '.SH EXIT STATUS',
  ...[
    ['0', 'done'],
    ['1', 'failed'],
    ['2', 'wrong usage or no home'],
    ['3', 'a decision is pending'],
    ['4', 'a file has errors'],
    ['5', 'no daemon is running, or one already is'],
  ].flatMap(([code, what]) => ['.TP', `.B ${code}`, `${what}`]),
  '.SH ENVIRONMENT',
  ...[
    ['AGENTDIR_HOME', 'the home, unless \\-\\-home is given'],
    ['NO_COLOR', 'no colours; FORCE_COLOR: colours even if stdout is not a terminal'],
    ['COLUMNS', 'table width, if the terminal does not report one'],
    ['VISUAL, EDITOR', 'the editor for approve \\-\\-edit'],
    ['OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL', 'the model, if agentdir.yaml lists none'],
  ].flatMap(([name, what]) => ['.TP', `.B ${name}`, `${what}`]),
];

function grouped(program: Command): Map<string, Command[]> {
  const groups = new Map<string, Command[]>();
  for (const one of program.createHelp().visibleCommands(program))
    groups.set(one.helpGroup(), [...(groups.get(one.helpGroup()) ?? []), one]);
  return groups;
}

function section(command: Command): string[] {
  const given = aboutOf(command);
  const help = command.createHelp();
  const options = help.visibleOptions(command).filter(({long}) => long !== '--help');
  const json = given && jsonWords(given);
  return [
    `.SS ${escaped(pathOf(command))}${escaped(command.registeredArguments.map(argument => ` ${shown(argument)}`).join(''))}`,
    text(command.description()),
    ...options.flatMap(option),
    ...(given && json !== undefined
      ? ['.PP', text(`--json: ${json}. Exit codes: ${exitWords(given).join('; ')}.`)]
      : []),
    ...(given?.examples ?? []).flatMap(([line, what]) => [
      '.PP',
      '.nf',
      `.B "${quoted(line)}"`,
      '.fi',
      '.RS',
      text(what),
      '.RE',
    ]),
  ];
}

function shown(argument: Command['registeredArguments'][number]): string {
  const name = argument.name().toUpperCase() + (argument.variadic ? '...' : '');
  return argument.required ? name : `[${name}]`;
}

function option({flags, description, argChoices, defaultValue}: Option): string[] {
  const among = argChoices ? ` (one of: ${argChoices.join(', ')})` : '';
  const otherwise =
    typeof defaultValue === 'string' || typeof defaultValue === 'number' ? ` (default: ${defaultValue})` : '';
  return ['.TP', `.B ${escaped(flags)}`, text(`${description}${among}${otherwise}`)];
}

/** Escapes text for troff. */
function text(words: string): string {
  return breakAt(words, WIDTH, true)
    .map(line => escaped(line.trim()))
    .join('\n');
}

function escaped(words: string): string {
  const line = words
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replaceAll('`', '\\(ga');
  return /^[.']/.test(line) ? `\\&${line}` : line;
}

function quoted(words: string): string {
  return escaped(words).replaceAll('"', '\\(dq').replaceAll("'", '\\(aq');
}
