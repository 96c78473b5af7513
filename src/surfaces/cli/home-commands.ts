import type {Command} from 'commander';
import {exit, UserError} from '../../formats/common/errors.ts';
import {about} from './about.ts';
import type {CommandContext, ProgramInfo} from './command-context.ts';

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
  about(
    program
      .command('start')
      .summary('run the daemon for this home')
      .description(
        'Run the daemon for this home until Ctrl-C: check your edits, fill in missing fields, commit, answer messages, run allowed and approved commands.',
      )
      .option('--once', 'process pending work, then exit')
      .option('--background', 'run in the background; see stop, restart, status')
      .action(async (options: {once?: boolean; background?: boolean}) => {
        if (options.once && options.background)
          throw new UserError('--once and --background exclude each other', exit.usage);
        if (options.background)
          finish(await (await background()).startInBackground({home: home(), program: self, json: json()}));
        else finish(await serve({home: home(), once: options.once === true, json: json()}));
      }),
    {
      examples: [
        ['agentdir start', 'in the foreground; prints events'],
        ['agentdir start --background', 'in the background; returns when the daemon is ready'],
        ['agentdir start --once', 'for cron and scripts: process pending work, then exit'],
      ],
      exits: {
        1: 'it failed; with --once, a session ended in error',
        3: 'with --once, something waits for your decision',
        4: 'with --once, a file has errors',
        5: 'a daemon is already running',
      },
      json: 'lines',
    },
  );
  about(
    program
      .command('stop [sessions...]')
      .summary('stop the daemon, or sessions')
      .description(
        'Stop the daemon and wait until it has exited; after 10 seconds it is killed. With sessions, stop those and leave the daemon alone: a session that does a task ends with the result "stopped", any other is paused.',
      )
      .action(async (sessions: string[]) => {
        if (sessions.length === 0) return finish(await (await background()).stopDaemon({home: home(), json: json()}));
        const {changeSessionsCommand} = await import('./session-state.ts');
        return finish(await changeSessionsCommand({home: home(), verb: 'stop', sessions, json: json()}));
      }),
    {
      examples: [
        ['agentdir stop', 'the daemon of the current home'],
        ['agentdir stop planner-001-7k2m.1', 'a task that planner-001-7k2m gave to another agent'],
      ],
      exits: {1: 'the daemon did not exit', 4: 'a session has errors', 5: 'no daemon is running'},
      json: 'value',
      names: {sessions: 'session'},
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
