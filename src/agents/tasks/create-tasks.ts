import {plannedTask, rawTasks, type TaskOrigin, type WantedTask} from '../../decide/new-tasks.ts';
import {taintOf} from '../../decide/taint.ts';
import type {Arguments, ToolFailure, ToolResult} from '../../effects/tool/tool.ts';
import {APPROVALS_FILE} from '../../formats/approval/approval-item.ts';
import {isId} from '../../formats/common/values.ts';
import {chainOf, chainText} from '../../formats/session/chain.ts';
import type {Call} from '../../formats/session/session-schema.ts';
import {taintText} from '../../formats/task/taint-field.ts';
import {fieldOf, idsIn, type Task, type TaskFile} from '../../formats/task/task.ts';
import {addTasks} from '../../formats/task/task-edit.ts';
import {taskIdFor} from '../../formats/task/task-id.ts';
import {taskPathOf} from '../../formats/task/task-path.ts';
import type {NewTask} from '../../formats/task/task-text.ts';
import {timestamp} from '../../home/disk/clock.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {type Caller, nameOfCall, sessionUpToCall} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import type {EditedTaskFile} from '../state/task-news.ts';
import {requestTaskEdit} from './task-edits.ts';
import {findCircle, problemInTask} from './wrong-task.ts';

const refused = (error: string): ToolFailure => ({success: false, code: 'INVALID_ARGUMENTS', error});

/** New tasks of an agent, in a task file. Their ids follow from the call: made again, it adds nothing. */
export async function createTasks(
  daemon: With<'files' | 'reports' | 'tasks'>,
  caller: Caller,
  call: Call,
  args: Arguments<'create_task'>,
): Promise<ToolResult> {
  const {files} = daemon;
  const call_ = nameOfCall(caller, call);
  const asking = caller.of.messages.find(({tool_calls}) => tool_calls?.includes(call));
  const created = asking?.timestamp ?? timestamp(files.disk.clock);
  const taint = taintOf(caller.of);
  const chain = chainOf(sessionUpToCall(caller, call).messages, `${caller.session}#${call.id}`);
  const origin: TaskOrigin = {
    fields: {
      created,
      created_by: `@${caller.agent}`,
      created_in: caller.session,
      ...(chain.hops > 1 && {chain: chainText(chain)}),
      ...(taint.length > 0 && {taint: taintText(taint)}),
    },
    idFor: index => taskIdFor(call_, index),
  };
  const planned =
    args.content === undefined
      ? plannedTask({...args, title: args.title ?? ''} as WantedTask, origin)
      : rawTasks(args.content, origin);
  if ('problem' in planned) return refused(planned.problem);
  const tasks = 'task' in planned ? [planned.task] : planned.tasks;
  const {ids} = planned;
  const parent = args.parent === undefined ? undefined : files.index.definitionsOf(`task/${args.parent}`)[0]?.path;
  const path = args.file === undefined ? (parent ?? `tasks/${caller.agent.split('@')[0]}.task.md`) : pathOf(args.file);
  if (path === undefined || isForPersons(path))
    return refused(`file: expected a task file such as tasks/redis-check.task.md, got ${JSON.stringify(args.file)}`);
  const isThere = ids.every(id => files.index.definitionsOf(`task/${id}`).length > 0);
  const made = () => ({success: true as const, task_ids: ids, file: path});
  if (isThere && args.content === undefined) return made();
  // In another file than its parent's, it names it.
  const named = path === parent ? undefined : args.parent;
  const all = named === undefined ? tasks : tasks.map(task => ({...task, fields: {...task.fields, parent: named}}));
  const problem = problemWith(files, all, ids, path);
  if (problem !== undefined) return refused(problem);
  const under = path === parent ? args.parent : undefined;
  return requestTaskEdit(daemon, path, caller.agent, file => added(file, all, {ids, under, origin}), made);
}

/** The queue and its archive, however they are spelled: some file systems do not tell the difference. */
function isForPersons(path: string): boolean {
  const plain = path.normalize('NFKC').toUpperCase().toLowerCase();
  return plain === APPROVALS_FILE || plain.startsWith('tasks/archive/');
}

function pathOf(file: string): string | undefined {
  return taskPathOf(file.trim());
}

interface Addition {
  ids: readonly string[];
  /** The task that they are parts of, in the same file. */
  under: string | undefined;
  origin: TaskOrigin;
}

function added(
  file: TaskFile,
  tasks: readonly NewTask[],
  {ids, under, origin}: Addition,
): EditedTaskFile | ToolFailure | undefined {
  const there = new Map(file.tasks.map(task => [fieldOf(task, 'id'), task]));
  const [old] = ids.flatMap(id => there.get(id) ?? []);
  // All of them were written at once, by this very call.
  if (old && isOf(old, origin)) return undefined;
  if (old) return refused(takenWords(fieldOf(old, 'id') ?? ''));
  const above = under === undefined ? undefined : there.get(under);
  if (under !== undefined && !above) return refused(`parent: there is no task "${under}" any more`);
  const [first] = tasks;
  const words = ids.length === 1 ? `"${first?.title.replace(/\s+/g, ' ').slice(0, 60)}"` : `${ids.length} tasks`;
  return {text: addTasks(file, tasks, above), words: `created ${words}`, tasks: ids};
}

function isOf(task: Task, {fields}: TaskOrigin): boolean {
  return ['created', 'created_by', 'created_in'].every(key => fieldOf(task, key) === fields[key]);
}

const takenWords = (id: string) => `id: there is a task "${id}" already; leave it out`;

function problemWith(
  files: HomeFiles,
  tasks: readonly NewTask[],
  ids: readonly string[],
  path: string,
): string | undefined {
  const own = new Set(ids);
  if (own.size < ids.length) return 'two of the tasks have the same id';
  const waits = new Map<string, readonly string[]>();
  const check = (task: NewTask): string | undefined => {
    const {id = '', ...fields} = task.fields ?? {};
    if (!isId(id)) return `id: ${JSON.stringify(id)} is no id; leave it out`;
    // Of those in the same file it is seen whether this call has made them.
    if (files.index.definitionsOf(`task/${id}`).some(other => other.path !== path)) return takenWords(id);
    if (task.title.trim() === '') return 'title: expected what is to be done';
    waits.set(id, idsIn(fields.depends_on));
    return problemInTask(files, {...fields, names: task.names}, own) ?? firstOf(task.children ?? [], check);
  };
  return firstOf(tasks, check) ?? findCircle(files, waits);
}

/** The first problem of any. */
function firstOf(tasks: readonly NewTask[], check: (task: NewTask) => string | undefined): string | undefined {
  for (const task of tasks) {
    const wrong = check(task);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
