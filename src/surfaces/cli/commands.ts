import {Command} from 'commander';
import {locateHome, overriddenHome} from '../../home/locate.ts';
import {note} from '../terminal/output.ts';
import {wrap} from '../terminal/wrap.ts';
import {addAgentControlCommands} from './agent-control-commands.ts';
import {addAgentsCommands, addModelsCommand} from './agents-commands.ts';
import {addApprovalCommands} from './approval-commands.ts';
import type {ProgramInfo} from './command-context.ts';
import {addConnectorCommands} from './connector-commands.ts';
import {addHistoryCommands} from './history-commands.ts';
import {addHomeCommands} from './home-commands.ts';
import {addLookCommands} from './look-commands.ts';
import {addSessionCommands} from './session-commands.ts';
import {addShellCommands} from './shell-commands.ts';
import {addTalkCommands} from './talk-commands.ts';
import {addTaskCommands} from './task-commands.ts';
import {addWorkflowCommands} from './workflow-commands.ts';
import {addWorkspaceCommands} from './workspace-commands.ts';

const AFTER = `
Help for a command: agentdir COMMAND --help. Manual: man agentdir; in a clone: man man/agentdir.1.
Exit codes: 0 done, 1 failed, 2 wrong usage or no home, 3 a decision is pending, 4 a file has errors, 5 no daemon is running, or one already is.`;

/**
 * All commands. Help, the manual and completions are made from this; each command's code is loaded only when it is
 * used.
 */
export function buildCommands(about: ProgramInfo, finish: (code: number) => void): Command {
  const program = new Command('agentdir')
    .description('To AI agents what Maildir is to mail: a directory of text files is the system.')
    .usage('[--home DIR] [--json] COMMAND')
    .version(about.version, '-V, --version', 'show the version')
    .option('--home <dir>', 'the home (default: AGENTDIR_HOME, else the nearest parent folder with agentdir.yaml)')
    .option('--json', 'print JSON only: one value, or one per line')
    .helpOption('-h, --help', 'show help')
    .addHelpText('after', AFTER)
    // The list shows names only.
    .configureHelp({
      subcommandTerm: command => [command.name(), ...command.aliases()].join(', '),
      helpWidth: Number.MAX_SAFE_INTEGER,
    })
    // Wrap lines ourselves; the caller prints errors.
    .configureOutput({writeOut: writeTo(process.stdout), writeErr: writeTo(process.stderr), outputError: () => {}})
    .exitOverride();
  const given = () => program.opts<{home?: string; json?: boolean}>();
  const surroundings = {
    home: () => chosenHome(given().home),
    json: () => given().json === true,
    finish,
  };
  program.commandsGroup('Start here:');
  addHomeCommands(program, about, surroundings);
  program.commandsGroup('Workflows:');
  addWorkflowCommands(program, about, surroundings);
  program.commandsGroup('Talk:');
  addTalkCommands(program, about, surroundings);
  addAgentControlCommands(addAgentsCommands(program, surroundings), surroundings);
  addSessionCommands(program, surroundings);
  program.commandsGroup('Decide:');
  addApprovalCommands(program, surroundings);
  program.commandsGroup('Tasks:');
  addTaskCommands(program, surroundings);
  program.commandsGroup('Inspect:');
  addLookCommands(program, surroundings);
  addModelsCommand(program, surroundings);
  program.commandsGroup('History:');
  addHistoryCommands(program, surroundings);
  addWorkspaceCommands(program, surroundings);
  program.commandsGroup('Connectors:');
  addConnectorCommands(program, surroundings);
  program.commandsGroup('Shell:');
  addShellCommands(program, finish);
  for (const one of [program, ...program.commands].filter(({commands}) => commands.length > 0))
    one.helpCommand('help [command]', 'show help for a command');
  return program;
}

/** The home to use. AGENTDIR_HOME wins over the home in the current folder, and says so. */
function chosenHome(given: string | undefined): string {
  const home = locateHome(given, process.cwd(), process.env);
  const overridden = given === undefined ? overriddenHome(process.cwd(), process.env) : undefined;
  if (overridden !== undefined)
    note(`using ${home} because AGENTDIR_HOME is set. For the home in this folder: --home ${overridden}`);
  return home;
}

function writeTo(stream: NodeJS.WriteStream): (text: string) => void {
  return text => void stream.write(wrap(text, (stream.isTTY && stream.columns) || 80));
}
