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
      .summary('make a home, or what is missing in one')
      .description('Make a home: templates, policy, example memory, git repository. Never overwrites.')
      .action(async (dir = '.') => finish(await (await import('./init.ts')).initCommand({dir, source, json: json()}))),
    {
      examples: [
        ['agentdir init ~/agents', 'a new home, with its first commit'],
        ['agentdir init', 'in this folder; in a home, only what is missing'],
      ],
      exits: {1: 'it could not be made'},
      json: 'value',
    },
  );
  about(
    program
      .command('demo')
      .summary('a question in Slack, answered by four agents: twenty seconds')
      .description(
        'A question in Slack, answered by four agents: a story of some twenty seconds, offline, in a home of its own. You tick two boxes.',
      )
      .option('--auto', 'tick the two boxes, too')
      .option('--fast', 'without pauses for reading; so it is where standard output is no terminal')
      .option('--dir <dir>', 'where to make its home: a new or empty folder (default: a temporary one)')
      .action(async (options: {auto?: boolean; fast?: boolean; dir?: string}) => {
        if (program.opts().home !== undefined)
          throw new UserError('demo makes a home of its own', exit.usage, 'to say where: agentdir demo --dir DIR');
        finish(
          await (await import('./demo.ts')).demoCommand({
            ...{auto: options.auto === true, fast: options.fast === true, dir: options.dir},
            ...{json: json(), source, program: self},
          }),
        );
      }),
    {
      examples: [
        ['agentdir demo', 'the story, with you as the one who decides'],
        ['agentdir demo --auto --fast', 'all by itself, without pauses'],
        ['agentdir demo --dir ~/story', 'its home there, to look around in later'],
      ],
      exits: {1: 'the story did not come to its end'},
      json: 'lines',
    },
  );
  about(
    program
      .command('start')
      .summary('serve the home until stopped')
      .description(
        'Serve the home until stopped (Ctrl-C): check every edit, complete it, commit it as yours, answer messages, run what may run.',
      )
      .option('--once', 'work until nothing is left to do, then exit')
      .option('--background', 'go on without this terminal; see stop, restart, status')
      .action(async (options: {once?: boolean; background?: boolean}) => {
        if (options.once && options.background)
          throw new UserError('--once and --background exclude each other', exit.usage);
        if (options.background)
          finish(await (await background()).startInBackground({home: home(), program: self, json: json()}));
        else finish(await serve({home: home(), once: options.once === true, json: json()}));
      }),
    {
      examples: [
        ['agentdir start', 'here, with what happens on the screen'],
        ['agentdir start --background', 'the same without a terminal; returns when it serves'],
        ['agentdir start --once', 'for cron and scripts: do what there is to do, then exit'],
      ],
      exits: {
        1: 'it failed; with --once, a session ended in error',
        3: 'with --once, something waits for a person',
        4: 'with --once, a file has errors',
        5: 'a daemon already runs',
      },
      json: 'lines',
    },
  );
  about(
    program
      .command('stop')
      .summary('stop the daemon')
      .description('Stop the daemon. Returns when it is gone, after 10 seconds at most.')
      .action(async () => finish(await (await background()).stopDaemon({home: home(), json: json()}))),
    {
      examples: [
        ['agentdir stop', 'of the home you are in'],
        ['agentdir stop --home ~/agents', 'of another'],
      ],
      exits: {1: 'it did not end', 5: 'no daemon runs'},
      json: 'value',
    },
  );
  about(
    program
      .command('restart')
      .summary('stop the daemon if there is one, and start it in the background')
      .description('Stop the daemon, if there is one, and start it in the background.')
      .action(async () =>
        finish(await (await background()).restartDaemon({home: home(), program: self, json: json()})),
      ),
    {
      examples: [
        ['agentdir restart', 'after a new version, or with other keys'],
        ['OPENAI_API_KEY=… agentdir restart', 'keys are read from the environment of the start'],
      ],
      exits: {1: 'it did not end, or did not start', 5: 'another was quicker'},
      json: 'value',
    },
  );
  about(
    program
      .command('status')
      .summary('the daemon, the home, and what waits for you')
      .description('The daemon, the home, and what waits for you.')
      .action(async () => finish(await (await import('./status.ts')).statusCommand({home: home(), json: json()}))),
    {
      examples: [
        ['agentdir status', 'how things stand'],
        ['agentdir status >/dev/null || agentdir start --background', 'a daemon, if there is none'],
        ['agentdir status --json | jq .needs', 'how many things wait for a person'],
      ],
      exits: {5: 'no daemon runs'},
      json: 'value',
    },
  );
  about(
    program
      .command('doctor')
      .summary('what this machine and home have and lack')
      .description('What this machine and home have and lack, and what to do about it.')
      .action(async () => finish(await (await import('./doctor.ts')).doctorCommand({home: home(), json: json()}))),
    {
      examples: [
        ['agentdir doctor', 'git, sandbox, models, connectors: each tried out'],
        ['agentdir doctor --json | jq \'.[] | select(.state != "ok")\'', 'only what is amiss'],
      ],
      exits: {1: 'something is amiss'},
      json: 'value',
    },
  );
}
