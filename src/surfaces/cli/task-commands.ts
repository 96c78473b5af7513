import type {Command} from 'commander';
import type {TaskState} from '../../files/task.ts';
import {examples, type Surroundings} from './talk-commands.ts';
import type {AddFlags} from './task-add.ts';
import type {StateFlags} from './task-state.ts';

/** task add, done, start, block, skip, reopen, note, assign. */
export function addTask(program: Command, {home, json, finish}: Surroundings): void {
  const task = program
    .command('task')
    .description('add a task, tick its box, write a note: as you would in its file with an editor');
  task
    .command('add <title...>')
    .description('a new task; prints its id')
    .option('--to <agent>', 'for this agent, or for human')
    .option('--assign <new>', 'for an agent made for it: new:TEMPLATE, or new:provider/model')
    .option('--file <name>', 'in tasks/NAME.task.md, made if missing (default: that of --parent, else todo)')
    .option('--priority <priority>', 'A to D, or high, medium, low')
    .option('--tag <tag>', 'may be given several times', several, [])
    .option('--prompt <text>', 'instructions; - reads standard input')
    .option('--description <text>', 'background; - reads standard input')
    .option('--depends-on <id>', 'wait until that is completed; may be given several times', several, [])
    .option('--parent <id>', 'nested under that task')
    .option('--due <time>', 'a date or time, as in 2026-01-31')
    .option('--approval', 'ask a person before it starts')
    .addHelpText(
      'after',
      examples(
        'agentdir task add "Check Redis" --to executor-001 --priority A --tag ops',
        'agentdir task add Write a report --to planner --prompt - < what-is-wanted.md',
        'id=$(agentdir task add "Which container?" --to retriever-001)',
        'agentdir task add "Is it up?" --to executor-001 --depends-on "$id" --approval',
      ),
    )
    .action(async (words: string[], flags: AddFlags) =>
      finish(await (await import('./task-add.ts')).addTask(home(), words, flags, json())),
    );
  for (const {name, state, description, example} of states) {
    const command = task
      .command(`${name} <ids...>`)
      .description(description)
      .option('--note <text>', 'a note with it; - reads standard input')
      .option('--result <text>', 'what came of it; - reads standard input')
      .addHelpText('after', examples(...example));
    if (state === 'blocked') command.option('--why <text>', 'what keeps it from going on: a note');
    command.action(async (ids: string[], flags: StateFlags) =>
      finish(await (await import('./task-state.ts')).setState(home(), state, ids, flags, json())),
    );
  }
  task
    .command('note <id> <text...>')
    .description('a note below the others; - reads standard input')
    .addHelpText('after', examples('agentdir task note 7k2m "the port is 6380"', 'df -h | agentdir task note 7k2m -'))
    .action(async (id: string, words: string[]) =>
      finish(await (await import('./task-note.ts')).addNote(home(), id, words, json())),
    );
  task
    .command('assign <id> <agents...>')
    .description('others are to do it: their names replace those before the title; or new:TEMPLATE, new:provider/model')
    .addHelpText(
      'after',
      examples(
        'agentdir task assign 7k2m executor-001',
        'agentdir task assign 7k2m human',
        'agentdir task assign 7k2m new:coder',
      ),
    )
    .action(async (id: string, agents: string[]) =>
      finish(await (await import('./task-assign.ts')).assign(home(), id, agents, json())),
    );
  task.addHelpText(
    'after',
    '\nAn id is any unique part of one. List them: agentdir tasks; look at one: agentdir show ID.\nThe daemon fills in the times, and delivers what is ready; without one: agentdir start.',
  );
}

interface StateCommand {
  name: string;
  state: TaskState;
  description: string;
  example: string[];
}

const states: readonly StateCommand[] = [
  {
    name: 'done',
    state: 'completed',
    description: '[x]: completed, which wakes what depends on it',
    example: ['agentdir task done 7k2m --result "it is up"', 'agentdir task done 7k2m 9x1c'],
  },
  {
    name: 'start',
    state: 'in_progress',
    description: '[/]: in progress',
    example: ['agentdir task start 7k2m --note "I do it myself"'],
  },
  {
    name: 'block',
    state: 'blocked',
    description: '[!]: blocked or failed; it wants a reason',
    example: ['agentdir task block 7k2m --why "no access to the host"'],
  },
  {
    name: 'skip',
    state: 'skipped',
    description: '[-]: not to be done',
    example: ['agentdir task skip 7k2m --note "done by hand"'],
  },
  {
    name: 'reopen',
    state: 'pending',
    description: '[ ]: pending again, and delivered again',
    example: ['agentdir task reopen 7k2m --note "look once more, at the replica"'],
  },
];

function several(value: string, before: string[]): string[] {
  return [...before, value];
}
