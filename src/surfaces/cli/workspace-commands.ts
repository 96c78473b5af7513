import type {Command} from 'commander';
import {about} from './about.ts';
import type {CommandContext} from './command-context.ts';
import {wholeNumber} from './option-values.ts';

/** workspace, and its list, diff, log and undo. */
export function addWorkspaceCommands(program: Command, {home, json, finish}: CommandContext): void {
  const load = () => import('./workspace.ts');
  const workspace = about(
    program
      .command('workspace')
      .summary('show and undo file changes by agents')
      .description('Show and undo file changes by agents. Each call is one commit in the history of workspaces/AGENT.'),
    {
      examples: [
        ['agentdir workspace', 'list workspaces with their last call'],
        ['agentdir workspace diff coder', 'what its last call changed'],
      ],
    },
  );
  about(
    workspace
      .command('list [agent]', {isDefault: true})
      .summary('list workspaces with their last call')
      .description('List workspaces with their last call. This is the default of `agentdir workspace`.')
      .action(async (agent?: string) =>
        finish(await (await load()).workspaceListCommand({home: home(), agent, json: json()})),
      ),
    {
      examples: [
        ['agentdir workspace', 'all workspaces'],
        ['agentdir workspace list coder', 'one workspace'],
      ],
      json: 'value',
    },
  );
  about(
    workspace
      .command('diff <agent> [call]')
      .summary('show what a call changed')
      .description('Show what a call changed. Default: uncommitted changes, else the last call.')
      .action(async (agent: string, call?: string) =>
        finish(await (await load()).workspaceDiffCommand({home: home(), agent, call, json: json()})),
      ),
    {
      examples: [
        ['agentdir workspace diff coder', 'the last call'],
        ['agentdir workspace diff coder call_7k2 | less -R', 'one call, by part of its id'],
      ],
      exits: {1: 'the workspace cannot be read'},
      json: 'value',
    },
  );
  about(
    workspace
      .command('log <agent>')
      .summary('list calls that changed files')
      .description('List calls that changed files, newest first.')
      .option('-n, --count <number>', 'number of entries (default: 30, with --json all)', wholeNumber)
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
      .summary('undo what a call changed')
      .description(
        'Undo what a call changed, with a new commit. Default: the last call that is not undone. Later changes to other lines stay.',
      )
      .action(async (agent: string, call?: string) =>
        finish(await (await load()).workspaceUndoCommand({home: home(), agent, call, json: json()})),
      ),
    {
      examples: [
        ['agentdir workspace undo coder', 'the last call'],
        ['agentdir workspace undo coder call_7k2', 'one call'],
        ['agentdir workspace undo coder 3f2a91c', 'any commit from `workspace log`; can be an undo itself'],
      ],
      exits: {1: 'the call cannot be undone'},
      json: 'value',
    },
  );
}
