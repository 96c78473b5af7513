import type {Command} from 'commander';
import {UserError} from '../../formats/common/errors.ts';
import {about} from './about.ts';
import type {CommandContext, ProgramInfo} from './command-context.ts';

/** run. */
export function addWorkflowCommands(
  program: Command,
  {source, self}: ProgramInfo,
  {home, json, finish}: CommandContext,
): void {
  about(
    program
      .command('run <file> [params...]')
      .summary('run a workflow until its agents are idle')
      .description(
        'Run a workflow: setup commands, kickoff, then wait until no agent has anything left to do, and print the results. Works with a daemon, and without: then it serves the home itself. Outside any home it makes one in .workflow/INSTANCE. An instance that was interrupted goes on; a finished one prints its results. Parameters of the workflow follow as --NAME VALUE.',
      )
      .option('--instance <name>', 'name of the instance', 'default')
      .option('--retry', 'run a setup command again that failed or was interrupted')
      .option('--verbose', 'show entries and answers in full as they come')
      .allowUnknownOption()
      .action(async (file: string, words: string[], options: RunFlags) => {
        const {runCommand, homeOfInstance} = await import('./run.ts');
        finish(
          await runCommand({
            home: homeOr(home, () => homeOfInstance(process.cwd(), options.instance)),
            ...{file, words, instance: options.instance, retry: options.retry === true},
            ...{verbose: options.verbose === true, json: json(), source, program: self},
          }),
        );
      }),
    {
      examples: [
        ['agentdir run review.yaml', 'a file, or the name of one in workflows/'],
        ['agentdir run review.yaml --instance pr-123', 'an instance of its own: agents reviewer@pr-123, coder@pr-123'],
        ['agentdir run research --topic "heat pumps"', 'a parameter of the workflow'],
      ],
      exits: {
        1: 'a setup command or an agent failed, or the instance was stopped',
        3: 'an agent waits for your decision',
        4: 'the file has errors',
      },
      json: 'value',
      names: {file: 'file'},
    },
  );
}

interface RunFlags {
  instance: string;
  retry?: boolean;
  verbose?: boolean;
}

/** The home, or `otherwise` outside of any. A home that was named and is none is still an error. */
export function homeOr(home: () => string, otherwise: () => string | undefined): string | undefined {
  try {
    return home();
  } catch (error) {
    if (!(error instanceof UserError) || !error.message.startsWith('no home here')) throw error;
    return otherwise();
  }
}
