import type {Command} from 'commander';
import {about} from './about.ts';
import type {CommandContext} from './command-context.ts';
import {choiceOption, countOrNone} from './option-values.ts';

const COST_GROUPS = ['agent', 'model', 'day'];
const SESSION_ARGUMENT = {sessions: 'session'} as const;

/** sessions, pause, resume, cancel, compact, rm, cost. */
export function addSessionCommands(program: Command, {home, json, finish}: CommandContext): void {
  about(
    program
      .command('sessions')
      .summary('list sessions')
      .description('List sessions, latest first. Archived ones are left out unless --all.')
      .option('--agent <name>', 'only this agent')
      .option('--all', 'include archived sessions')
      .action(async (options: {agent?: string; all?: boolean}) =>
        finish(
          (await import('./list.ts')).sessionsCommand({
            ...{home: home(), agent: options.agent, all: options.all === true, json: json()},
          }),
        ),
      ),
    {
      examples: [
        ['agentdir sessions', 'the latest sessions'],
        ['agentdir sessions --agent planner-001 --all', 'all sessions of one agent'],
      ],
      json: 'value',
    },
  );
  const change = (verb: 'pause' | 'resume' | 'cancel') => async (sessions: string[]) =>
    finish(
      await (await import('./session-state.ts')).changeSessionsCommand({home: home(), verb, sessions, json: json()}),
    );
  about(
    program
      .command('pause <sessions...>')
      .summary('stop sessions until they are resumed')
      .description(
        'Pause sessions, by any unique part of the id, or by the name of an agent: its shared session. A question under way is dropped and asked again after resume; a running command is ended.',
      )
      .action(change('pause')),
    {
      examples: [
        ['agentdir pause planner-001', "the agent's shared session"],
        ['agentdir pause 7k2m 91xq', 'two sessions'],
      ],
      exits: {1: 'a session is completed', 4: 'a session has errors'},
      json: 'value',
      names: SESSION_ARGUMENT,
    },
  );
  about(
    program
      .command('resume <sessions...>')
      .summary('resume paused or failed sessions')
      .description('Resume sessions that are paused or ended in an error.')
      .action(change('resume')),
    {
      examples: [
        ['agentdir resume planner-001', 'after agentdir pause'],
        ['agentdir resume 7k2m', 'after the cause of its error is fixed'],
      ],
      exits: {1: 'a session is completed', 4: 'a session has errors'},
      json: 'value',
      names: SESSION_ARGUMENT,
    },
  );
  about(
    program
      .command('cancel <sessions...>')
      .summary('cancel the turn under way')
      .description(
        'Cancel the turn under way: the question is dropped, a running command is ended, and pending requests are withdrawn. The session stays open; the next message wakes it.',
      )
      .action(change('cancel')),
    {
      examples: [
        ['agentdir cancel planner-001', 'like Esc in chat'],
        ['agentdir cancel 7k2m', 'a session, by a part of its id'],
      ],
      exits: {1: 'a session is completed', 4: 'a session has errors'},
      json: 'value',
      names: SESSION_ARGUMENT,
    },
  );
  about(
    program
      .command('compact <session>')
      .summary('replace older messages with a checkpoint, for the model')
      .description(
        'Compact a session: its model summarizes the older messages in a checkpoint, which it is sent instead of them from then on. No message is changed or removed; the checkpoint is a file that you can edit; --undo returns to the messages. The daemon does this; the command waits for it.',
      )
      .option('--keep <n>', 'how many of the last messages stay as they are', countOrNone)
      .option('--undo', 'return to the version before')
      .action(async (session: string, options: {keep?: number; undo?: boolean}) =>
        finish(
          await (await import('./compact.ts')).compactCommand({
            ...{home: home(), session, keep: options.keep, undo: options.undo === true, json: json()},
          }),
        ),
      ),
    {
      examples: [
        ['agentdir compact planner-001', "the agent's shared session"],
        ['agentdir compact 7k2m --keep 4', 'leave only the last 4 messages as they are'],
        ['agentdir compact 7k2m --undo', 'send the messages themselves again'],
      ],
      exits: {1: 'nothing was compacted', 4: 'the session has errors'},
      json: 'value',
      names: {session: 'session'},
    },
  );
  about(
    program
      .command('rm <sessions...>')
      .summary('archive sessions')
      .description('Move sessions to sessions/archive/. Nothing is deleted; they take no more messages.')
      .option('--force', 'also sessions at work')
      .action(async (sessions: string[], options: {force?: boolean}) =>
        finish(
          await (await import('./session-state.ts')).removeSessionsCommand({
            ...{home: home(), sessions, force: options.force === true, json: json()},
          }),
        ),
      ),
    {
      examples: [
        ['agentdir rm planner-001-7k2m', 'archive one session'],
        ['agentdir rm 7k2m 91xq --force', 'also if they are at work'],
      ],
      exits: {1: 'a session is at work', 4: 'a session has errors'},
      json: 'value',
      names: SESSION_ARGUMENT,
    },
  );
  about(
    program
      .command('cost')
      .summary('show the cost of model calls')
      .description(
        'Show the cost of model calls, from the usage in all sessions. The cost of a model without a price is unknown.',
      )
      .addOption(choiceOption('--by <group>', 'a row for each agent, model or day (UTC)', COST_GROUPS).default('agent'))
      .action(async (options: {by: string}) =>
        finish((await import('./cost.ts')).costCommand({home: home(), by: options.by, json: json()})),
      ),
    {
      examples: [
        ['agentdir cost', 'a row for each agent'],
        ['agentdir cost --by day', 'a row for each day'],
        ['agentdir cost --by model --json | jq .total.cost_usd', 'for programs'],
      ],
      json: 'value',
    },
  );
}
