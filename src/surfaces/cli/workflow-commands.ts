import type {Command} from 'commander';
import {about} from './about.ts';
import {type CommandContext, homeOrOfInstance, homeWithInstance, type ProgramInfo} from './command-context.ts';
import {wholeNumber} from './option-values.ts';

/** run, context, migrate. */
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
        'Run a workflow: setup commands, kickoff, then wait until no agent has anything left to do, and print the results. Works with a daemon, and without: then it serves the home itself. Outside any home it makes one in .workflow/INSTANCE. An interrupted instance continues; a finished one prints its results. Parameters of the workflow follow as --NAME VALUE.',
      )
      .option('--instance <name>', 'name of the instance', 'default')
      .option('--retry', 'run a setup command again that failed or was interrupted')
      .option('--verbose', 'show entries and answers in full as they come')
      .allowUnknownOption()
      .action(async (file: string, words: string[], options: RunFlags) => {
        const {runCommand} = await import('./run.ts');
        finish(
          await runCommand({
            home: homeOrOfInstance(home, options.instance),
            ...{file, words, instance: options.instance, retry: options.retry === true},
            ...{verbose: options.verbose === true, json: json(), source, program: self},
          }),
        );
      }),
    {
      examples: [
        ['agentdir run review.yaml', 'a file, or the name of one in workflows/'],
        ['agentdir run review.yaml --verbose', 'show all entries and answers'],
        ['agentdir run review.yaml --instance pr-123', 'an instance of its own: agents reviewer@pr-123, coder@pr-123'],
        ['agentdir run research --topic "heat pumps"', 'a parameter of the workflow'],
      ],
      exits: {
        1: 'a setup command or an agent failed, or the instance was stopped',
        3: 'an agent waits for your decision',
        4: 'the file has errors',
        5: 'another command is running the setup of the instance',
      },
      json: 'value',
      names: {file: 'file'},
    },
  );
  addContextCommands(program, {home, json, finish});
  about(
    program
      .command('migrate <file>')
      .summary('convert an agent-worker v1 workflow')
      .description(
        'Convert a workflow with "tasks:" (agent-worker v1) in place: shell steps become "setup:", messages become "kickoff:". The file as it was is kept beside it as FILE.v1.',
      )
      .action(async (file: string) =>
        finish(await (await import('./migrate.ts')).migrateCommand({file, json: json()})),
      ),
    {
      examples: [
        ['agentdir migrate review.yaml', 'then: agentdir run review.yaml'],
        ['agentdir migrate review.yaml --json | jq .notes', 'what to review'],
      ],
      exits: {4: 'the file has errors, or cannot be converted'},
      json: 'value',
      names: {file: 'file'},
    },
  );
}

/** context send, read, peek and document. */
function addContextCommands(program: Command, {home, json, finish}: CommandContext): void {
  const context = about(
    program
      .command('context')
      .summary('take part in a workflow: its channel and document')
      .description('Read and write the channel and the document of a workflow instance, as you can with an editor.'),
    {
      examples: [
        ['agentdir context read --instance pr-123', 'what is new in the channel'],
        ['agentdir context send "@coder please go on" --instance pr-123', 'take part'],
      ],
    },
  );
  const instanceOption = [
    '--instance <name>',
    'the workflow instance (default: the one named default, else the only one)',
  ] as const;
  const load = () => import('./context.ts');
  about(
    context
      .command('send [message...]')
      .summary('write to the channel')
      .description(
        'Write to the channel. Each @name of an agent of the instance wakes that agent, but not in code or in quoted lines. Without a message, read a pipe.',
      )
      .option('--as <name>', 'your name (default: human)')
      .option(...instanceOption)
      .action(async (words: string[], {as, instance}: {as?: string; instance?: string}) =>
        finish(
          await (await load()).contextSendCommand({
            home: homeWithInstance(home, instance),
            words,
            as,
            instance,
            json: json(),
          }),
        ),
      ),
    {
      examples: [
        ['agentdir context send "@coder also look at line 7" --instance pr-123', 'wakes coder@pr-123'],
        ['git diff | agentdir context send --as ada', 'from a pipe, as ada'],
      ],
      exits: {4: 'a file has errors'},
      json: 'value',
    },
  );
  about(
    context
      .command('read')
      .summary('show new entries of the channel, and mark them as read')
      .option('--as <name>', 'whose entries are new (default: human)')
      .option(...instanceOption)
      .action(async ({as, instance}: {as?: string; instance?: string}) =>
        finish(
          await (await load()).contextReadCommand({home: homeWithInstance(home, instance), as, instance, json: json()}),
        ),
      ),
    {
      examples: [
        ['agentdir context read --instance pr-123', 'since the last time'],
        ['agentdir context read --as ada --json | jq .entries', 'for programs'],
      ],
      exits: {4: 'a file has errors'},
      json: 'value',
    },
  );
  about(
    context
      .command('peek')
      .summary('show entries of the channel without marking them as read')
      .option(...instanceOption)
      .option('--since <place>', 'only entries after this time or number')
      .option('-n, --limit <number>', 'only the last ones', wholeNumber)
      .action(async ({instance, since, limit}: {instance?: string; since?: string; limit?: number}) =>
        finish(
          (await load()).contextPeekCommand({
            home: homeWithInstance(home, instance),
            instance,
            since,
            limit,
            json: json(),
          }),
        ),
      ),
    {
      examples: [
        ['agentdir context peek --instance pr-123', 'the whole channel'],
        ['agentdir context peek --since 7', 'entries after the seventh'],
        ['agentdir context peek -n 1', 'the last entry'],
      ],
      exits: {4: 'a file has errors'},
      json: 'value',
    },
  );
  about(
    context
      .command('document')
      .summary('show the document')
      .option(...instanceOption)
      .option('--append <text>', 'first add this to its end; - reads a pipe')
      .action(async ({instance, append}: {instance?: string; append?: string}) =>
        finish(
          await (await load()).contextDocumentCommand({
            home: homeWithInstance(home, instance),
            instance,
            append,
            json: json(),
          }),
        ),
      ),
    {
      examples: [
        ['agentdir context document --instance pr-123', 'print it'],
        ['agentdir context document --append "Decision: use zod"', 'add a line'],
      ],
      exits: {4: 'a file has errors'},
      json: 'value',
    },
  );
}

interface RunFlags {
  instance: string;
  retry?: boolean;
  verbose?: boolean;
}
