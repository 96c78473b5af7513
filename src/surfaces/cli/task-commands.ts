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
      .summary('list tasks, or query them with SQL')
      .description(
        'List the tasks of all task files and what each is waiting for, or run a SELECT over them: see docs/query.md.',
      )
      .action(async (sql?: string) =>
        finish(
          sql === undefined
            ? await (await import('./tasks.ts')).tasksCommand({home: home(), json: json()})
            : await (await import('./query.ts')).queryCommand({home: home(), sql, json: json()}),
        ),
      ),
    {
      examples: [
        ['agentdir tasks', 'all tasks, as trees'],
        ['agentdir tasks "SELECT id, title FROM tasks WHERE ready"', 'tasks that can start'],
        ["agentdir tasks --json | jq -r '.[] | select(.blocked_by) | .id'", 'tasks that wait for other tasks'],
      ],
      exits: {1: 'the query took too long'},
      json: 'value',
    },
  );
  const task = about(
    program
      .command('task')
      .summary('add and change tasks')
      .description(
        'Add and change tasks, as you could in an editor. Any unique part of an id works; `agentdir tasks` lists ids. The daemon fills in times and delivers tasks that are ready.',
      ),
    {
      examples: [
        ['agentdir task add "Check Redis" --to executor-001', 'add a task and print its id'],
        ['agentdir task done 7k2m', 'tick its box'],
      ],
    },
  );
  about(
    task
      .command('add <title...>')
      .summary('add a task and print its id')
      .option('--to <agent>', 'assign to this agent, or to human')
      .option('--assign <new>', 'assign to a new agent: new:TEMPLATE or new:provider/model')
      .option(
        '--file <name>',
        'add to tasks/NAME.task.md, created if missing (default: the file of --parent, else todo)',
      )
      .option('--priority <priority>', 'A to D, or high, medium, low')
      .option('--tag <tag>', 'a tag; repeatable', several)
      .option('--prompt <text>', 'instructions; - reads standard input')
      .option('--description <text>', 'background; - reads standard input')
      .option('--depends-on <id>', 'wait until this task is completed; repeatable', several)
      .option('--parent <id>', 'nest under this task')
      .option('--due <time>', 'due date or time, such as 2026-01-31')
      .option('--approval', 'ask a person before it starts')
      .action(async (words: string[], flags: AddFlags) =>
        finish(await (await import('./task-add.ts')).taskAddCommand(home(), words, flags, json())),
      ),
    {
      examples: [
        ['agentdir task add "Check Redis" --to executor-001 --priority A --tag ops', 'high priority, for an agent'],
        ['agentdir task add Write a report --to planner --prompt - < wanted.md', 'instructions from a file'],
        ['id=$(agentdir task add "Which container?" --to retriever-001)', 'keep the id for the next command'],
        ['agentdir task add "Is it up?" --depends-on "$id" --approval', 'after that task, and after your approval'],
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
      .option('--note <text>', 'add a note; - reads standard input')
      .option('--result <text>', 'set the result; - reads standard input');
    if (state === 'blocked') command.option('--why <text>', 'the reason, as a note');
    command.action(async (ids: string[], flags: StateFlags) =>
      finish(await (await import('./task-state.ts')).taskStateCommand(home(), state, ids, flags, json())),
    );
    about(command, {examples, exits: CHANGED, json: 'value', names: {ids: 'task'}});
  }
  about(
    task
      .command('note <id> <text...>')
      .summary('add a note')
      .description('Add a note to a task; - reads standard input. The agent that works on the task is notified.')
      .action(async (id: string, words: string[]) =>
        finish(await (await import('./task-note.ts')).taskNoteCommand(home(), id, words, json())),
      ),
    {
      examples: [
        ['agentdir task note 7k2m "the port is 6380"', 'notifies its agent'],
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
      .summary('change the assignees')
      .description('Replace the assignees of a task with agents, human, new:TEMPLATE or new:provider/model.')
      .action(async (id: string, agents: string[]) =>
        finish(await (await import('./task-assign.ts')).taskAssignCommand(home(), id, agents, json())),
      ),
    {
      examples: [
        ['agentdir task assign 7k2m executor-001', 'another agent'],
        ['agentdir task assign 7k2m human', 'you'],
        ['agentdir task assign 7k2m new:coder', 'a new agent'],
      ],
      exits: CHANGED,
      json: 'value',
      names: {id: 'task', agents: 'assignee'},
    },
  );
}

const CHANGED = {1: 'the file could not be written', 4: 'a task file has errors'};

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
    description: '[x]: mark as completed; unblocks dependent tasks',
    examples: [
      ['agentdir task done 7k2m --result "it is up"', 'informs whoever created the task'],
      ['agentdir task done 7k2m 9x1c', 'both, or none if an id is unknown'],
    ],
  },
  {
    name: 'start',
    state: 'in_progress',
    description: '[/]: mark as in progress',
    examples: [
      ['agentdir task start 7k2m', 'the daemon no longer delivers it'],
      ['agentdir task start 7k2m --note "I do it myself"', 'and say why'],
    ],
  },
  {
    name: 'block',
    state: 'blocked',
    description: '[!]: mark as blocked or failed, with a reason',
    examples: [
      ['agentdir task block 7k2m --why "no access to the host"', 'dependent tasks keep waiting'],
      ['curl -sS example.org 2>&1 | agentdir task block 7k2m --why -', 'the reason from a pipe'],
    ],
  },
  {
    name: 'skip',
    state: 'skipped',
    description: '[-]: skip',
    examples: [
      ['agentdir task skip 7k2m', 'skip a task'],
      ['agentdir task skip 7k2m --note "done by hand"', 'and say why'],
    ],
  },
  {
    name: 'reopen',
    state: 'pending',
    description: '[ ]: mark as pending; it is delivered again',
    examples: [
      ['agentdir task reopen 7k2m', 'deliver it again'],
      ['agentdir task reopen 7k2m --note "look once more, at the replica"', 'with a hint for the assignee'],
    ],
  },
];

function several(value: string, before: string[] = []): string[] {
  return [...before, value];
}
