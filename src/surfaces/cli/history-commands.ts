import type {Command} from 'commander';
import {about} from './about.ts';
import type {CommandContext} from './command-context.ts';
import {choiceOption, wholeNumber} from './option-values.ts';

/** log, undo, fork, replay, verify. */
export function addHistoryCommands(program: Command, {home, json, finish}: CommandContext): void {
  about(
    program
      .command('log [what]')
      .summary('show the journal in plain words')
      .description('Show the journal in plain words, for everything or for one agent, session, task, approval or file.')
      .option('-f, --follow', 'follow new changes until Ctrl-C')
      .option('-n, --count <number>', 'number of entries (default: 30, with --json all)', wholeNumber)
      .option('--all', 'include commits that change no file of the home')
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
        ['agentdir log planner-001 -f', 'follow one agent'],
        ['agentdir log redis-check -n 5', 'the last changes of a task'],
        ['agentdir log --json | jq -r .subject', 'the whole journal, for programs'],
      ],
      exits: {1: 'the journal has no such change'},
      json: 'lines',
      names: {what: 'any'},
    },
  );
  about(
    program
      .command('undo <id>')
      .summary('undo a change')
      .description('Undo one change by a new edit, and list its effects that cannot be undone: docs/history.md.')
      .option('--dry-run', 'show what would change, write nothing')
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
        ['agentdir undo 3f2a91c', 'a commit from `agentdir log`; can be an undo itself'],
        ['agentdir undo redis-check', 'the last change of a task, session, call, approval or file'],
        ['agentdir undo 3f2a91c --dry-run', 'show what would change'],
      ],
      exits: {1: 'the change cannot be undone, or later changes overlap'},
      json: 'value',
      names: {id: 'any'},
    },
  );
  about(
    program
      .command('fork <session>')
      .summary('start a new session from any point of another')
      .description('Start a new session from any point in the history of another, even a removed one: docs/history.md.')
      .option('--at <place>', 'a commit, a message (its number in `show`, or a call or delivery), or COMMIT:MESSAGE')
      .option('--paused', 'create the session paused')
      .action(async (session: string, options: {at?: string; paused?: boolean}) =>
        finish(
          await (await import('./fork.ts')).forkCommand({
            ...{home: home(), session, at: options.at, paused: options.paused === true, json: json()},
          }),
        ),
      ),
    {
      examples: [
        ['agentdir fork planner-001-7k2m', 'from its current state'],
        ['agentdir fork planner-001-7k2m --at 4', 'up to and including message 4'],
        ['agentdir fork planner-001-7k2m --at 3f2a91c', 'from that commit; --at 3f2a91c^: before it'],
      ],
      exits: {1: 'there is no such point', 4: 'the session had errors there'},
      json: 'value',
    },
  );
  about(
    program
      .command('replay [sessions...]')
      .summary('replay sessions offline and report differences')
      .description(
        'Replay sessions offline with the recorded answers and results, and report the first difference. See docs/replay.md.',
      )
      .option('--all', 'all sessions in the journal')
      .addOption(
        choiceOption('--policy <when>', 'use the policy of that time, or the current one', ['then', 'now']).default(
          'then',
        ),
      )
      .option('-v, --verbose', 'show all differences, and edits by people')
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
        ['agentdir replay planner-001-7k2m', 'is the result identical?'],
        ['agentdir replay --all', 'every session in the journal'],
        ['agentdir replay --all --policy now', 'what the current policy would judge differently'],
      ],
      exits: {1: 'a difference was found', 4: 'a recorded version cannot be read'},
      json: 'value',
    },
  );
  about(
    program
      .command('verify [what]')
      .summary('audit: list anything that ran without approval')
      .description(
        'Audit the journal: list anything that ran without approval or a matching rule, in total or for one session or approval. See docs/verify.md.',
      )
      .action(async (what?: string) =>
        finish(await (await import('./verify.ts')).verifyCommand({home: home(), what, json: json()})),
      ),
    {
      examples: [
        ['agentdir verify', 'the whole journal'],
        ['agentdir verify planner-001-7k2m', 'one session'],
      ],
      exits: {1: 'something ran without approval', 4: 'a recorded version cannot be read'},
      json: 'value',
      names: {what: 'any'},
    },
  );
}
