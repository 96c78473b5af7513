import {isListedModel} from '../formats/model-choice.ts';
import type {TaskRules} from '../formats/rule.ts';
import type {Settings} from '../formats/settings.ts';
import {fieldOf, type Task, type TaskState} from '../formats/task/task.ts';
import {isGated} from '../formats/task/task-approval.ts';
import {assigneeOf} from '../formats/task/task-assignee.ts';

/** Fields that say what is to be done, by whom, and what has to happen before. */
const CONTENT: ReadonlySet<string> = new Set([
  'title',
  'prompt',
  'description',
  'reason',
  'assign',
  'assign_template',
  'depends_on',
  'parent',
]);
/** Fields that the person who approves a start has seen, besides. */
const SHOWN: ReadonlySet<string> = new Set([...CONTENT, 'due']);

export interface GateContext {
  isAgent: (name: string) => boolean;
  /** Whether a person approved the request with this id. */
  isApproved: (approval: string) => boolean;
}

/** Whether nobody has approved the start of the task yet, or somebody refused it. */
export function waitsForPerson(task: Task, {isApproved}: Pick<GateContext, 'isApproved'>): boolean {
  if (!isGated(task)) return false;
  const isReset = ['started', 'completed'].some(key => fieldOf(task, key) !== undefined);
  const approval = fieldOf(task, 'approval');
  return isReset || approval === undefined || !isApproved(approval);
}

/** A change that an agent wants to make to a task. */
export interface WantedChange {
  status?: TaskState | undefined;
  fields?: Readonly<Record<string, string>> | undefined;
}

/** Why an agent may not make this change; undefined if it may. */
export function objectionToChange(
  task: Task,
  {status, fields = {}}: WantedChange,
  rules: TaskRules,
  context: GateContext,
): string | undefined {
  const id = fieldOf(task, 'id') ?? '';
  const changed = Object.keys(fields).filter(key => fieldOf(task, key) !== fields[key]);
  const among = (keys: ReadonlySet<string>) => changed.find(key => keys.has(key));
  if (rules.change_waiting !== 'allow' && isGated(task)) {
    const moves = status !== undefined && status !== task.state && waitsForPerson(task, context);
    const what = among(SHOWN) ?? (moves ? 'state' : undefined);
    if (what !== undefined)
      return `task ${id} starts only after a person approved it, so agents do not change its ${what}; leave a note, or ask with ask_human`;
  }
  const field = rules.change_human !== 'allow' && isByPerson(task, context) ? among(CONTENT) : undefined;
  return field === undefined
    ? undefined
    : `task ${id} was created by a person, so agents do not change its ${field}; leave a note, or ask with ask_human`;
}

/** Whether no agent of this home created the task. */
export function isByPerson(task: Task, {isAgent}: Pick<GateContext, 'isAgent'>): boolean {
  const by = fieldOf(task, 'created_by')?.replace(/^@/, '');
  return by === undefined || !isAgent(by.split('@')[0] ?? by);
}

/** The model of a new agent, if an agent created the task and agentdir.yaml does not list the model. */
export function unlistedModelOf(
  task: Task,
  settings: Settings,
  context: Pick<GateContext, 'isAgent'>,
): string | undefined {
  const {model} = assigneeOf(task);
  return model === undefined || isListedModel(model, settings) || isByPerson(task, context) ? undefined : model;
}
