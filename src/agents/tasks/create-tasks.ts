import {plannedTask, rawTasks, type TaskOrigin, type WantedTask} from '../../decide/new-tasks.ts';
import {taintOf} from '../../decide/taint.ts';
import type {Arguments, ToolFailure, ToolResult} from '../../effects/tool/tool.ts';
import {APPROVALS_FILE} from '../../formats/approval/approval-item.ts';
import {stemOf} from '../../formats/common/key.ts';
import {isId} from '../../formats/common/values.ts';
import {escapeAll} from '../../formats/common/visible.ts';
import {chainOf, chainText} from '../../formats/session/chain.ts';
import type {Call} from '../../formats/session/session-schema.ts';
import {fieldOf, idsIn, type Task, type TaskFile, taintText} from '../../formats/task/task.ts';
import {addTasks} from '../../formats/task/task-edit.ts';
import {taskIdFor} from '../../formats/task/task-id.ts';
import {taskPathOf} from '../../formats/task/task-path.ts';
import type {NewTask} from '../../formats/task/task-text.ts';
import {timestamp} from '../../home/disk/clock.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {tooManyCaused} from '../sessions/budget.ts';
import {type Caller, nameOfCall, sessionUpToCall} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import type {EditedTaskFile} from '../state/task-news.ts';
import {requestTaskEdit} from './task-edits.ts';
import {findCircle, problemInTask} from './wrong-task.ts';

const refused = (error: string): ToolFailure => ({success: false, code: 'INVALID_ARGUMENTS', error});

/** Add an agent's new tasks to a task file. Task ids derive from the call, so repeating the call adds nothing. */
export async function createTasks(
  daemon: With<'files' | 'reports' | 'tasks' | 'spend'>,
  caller: Caller,
  call: Call,
  args: Arguments<'create_task'>,
): Promise<ToolResult> {
  const {files} = daemon;
  const callName = nameOfCall(caller, call);
  const asking = caller.of.messages.find(({tool_calls}) => tool_calls?.includes(call));
  const created = asking?.timestamp ?? timestamp(files.disk.clock);
  const taint = taintOf(caller.of);
  const chain = chainOf(sessionUpToCall(caller, call).messages, stemOf(caller.path));
  const origin: TaskOrigin = {
    fields: {
      created,
      created_by: `@${caller.agent}`,
      created_in: caller.session,
      chain: chainText(chain),
      ...(taint.length > 0 && {taint: taintText(taint)}),
    },
    idFor: index => taskIdFor(callName, index),
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
    return refused(`file: expected a task file such as tasks/redis-check.task.md, got ${escapeAll(args.file ?? '')}`);
  const isThere = ids.every(id => files.index.definitionsOf(`task/${id}`).length > 0);
  const success = () => ({success: true as const, task_ids: ids, file: path});
  if (isThere && args.content === undefined) return success();
  // A task in another file than its parent names the parent in a field.
  const named = path === parent ? undefined : args.parent;
  const all = named === undefined ? tasks : tasks.map(task => ({...task, fields: {...task.fields, parent: named}}));
  const problem = problemWith(files, all, ids, path);
  if (problem !== undefined) return refused(problem);
  const tooMany = isThere ? undefined : tooManyCaused(daemon, chain.chain, 'tasks', ids.length);
  if (tooMany) return tooMany;
  const under = path === parent ? args.parent : undefined;
  const make = (file: TaskFile) => withTasks(file, all, {ids, under, origin});
  const written = daemon.spend.causes.expect(chain.chain, {tasks: isThere ? 0 : ids.length});
  return requestTaskEdit(daemon, path, caller.agent, make, success).finally(written);
}

/** Whether the path is the approval queue or its archive. Ignores case and Unicode form, as some file systems do. */
function isForPersons(path: string): boolean {
  const plain = path.normalize('NFKC').toUpperCase().toLowerCase();
  return plain === APPROVALS_FILE || plain.startsWith('tasks/archive/');
}

function pathOf(file: string): string | undefined {
  return taskPathOf(file.replace(/^ +| +$/g, ''));
}

interface Addition {
  ids: readonly string[];
  /** Id of the parent task in the same file. */
  under: string | undefined;
  origin: TaskOrigin;
}

function withTasks(
  file: TaskFile,
  tasks: readonly NewTask[],
  {ids, under, origin}: Addition,
): EditedTaskFile | ToolFailure | undefined {
  const byId = new Map(file.tasks.map(task => [fieldOf(task, 'id'), task]));
  const [existing] = ids.flatMap(id => byId.get(id) ?? []);
  // This call has written all of them before, in one edit.
  if (existing && isFromCall(existing, origin)) return undefined;
  if (existing) return refused(takenWords(fieldOf(existing, 'id') ?? ''));
  const above = under === undefined ? undefined : byId.get(under);
  if (under !== undefined && !above) return refused(`parent: there is no task "${under}" any more`);
  const [first] = tasks;
  const words = ids.length === 1 ? `"${first?.title.replace(/\s+/g, ' ').slice(0, 60)}"` : `${ids.length} tasks`;
  return {text: addTasks(file, tasks, above), words: `created ${words}`, tasks: ids};
}

function isFromCall(task: Task, {fields}: TaskOrigin): boolean {
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
    if (!isId(id)) return `id: ${escapeAll(id)} is not a valid id; leave it out`;
    // Tasks in the same file are checked during the edit, which knows whether this call created them.
    if (files.index.definitionsOf(`task/${id}`).some(other => other.path !== path)) return takenWords(id);
    if (files.index.definitionsOf(`task/${id}`).length === 0 && files.index.links.waitingFor(id).size > 0)
      return `id: other tasks wait for "${id}", which is not there any more, and only a person brings it back; leave the id out`;
    if (task.title.trim() === '') return 'title: expected what is to be done';
    waits.set(id, idsIn(fields.depends_on));
    return problemInTask(files, {...fields, names: task.names}, own) ?? firstProblem(task.children ?? [], check);
  };
  return firstProblem(tasks, check) ?? findCircle(files, waits);
}

function firstProblem(tasks: readonly NewTask[], check: (task: NewTask) => string | undefined): string | undefined {
  for (const task of tasks) {
    const problem = check(task);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
