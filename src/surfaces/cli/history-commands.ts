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
}
