import {fieldOf, priorityNamed, type Task} from '../formats/task/task.ts';
import {parseTasks} from '../formats/task/task-parse.ts';
import type {NewTask} from '../formats/task/task-text.ts';

/** A task requested by an agent. */
export interface WantedTask {
  title: string;
  assignee?: string | undefined;
  priority?: string | undefined;
  tags?: readonly string[] | undefined;
  prompt?: string | undefined;
  description?: string | undefined;
  depends_on?: readonly string[] | undefined;
  approval_required?: boolean | undefined;
  children?: readonly WantedTask[] | undefined;
}

/** Fields about the creation of tasks, and their ids. */
export interface TaskOrigin {
  fields: Readonly<Record<string, string>>;
  /** The id of the n-th task, from 0, parents before children. */
  idFor: (index: number) => string;
}

/** Fields that only the daemon sets. */
export const DAEMON_FIELDS: ReadonlySet<string> = new Set(
  'id created created_by created_in assigned started completed session attempt notified parts_done mentioned informed withdrawn approval taint chain stalled status type'.split(
    ' ',
  ),
);

/** Fields of raw tasks that are written on the task's line, or not at all. */
const WRITTEN_APART: ReadonlySet<string> = new Set(['title', 'priority', 'notes']);

/** The task with its children, ready to write. `depends_on` may name another of these tasks by title. */
export function plannedTask(wanted: WantedTask, origin: TaskOrigin): {task: NewTask; ids: string[]} {
  const ids: string[] = [];
  const byTitle = new Map<string, string>();
  const name = (task: WantedTask) => {
    const id = origin.idFor(ids.length);
    ids.push(id);
    if (!byTitle.has(task.title)) byTitle.set(task.title, id);
    for (const child of task.children ?? []) name(child);
  };
  name(wanted);
  let next = 0;
  const make = (task: WantedTask): NewTask => {
    const id = ids[next++] ?? '';
    const spawned = task.assignee?.startsWith('new:') ? task.assignee : undefined;
    const priority = task.priority === undefined ? undefined : priorityNamed(task.priority);
    return {
      title: task.title,
      ...(priority && {priority}),
      ...(task.assignee !== undefined && spawned === undefined && {names: [agentNameIn(task.assignee)]}),
      ...(task.tags && {tags: task.tags.map(tag => tag.replace(/^#/, ''))}),
      fields: {
        id,
        ...origin.fields,
        ...(spawned !== undefined && {assign: spawned}),
        ...(task.depends_on?.length && {depends_on: task.depends_on.map(each => byTitle.get(each) ?? each).join(', ')}),
        ...(task.approval_required && {approval_required: 'true'}),
        ...(task.prompt !== undefined && {prompt: task.prompt}),
        ...(task.description !== undefined && {description: task.description}),
      },
      ...(task.children?.length && {children: task.children.map(make)}),
    };
  };
  return {task: make(wanted), ids};
}

/** The name without spaces around it and `@`. A line break stays, and makes the name unknown. */
export function agentNameIn(assignee: string): string {
  return assignee.replace(/^ +| +$/g, '').replace(/^@/, '');
}

/** Parse tasks from task file text, without the fields that only the daemon sets. */
export function rawTasks(content: string, origin: TaskOrigin): {tasks: NewTask[]; ids: string[]} | {problem: string} {
  const file = parseTasks(/^##\s+TODO\s*$/m.test(content) ? content : `## TODO\n\n${content}`);
  const error = file.problems.find(({severity}) => severity === 'error');
  if (error) return {problem: `content: line ${error.line}: ${error.message}`};
  const tops = file.tasks.filter(({parent}) => parent === undefined);
  if (tops.length === 0)
    return {problem: 'content: contains no task; write lines such as - [ ] A @executor-001 "Check Redis"'};
  const ids: string[] = [];
  const make = (task: Task): NewTask => {
    const id = fieldOf(task, 'id') ?? origin.idFor(ids.length);
    ids.push(id);
    const own = task.fields.filter(({key}) => !DAEMON_FIELDS.has(key) && !WRITTEN_APART.has(key));
    return {
      title: task.title,
      box: task.box ?? ' ',
      ...(task.priority && {priority: task.priority}),
      names: task.names,
      tags: task.tags,
      fields: {id, ...origin.fields, ...Object.fromEntries(own.map(({key, value}) => [key, value]))},
      children: task.children.map(make),
    };
  };
  return {tasks: tops.map(make), ids};
}
