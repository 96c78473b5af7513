import type {Command} from 'commander';
import {nearest} from '../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../formats/common/errors.ts';
import {about} from './about.ts';
import {type CommandContext, homeOrOfInstance, homeWithInstance, type ProgramInfo} from './command-context.ts';

const background = () => import('./background.ts');

/** init, demo, start, stop, restart, status, doctor. */
export function addHomeCommands(
  program: Command,
  {source, self, serve}: ProgramInfo,
  {home, json, finish}: CommandContext,
): void {
  about(
    program
      .command('init [dir]')
      .summary('create a home, or complete one')
      .description('Create a home: templates, policy, example memory, git repository. Never overwrites files.')
      .action(async (dir = '.') => finish(await (await import('./init.ts')).initCommand({dir, source, json: json()}))),
    {
      examples: [
        ['agentdir init ~/agents', 'create a home, with its first commit'],
        ['agentdir init', 'in this folder; in an existing home, add missing files only'],
      ],
      exits: {1: 'the home could not be created'},
      json: 'value',
    },
  );
  about(
    program
      .command('demo')
      .summary('20-second tour: four agents answer a question in Slack')
      .description(
        'A tour of about 20 seconds: four agents answer a question in Slack, offline, in a temporary home. You tick two boxes.',
      )
      .option('--auto', 'tick the boxes automatically')
      .option('--fast', 'no pauses for reading; the default when stdout is not a terminal')
      .option('--dir <dir>', 'create the home here: a new or empty folder (default: a temporary folder)')
      .action(async (options: {auto?: boolean; fast?: boolean; dir?: string}) => {
        if (program.opts().home !== undefined)
          throw new UserError('demo creates its own home', exit.usage, 'to choose the folder: agentdir demo --dir DIR');
        finish(
          await (await import('./demo.ts')).demoCommand({
            ...{auto: options.auto === true, fast: options.fast === true, dir: options.dir},
            ...{json: json(), source, program: self},
          }),
        );
      }),
    {
      examples: [
        ['agentdir demo', 'you approve or reject'],
        ['agentdir demo --auto --fast', 'no questions, no pauses'],
        ['agentdir demo --dir ~/story', 'keep the home in ~/story'],
      ],
      exits: {1: 'the demo did not finish'},
      json: 'lines',
    },
  );
  const startWorkflow = async (file: string, words: string[], options: StartFlags) => {
    const {instance = 'default', background: inBackground} = options;
    return (await import('./start-workflow.ts')).startWorkflowCommand({
      home: homeOrOfInstance(home, file.startsWith('@') ? file.slice(1) : instance),
      ...{file, words, instance, background: inBackground === true, retry: options.retry === true},
      ...{verbose: options.verbose === true, json: json(), source, program: self},
    });
  };
  about(
    program
      .command('start [file] [params...]')
      .summary('run the daemon for this home, or start a workflow')
      .description(
        'Run the daemon for this home until Ctrl-C: check your edits, fill in missing fields, commit, answer messages, run allowed and approved commands. With a workflow FILE, run its setup commands and kickoff, then keep its agents at work until agentdir stop, across restarts of the daemon. With @INSTANCE, resume a stopped instance. Parameters of the workflow follow as --NAME VALUE.',
      )
      .option('--once', 'process pending work, then exit; not with a workflow')
      .option('--background', 'run in the background; see stop, restart, status')
      .option('--instance <name>', 'of a workflow: name of the instance (default: default)')
      .option('--retry', 'of a workflow: run a setup command again that failed or was interrupted')
      .option('--verbose', 'of a workflow: show entries and answers in full')
      .allowUnknownOption()
      .action(async (file: string | undefined, words: string[], options: StartFlags) => {
        if (options.once && (options.background || file !== undefined))
          throw new UserError(
            `--once and ${file === undefined ? '--background' : 'a workflow'} exclude each other`,
            exit.usage,
          );
        if (file !== undefined && !file.startsWith('-')) return finish(await startWorkflow(file, words, options));
        const wrong =
          file ?? (['instance', 'retry', 'verbose'] as const).filter(name => options[name]).map(name => `--${name}`)[0];
        if (wrong !== undefined) {
          const near = nearest(wrong, ['--once', '--background']);
          const hint = near ? `did you mean ${near}?` : 'with a workflow: agentdir start FILE';
          throw new UserError(`unknown option '${wrong}'`, exit.usage, hint);
        }
        if (options.background)
          finish(await (await background()).startInBackground({home: home(), program: self, json: json()}));
        else finish(await serve({home: home(), once: options.once === true, json: json()}));
      }),
    {
      examples: [
        ['agentdir start', 'in the foreground; prints events'],
        ['agentdir start --background', 'in the background; returns when the daemon is ready'],
        ['agentdir start review.yaml --instance pr-123', 'a workflow, until agentdir stop @pr-123'],
        ['agentdir start review.yaml --background', 'a workflow, with a daemon in the background'],
      ],
      exits: {
        1: 'it failed; with --once, a session ended in error',
        3: 'with --once, something waits for your decision',
        4: 'with --once, a file has errors; the workflow file has errors',
        5: 'a daemon is already running',
      },
      json: 'lines',
      names: {file: 'file'},
    },
  );
  about(
    program
      .command('stop [targets...]')
      .summary('stop the daemon, or agents and workflow instances')
      .description(
        'Stop the daemon and wait until it has exited; after 10 seconds it is killed. With targets, stop those and leave the daemon alone: an agent (reviewer, reviewer@pr-123), a workflow instance (@pr-123) or a session. Nothing is asked or run for them until you start them again, also after a restart of the daemon; a session that does a task ends for good, with the result "stopped".',
      )
      .option('--all', 'all workflow instances and all agents')
      .action(async (targets: string[], options: {all?: boolean}) => {
        if (options.all && targets.length > 0) throw new UserError('--all and targets exclude each other', exit.usage);
        if (targets.length === 0 && !options.all)
          return finish(await (await background()).stopDaemon({home: home(), json: json()}));
        const {stopTargetsCommand} = await import('./stop-targets.ts');
        // reviewer@pr-123 or @pr-123
        const instance = targets[0]?.split('@')[1];
        return finish(await stopTargetsCommand({home: homeWithInstance(home, instance), targets, json: json()}));
      }),
    {
      examples: [
        ['agentdir stop', 'the daemon of the current home'],
        ['agentdir stop reviewer reviewer@pr-123', 'an agent of the home, and one of an instance'],
        ['agentdir stop @pr-123 planner-001-7k2m.1', 'a whole instance, and a delegated task'],
        ['agentdir stop --all', 'all instances and agents; the daemon keeps running'],
      ],
      exits: {1: 'the daemon did not exit', 4: 'a file has errors', 5: 'no daemon is running'},
      json: 'value',
      names: {targets: 'target'},
    },
  );
  about(
    program
      .command('restart')
      .summary('stop the daemon, if any, and start it in the background')
      .action(async () =>
        finish(await (await background()).restartDaemon({home: home(), program: self, json: json()})),
      ),
    {
      examples: [
        ['agentdir restart', 'after an update, or with new API keys'],
        ['OPENAI_API_KEY=… agentdir restart', 'the daemon reads API keys from its environment'],
      ],
      exits: {1: 'the daemon did not exit or did not start', 5: 'another daemon is already running'},
      json: 'value',
    },
  );
  about(
    program
      .command('status')
      .summary('show the daemon, the home and pending decisions')
      .action(async () => finish(await (await import('./status.ts')).statusCommand({home: home(), json: json()}))),
    {
      examples: [
        ['agentdir status', 'a short overview'],
        ['agentdir status >/dev/null || agentdir start --background', 'start a daemon unless one is running'],
        ['agentdir status --json | jq .needs', 'how many decisions are pending'],
      ],
      exits: {5: 'no daemon is running'},
      json: 'value',
    },
  );
  about(
    program
      .command('doctor')
      .summary('check this machine and home for problems')
      .description('Check this machine and home for problems, and suggest fixes.')
      .action(async () => finish(await (await import('./doctor.ts')).doctorCommand({home: home(), json: json()}))),
    {
      examples: [
        ['agentdir doctor', 'test git, sandbox, keys and connectors'],
        ['agentdir doctor --json | jq \'.[] | select(.state != "ok")\'', 'only problems and notes'],
      ],
      exits: {1: 'a problem was found'},
      json: 'value',
    },
  );
}

interface StartFlags {
  once?: boolean;
  background?: boolean;
  instance?: string;
  retry?: boolean;
  verbose?: boolean;
}
