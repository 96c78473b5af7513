import type {Command} from 'commander';
import {whole} from './number-argument.ts';

interface Surroundings {
  home: () => string;
  json: () => boolean;
  finish: (code: number) => void;
}

/** workspace, and its diff, log and undo. */
export function addWorkspace(program: Command, {home, json, finish}: Surroundings): void {
  const load = () => import('./workspace.ts');
  const workspace = program
    .command('workspace')
    .description('what agents did to their files: a commit for each call, in workspaces/AGENT');
  workspace
    .command('list [agent]', {isDefault: true})
    .description('the workspaces, with their last call; this is what `agentdir workspace` does')
    .action(async (agent?: string) => finish(await (await load()).list({home: home(), agent, json: json()})));
  workspace
    .command('diff <agent> [call]')
    .description('what a call changed; without one, what is not committed yet, else the last call')
    .addHelpText(
      'after',
      examples(
        'agentdir workspace diff coder',
        'agentdir workspace diff coder call_7k2 | less -R  by a part of its id',
      ),
    )
    .action(async (agent: string, call?: string) =>
      finish(await (await load()).diff({home: home(), agent, call, json: json()})),
    );
  workspace
    .command('log <agent>')
    .description('the calls that changed files, newest first')
    .option('-n, --count <number>', 'the last so many (default: 30, with --json all)', whole)
    .addHelpText('after', examples('agentdir workspace log coder -n 5'))
    .action(async (agent: string, options: {count?: number}) =>
      finish(await (await load()).log({home: home(), agent, count: options.count, json: json()})),
    );
  workspace
    .command('undo <agent> [call]')
    .description('take back what a call changed, by a commit on top; without one, the last call not taken back')
    .addHelpText(
      'after',
      examples(
        'agentdir workspace undo coder              the last call',
        'agentdir workspace undo coder call_7k2     that one; later changes to other lines stay',
        'agentdir workspace undo coder 3f2a91c      any commit of `workspace log`: also an undo',
      ),
    )
    .action(async (agent: string, call?: string) =>
      finish(await (await load()).undoCall({home: home(), agent, call, json: json()})),
    );
}

function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map(line => `  ${line}`).join('\n')}`;
}
