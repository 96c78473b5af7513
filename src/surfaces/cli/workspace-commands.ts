import type {Command} from 'commander';
import {about} from './about.ts';
import type {CommandContext} from './command-context.ts';
import {wholeNumber} from './number-argument.ts';

/** workspace, and its list, diff, log and undo. */
export function addWorkspaceCommands(program: Command, {home, json, finish}: CommandContext): void {
  const load = () => import('./workspace.ts');
  const workspace = about(
    program
      .command('workspace')
      .summary('what agents did to their files, and back')
      .description('What agents did to their files: a commit for each call, in workspaces/AGENT.'),
    {
      examples: [
        ['agentdir workspace', 'the workspaces, with their last call'],
        ['agentdir workspace diff coder', 'what its last call changed'],
      ],
    },
  );
  about(
    workspace
      .command('list [agent]', {isDefault: true})
      .summary('the workspaces, with their last call')
      .description('The workspaces, with their last call; this is what `agentdir workspace` does.')
      .action(async (agent?: string) =>
        finish(await (await load()).workspaceListCommand({home: home(), agent, json: json()})),
      ),
    {
      examples: [
        ['agentdir workspace', 'all of them'],
        ['agentdir workspace list coder', 'one'],
      ],
      json: 'value',
    },
  );
  about(
    workspace
      .command('diff <agent> [call]')
      .summary('what a call changed')
      .description('What a call changed; without one, what is not committed yet, else the last call.')
      .action(async (agent: string, call?: string) =>
        finish(await (await load()).workspaceDiffCommand({home: home(), agent, call, json: json()})),
      ),
    {
      examples: [
        ['agentdir workspace diff coder', 'the last call'],
        ['agentdir workspace diff coder call_7k2 | less -R', 'one, by a part of its id'],
      ],
      exits: {1: 'the workspace cannot be read'},
      json: 'value',
    },
  );
  about(
    workspace
      .command('log <agent>')
      .summary('the calls that changed files')
      .description('The calls that changed files, newest first.')
      .option('-n, --count <number>', 'the last so many (default: 30, with --json all)', wholeNumber)
      .action(async (agent: string, options: {count?: number}) =>
        finish(await (await load()).workspaceLogCommand({home: home(), agent, count: options.count, json: json()})),
      ),
    {
      examples: [
        ['agentdir workspace log coder', 'the last 30'],
        ['agentdir workspace log coder -n 5', 'the last five'],
      ],
      exits: {1: 'the workspace cannot be read'},
      json: 'lines',
    },
  );
  about(
    workspace
      .command('undo <agent> [call]')
      .summary('take back what a call changed')
      .description(
        'Take back what a call changed, by a commit on top; without one, the last call not taken back. Later changes to other lines stay.',
      )
      .action(async (agent: string, call?: string) =>
        finish(await (await load()).workspaceUndoCommand({home: home(), agent, call, json: json()})),
      ),
    {
      examples: [
        ['agentdir workspace undo coder', 'the last call'],
        ['agentdir workspace undo coder call_7k2', 'that one'],
        ['agentdir workspace undo coder 3f2a91c', 'any commit of `workspace log`: also an undo'],
      ],
      exits: {1: 'it cannot be taken back'},
      json: 'value',
    },
  );
}
