import type {Command} from 'commander';
import type {TaskState} from '../../formats/task/task.ts';
import {type About, about} from './about.ts';
import type {CommandContext} from './command-context.ts';
import type {AddFlags} from './task-add.ts';
import type {StateFlags} from './task-state.ts';

/** tasks, and task with add, done, start, block, skip, reopen, note, assign. */
export function addTaskCommands(program: Command, {home, json, finish}: CommandContext): void {
  about(
    program
      .command('tasks [sql]')
      .summary('all tasks, and what each waits for; or a SELECT')
      .description('The tasks of all task files, and what each waits for; or a SELECT over them: see docs/query.md.')
      .action(async (sql?: string) =>
        finish(
          sql === undefined
            ? await (await import('./tasks.ts')).tasksCommand({home: home(), json: json()})
            : await (await import('./query.ts')).queryCommand({home: home(), sql, json: json()}),
        ),
      ),
    {
      examples: [
        ['agentdir tasks', 'file by file, as the trees they are'],
        ['agentdir tasks "SELECT id, title FROM tasks WHERE ready"', 'what can be begun'],
        ["agentdir tasks --json | jq -r '.[] | select(.blocked_by) | .id'", 'what waits for others'],
      ],
      exits: {1: 'the query took too long'},
      json: 'value',
    },
  );
  const task = about(
    program
      .command('task')
      .summary('add a task, tick its box, write a note')
      .description(
        'Add a task, tick its box, write a note: as you would in its file with an editor. An id is any unique part of one; `agentdir tasks` lists them. The daemon fills in the times, and delivers what is ready.',
      ),
    {
      examples: [
        ['agentdir task add "Check Redis" --to executor-001', 'a new task; prints its id'],
        ['agentdir task done 7k2m', 'tick its box'],
      ],
    },
  );
  about(
    task
      .command('add <title...>')
      .summary('a new task; prints its id')
      .description('A new task; prints its id.')
      .option('--to <agent>', 'for this agent, or for human')
      .option('--assign <new>', 'for an agent made for it: new:TEMPLATE, or new:provider/model')
      .option('--file <name>', 'in tasks/NAME.task.md, made if missing (default: that of --parent, else todo)')
      .option('--priority <priority>', 'A to D, or high, medium, low')
      .option('--tag <tag>', 'may be given several times', several)
      .option('--prompt <text>', 'instructions; - reads standard input')
      .option('--description <text>', 'background; - reads standard input')
      .option('--depends-on <id>', 'wait until that is completed; may be given several times', several)
      .option('--parent <id>', 'nested under that task')
      .option('--due <time>', 'a date or time, as in 2026-01-31')
      .option('--approval', 'ask a person before it starts')
      .action(async (words: string[], flags: AddFlags) =>
        finish(await (await import('./task-add.ts')).taskAddCommand(home(), words, flags, json())),
      ),
    {
      examples: [
        ['agentdir task add "Check Redis" --to executor-001 --priority A --tag ops', 'for an agent, soon'],
        ['agentdir task add Write a report --to planner --prompt - < wanted.md', 'instructions from a file'],
        ['id=$(agentdir task add "Which container?" --to retriever-001)', 'its id, to go on with:'],
        ['agentdir task add "Is it up?" --depends-on "$id" --approval', 'after that, and after your yes'],
      ],
      exits: CHANGED,
      json: 'value',
      names: {parent: 'task', dependsOn: 'task', to: 'assignee', assign: 'assignee'},
    },
  );
  for (const {name, state, description, examples} of states) {
    const command = task
      .command(`${name} <ids...>`)
      .summary(description)
      .description(`${description}.`)
      .option('--note <text>', 'a note with it; - reads standard input')
      .option('--result <text>', 'what came of it; - reads standard input');
    if (state === 'blocked') command.option('--why <text>', 'what keeps it from going on: a note');
    command.action(async (ids: string[], flags: StateFlags) =>
      finish(await (await import('./task-state.ts')).taskStateCommand(home(), state, ids, flags, json())),
    );
    about(command, {examples, exits: CHANGED, json: 'value', names: {ids: 'task'}});
  }
  about(
    task
      .command('note <id> <text...>')
      .summary('a note below the others')
      .description('A note below the others; - reads standard input.')
      .action(async (id: string, words: string[]) =>
        finish(await (await import('./task-note.ts')).taskNoteCommand(home(), id, words, json())),
      ),
    {
      examples: [
        ['agentdir task note 7k2m "the port is 6380"', 'whoever works on it reads it'],
        ['df -h | agentdir task note 7k2m -', 'from a pipe'],
      ],
      exits: CHANGED,
      json: 'value',
      names: {id: 'task'},
    },
  );
  about(
    task
      .command('assign <id> <agents...>')
      .summary('others are to do it')
      .description(
        'Others are to do it: their names replace those before the title; or new:TEMPLATE, new:provider/model.',
      )
      .action(async (id: string, agents: string[]) =>
        finish(await (await import('./task-assign.ts')).taskAssignCommand(home(), id, agents, json())),
      ),
    {
      examples: [
        ['agentdir task assign 7k2m executor-001', 'another agent'],
        ['agentdir task assign 7k2m human', 'you'],
        ['agentdir task assign 7k2m new:coder', 'an agent made for it'],
      ],
      exits: CHANGED,
      json: 'value',
      names: {id: 'task', agents: 'assignee'},
    },
  );
}

const CHANGED = {1: 'it could not be written', 4: 'a task file has errors'};

interface StateCommand {
  name: string;
  state: TaskState;
  description: string;
  examples: About['examples'];
}

const states: readonly StateCommand[] = [
  {
    name: 'done',
    state: 'completed',
    description: '[x]: completed, which wakes what depends on it',
    examples: [
      ['agentdir task done 7k2m --result "it is up"', 'whoever asked for it is told'],
      ['agentdir task done 7k2m 9x1c', 'both, or none if one is unknown'],
    ],
  },
  {
    name: 'start',
    state: 'in_progress',
    description: '[/]: in progress',
    examples: [
      ['agentdir task start 7k2m', 'it is no longer delivered to anybody'],
      ['agentdir task start 7k2m --note "I do it myself"', 'and say why'],
    ],
  },
  {
    name: 'block',
    state: 'blocked',
    description: '[!]: blocked or failed; it wants a reason',
    examples: [
      ['agentdir task block 7k2m --why "no access to the host"', 'what depends on it goes on waiting'],
      ['curl -sS example.org 2>&1 | agentdir task block 7k2m --why -', 'the reason from a pipe'],
    ],
  },
  {
    name: 'skip',
    state: 'skipped',
    description: '[-]: not to be done',
    examples: [
      ['agentdir task skip 7k2m', 'it will not be done'],
      ['agentdir task skip 7k2m --note "done by hand"', 'and say why'],
    ],
  },
  {
    name: 'reopen',
    state: 'pending',
    description: '[ ]: pending again, and delivered again',
    examples: [
      ['agentdir task reopen 7k2m', 'it is delivered once more'],
      ['agentdir task reopen 7k2m --note "look once more, at the replica"', 'with what is to be better'],
    ],
  },
];

function several(value: string, before: string[] = []): string[] {
  return [...before, value];
}
