import type {Command} from 'commander';
import {exit, UserError} from '../../formats/common/errors.ts';
import {about} from './about.ts';
import type {CommandContext} from './command-context.ts';

/** agents start, stop, restart and health. */
export function addAgentControlCommands(agents: Command, {home, json, finish}: CommandContext): void {
  const load = () => import('./agent-control.ts');
  const names = {names: 'agent'} as const;
  about(
    agents
      .command('stop <names...>')
      .summary('stop agents: nothing is asked or run for them')
      .description(
        'Stop agents. Nothing is asked or run for them until they are started again, also after a restart of the daemon. Messages still reach their sessions. A question under way is asked again later; a running command is ended.',
      )
      .option('--why <text>', 'the reason, shown to others')
      .action(async (given: string[], {why}: {why?: string}) =>
        finish(await (await load()).stopAgentsCommand({home: home(), names: given, why, json: json()})),
      ),
    {
      examples: [
        ['agentdir agents stop coder', 'until agentdir agents start coder'],
        ['agentdir agents stop coder reviewer --why "release day"', 'two agents, with the reason'],
      ],
      exits: {4: 'state/agents.yaml has errors'},
      json: 'value',
      names,
    },
  );
  about(
    agents
      .command('start [names...]')
      .summary('let stopped agents work again')
      .description('Let stopped agents work again: their sessions go on where they were.')
      .option('--all', 'all that are stopped')
      .action(async (given: string[], {all}: {all?: boolean}) => {
        if (given.length > 0 === (all === true))
          throw new UserError('name agents, or use --all', exit.usage, 'for example: agentdir agents start coder');
        finish(await (await load()).startAgentsCommand({home: home(), names: given, json: json()}));
      }),
    {
      examples: [
        ['agentdir agents start coder', 'after agentdir agents stop coder'],
        ['agentdir agents start --all', 'all that are stopped'],
      ],
      exits: {4: 'state/agents.yaml has errors'},
      json: 'value',
      names,
    },
  );
  about(
    agents
      .command('restart <names...>')
      .summary('stop agents, then start them')
      .description(
        'Stop agents, wait until their turns have ended, and start them: what they were asked is asked again.',
      )
      .action(async (given: string[]) =>
        finish(await (await load()).restartAgentsCommand({home: home(), names: given, json: json()})),
      ),
    {
      examples: [
        ['agentdir agents restart coder', 'if its turn hangs'],
        ['agentdir agents restart coder reviewer', 'two agents'],
      ],
      exits: {4: 'state/agents.yaml has errors'},
      json: 'value',
      names,
    },
  );
  about(
    agents
      .command('health [names...]')
      .summary('show which agents are stuck, and why')
      .description('Show what each agent does or waits for, and why it is stuck. Idle agents are one line.')
      .action(async (given: string[]) =>
        finish((await load()).healthCommand({home: home(), names: given, json: json()})),
      ),
    {
      examples: [
        ['agentdir agents health', 'all agents'],
        ['agentdir agents health coder --json | jq .[0].status', 'one agent, for programs'],
      ],
      exits: {1: 'an agent is stuck, failed or has errors', 4: 'state/agents.yaml has errors'},
      json: 'value',
      names,
    },
  );
}
