import type {Command} from 'commander';
import {about} from './about.ts';
import {choiceOption} from './choice.ts';
import type {CommandContext} from './command-context.ts';
import {wholeNumber} from './number-argument.ts';

/** log, undo, fork, replay, verify. */
export function addHistoryCommands(program: Command, {home, json, finish}: CommandContext): void {
  about(
    program
      .command('log [what]')
      .summary('the journal in plain words')
      .description('The journal in plain words: all of it, or about an agent, session, task, approval or file.')
      .option('-f, --follow', 'go on as things happen, until Ctrl-C')
      .option('-n, --count <number>', 'the last so many (default: 30, with --json all)', wholeNumber)
      .option('--all', 'every commit of the repository, also those that change no file of the home')
      .action(async (what: string | undefined, options: {follow?: boolean; count?: number; all?: boolean}) =>
        finish(
          await (await import('./log.ts')).logCommand({
            ...{home: home(), what, count: options.count, all: options.all === true},
            ...{follow: options.follow === true, json: json()},
          }),
        ),
      ),
    {
      examples: [
        ['agentdir log', 'the last 30 changes'],
        ['agentdir log planner-001 -f', 'what one agent does, as it does it'],
        ['agentdir log redis-check -n 5', 'the last changes about a task'],
        ['agentdir log --json | jq -r .subject', 'all of it, for a program'],
      ],
      exits: {1: 'the journal has nothing about it'},
      json: 'lines',
      names: {what: 'any'},
    },
  );
  about(
    program
      .command('undo <id>')
      .summary('take one state change back')
      .description('Take one state change back by an edit, and say what that cannot: docs/history.md.')
      .option('--dry-run', 'say what would be done, and write nothing')
      .action(async (id: string, options: {dryRun?: boolean}) =>
        finish(
          await (await import('./undo.ts')).undoCommand({
            home: home(),
            id,
            dryRun: options.dryRun === true,
            json: json(),
          }),
        ),
      ),
    {
      examples: [
        ['agentdir undo 3f2a91c', 'a commit of `agentdir log`; also an undo'],
        ['agentdir undo redis-check', 'the last change about a task, session, call, approval or file'],
        ['agentdir undo 3f2a91c --dry-run', 'only say what it would do'],
      ],
      exits: {1: 'it cannot be taken back, or what stands there now is in the way'},
      json: 'value',
      names: {id: 'any'},
    },
  );
  about(
    program
      .command('fork <session>')
      .summary('a new session from any point of another')
      .description('A new session from any point of the history of one, also of one that was removed: docs/history.md.')
      .option('--at <place>', 'a commit, a message (its number in `show`, or a call or delivery), or COMMIT:MESSAGE')
      .option('--paused', 'do not let it be answered yet')
      .action(async (session: string, options: {at?: string; paused?: boolean}) =>
        finish(
          await (await import('./fork.ts')).forkCommand({
            ...{home: home(), session, at: options.at, paused: options.paused === true, json: json()},
          }),
        ),
      ),
    {
      examples: [
        ['agentdir fork planner-001-7k2m', 'as it is now'],
        ['agentdir fork planner-001-7k2m --at 4', 'up to and with its fourth message'],
        ['agentdir fork planner-001-7k2m --at 3f2a91c', 'as it was then; --at 3f2a91c^: before that'],
      ],
      exits: {1: 'there is no such point', 4: 'the session had errors there'},
      json: 'value',
    },
  );
  about(
    program
      .command('replay [sessions...]')
      .summary('a session once more, offline: the first difference')
      .description(
        'Sessions once more, offline, with the answers and results that were recorded: the first difference. See docs/replay.md.',
      )
      .option('--all', 'all sessions that the journal has')
      .addOption(
        choiceOption('--policy <when>', 'judge calls by the policy of their time, or by the one on disk now', [
          'then',
          'now',
        ]).default('then'),
      )
      .option('-v, --verbose', 'all differences, and what people changed')
      .action(async (sessions: string[], options: {all?: boolean; policy: 'then' | 'now'; verbose?: boolean}) =>
        finish(
          await (await import('./replay.ts')).replayCommand({
            ...{home: home(), json: json(), sessions, policy: options.policy},
            ...{all: options.all === true, verbose: options.verbose === true},
          }),
        ),
      ),
    {
      examples: [
        ['agentdir replay planner-001-7k2m', 'does it come to the same?'],
        ['agentdir replay --all', 'every session of the journal'],
        ['agentdir replay --all --policy now', "what today's policy would have judged otherwise"],
      ],
      exits: {1: 'something is different', 4: 'a recorded version cannot be read'},
      json: 'value',
    },
  );
  about(
    program
      .command('verify [what]')
      .summary('every execution without a valid decision before it')
      .description(
        'Every execution in the journal without a valid decision before it; or those of a session or approval. See docs/verify.md.',
      )
      .action(async (what?: string) =>
        finish(await (await import('./verify.ts')).verifyCommand({home: home(), what, json: json()})),
      ),
    {
      examples: [
        ['agentdir verify', 'the whole journal'],
        ['agentdir verify planner-001-7k2m', 'what one session ran'],
      ],
      exits: {1: 'something ran without one', 4: 'a recorded version cannot be read'},
      json: 'value',
      names: {what: 'any'},
    },
  );
}
