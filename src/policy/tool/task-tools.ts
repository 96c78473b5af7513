import {z} from 'zod';
import {taskStates} from '../../formats/task/task.ts';
import {flagArgument, nameArgument, priorityArgument, type ToolDefinition, textArgument} from './definition.ts';

const childTask = z.strictObject({
  title: nameArgument('What is to be done.'),
  assignee: textArgument('Agent id, with or without @.').optional(),
  priority: priorityArgument.optional(),
  prompt: textArgument('Instructions for the assignee.').optional(),
  description: textArgument('Background.').optional(),
  depends_on: z.array(z.string()).describe('Ids of tasks that must be completed first.').optional(),
});

export const taskTools = {
  create_task: {
    effect: 'deliver',
    default: 'allow',
    description:
      'Add a task, for yourself or for another agent, who gets it as soon as all it depends on is completed; you are told when it is done. Give `title`, with `children` for a tree of tasks, or `file` and `content` with raw task text.',
    arguments: z
      .strictObject({
        title: nameArgument('What is to be done.').optional(),
        file: textArgument('Task file, for example tasks/redis-check.task.md.').optional(),
        content: textArgument('Raw task text, instead of title.').optional(),
        assignee: textArgument(
          'Agent id, with or without @; new:TEMPLATE or new:provider/model for a new agent. A person approves models that the settings do not list.',
        ).optional(),
        priority: priorityArgument.optional(),
        tags: z.array(z.string()).optional(),
        prompt: textArgument('Instructions for the assignee.').optional(),
        description: textArgument('Background.').optional(),
        depends_on: z.array(z.string()).describe('Ids of tasks that must be completed first.').optional(),
        parent: textArgument('Id of the task this is a part of.').optional(),
        approval_required: flagArgument('A person must approve before it starts.').optional(),
        children: z.array(childTask).optional(),
      })
      .refine(
        task => (task.title === undefined) !== (task.content === undefined) && (task.title !== undefined || task.file),
        {error: 'give either title, or file and content'},
      ),
    result: {task_ids: 'Of the new tasks, parents before their children.', file: 'Where they are.'},
  },
  update_task: {
    effect: 'deliver',
    default: 'allow',
    description:
      'Change the state of a task that you created or have to do, add a note to it, or set its fields. `@name` in a note wakes that agent. What a person wrote stays: the title, prompt, assignee and conditions of a task that a person created, and a task that waits for approval.',
    arguments: z.strictObject({
      id: nameArgument('Task id.'),
      status: z.enum(taskStates).optional(),
      note: textArgument('Appended to its notes.').optional(),
      fields: z.record(z.string(), z.string()).describe('Fields to set, such as result or due.').optional(),
    }),
    result: {id: 'Of the task.', status: 'Its state now.'},
  },
  query_tasks: {
    effect: 'read',
    default: 'allow',
    description:
      "Query tasks, notes, approvals and sessions with SQL (SQLite; SELECT only): tables tasks, notes, approvals, sessions. Names stand without @ and #, several joined by a space; `tags CONTAINS 'db'` finds one of them. A task file may stand in place of a table: `SELECT id, title FROM tasks/x.task.md WHERE state = 'pending' ORDER BY priority`.",
    arguments: z.strictObject({
      query: nameArgument(
        "One SELECT, for example `SELECT id, title, blocked_by FROM tasks WHERE assignee CONTAINS 'executor-001' AND NOT ready`.",
      ),
    }),
    result: {
      columns: 'Their names, in order.',
      rows: 'An object for each row, by column; truth is 1 or 0.',
      row_count: 'How many rows these are.',
      'left_out?': 'That there are more, or that long values were cut, and how to get them.',
      'untrusted?, sources?': 'It has words of tasks that something from outside led to, and what that was.',
    },
  },
} as const satisfies Record<string, ToolDefinition>;
