import type {Command} from 'commander';
import {examples, type Surroundings} from './talk-commands.ts';

/** undo, fork. */
export function addHistory(program: Command, {home, json, finish}: Surroundings): void {
  program
    .command('undo <id>')
    .description('take one state change back by an edit, and say what that cannot: docs/history.md')
    .option('--dry-run', 'say what would be done, and write nothing')
    .addHelpText(
      'after',
      examples(
        'agentdir undo 3f2a91c             a commit of `agentdir log`; also an undo',
        'agentdir undo redis-check         the last change about a task, session, call, approval or file',
        'agentdir undo 3f2a91c --dry-run',
      ),
    )
    .action(async (id: string, options: {dryRun?: boolean}) =>
      finish(await (await import('./undo.ts')).undo({home: home(), id, dryRun: options.dryRun === true, json: json()})),
    );
  program
    .command('fork <session>')
    .description('a new session from any point of the history of one, also of one that was removed: docs/history.md')
    .option('--at <place>', 'a commit, a message (its number in `show`, or a call or delivery), or COMMIT:MESSAGE')
    .option('--paused', 'do not let it be answered yet')
    .addHelpText(
      'after',
      examples(
        'agentdir fork planner-001-7k2m                as it is now',
        'agentdir fork planner-001-7k2m --at 4         up to and with its fourth message',
        'agentdir fork planner-001-7k2m --at 3f2a91c   as it was then; --at 3f2a91c^: before that',
      ),
    )
    .action(async (session: string, options: {at?: string; paused?: boolean}) =>
      finish(
        await (await import('./fork.ts')).forkCommand({
          home: home(),
          session,
          at: options.at,
          paused: options.paused === true,
          json: json(),
        }),
      ),
    );
}
