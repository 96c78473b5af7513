import {fieldOf, type Task, type TaskState} from './task.ts';

/** Who does a task: the first name, or the template of a new agent. `model`: for `new:provider/model`. */
export interface Assignee {
  name?: string;
  model?: string;
  spawn: boolean;
}

export function assigneeOf(task: Task): Assignee {
  return assigneeIn(task.names, fieldOf(task, 'assign'));
}

/** `provider/model` or `provider/owner/model:tag`: each part begins with a letter or digit, so none is `..`. */
const MODEL = /^(?=.{3,200}$)[A-Za-z0-9][\w.-]*(?:\/[A-Za-z0-9][\w.:@+-]*)+$/;

export function isModelName(text: string): boolean {
  return MODEL.test(text);
}

export function assigneeIn([first]: readonly string[], assign: string | undefined): Assignee {
  const spawned = /^new:(\S+)$/.exec(assign ?? '')?.[1];
  if (spawned === undefined) return {...(first !== undefined && {name: first}), spawn: false};
  if (!spawned.includes('/')) return {name: spawned, spawn: true};
  return isModelName(spawned) ? {model: spawned, spawn: true} : {spawn: true};
}

export interface TaskReadiness {
  state: TaskState;
  assignee: Assignee;
  dependsOn: readonly string[];
}

/** A task is ready if it is pending, its dependencies are completed, and its assignee is an agent of this home. */
export function isReady(
  {state, assignee: {name, model}, dependsOn}: TaskReadiness,
  {isAgent, stateOf}: {isAgent: (name: string) => boolean; stateOf: (id: string) => string | null | undefined},
): boolean {
  if (state !== 'pending' || (model === undefined && (name === undefined || !isAgent(name)))) return false;
  return dependsOn.every(id => stateOf(id) === 'completed');
}
