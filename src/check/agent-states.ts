import {stemOf} from '../formats/common/key.ts';
import {instanceOf} from '../formats/run.ts';
import type {TaskState} from '../formats/task/task.ts';
import {assigneeIn} from '../formats/task/task-assignee.ts';
import type {Facts} from './facts.ts';
import {isOpenState} from './task-facts.ts';

/** `stopped`, `failed`: held by state/agents.yaml. `done`: ephemeral, has worked, and has nothing left to do. `wrong`: the template has errors. */
export type AgentStatus = 'active' | 'waiting' | 'error' | 'paused' | 'idle' | 'done' | 'wrong' | 'stopped' | 'failed';

/** An agent and what it does now. */
export interface AgentState {
  id: string;
  /** Its template. */
  file: string;
  status: AgentStatus;
  /** As the template names it; null if the template has errors. */
  model: string | null;
  /** The open task that the agent has begun, else one that it was given. No title: outside text led to the task. */
  task: {id: string; title: string | null} | null;
  /** How many tasks it has yet to do, begun ones included. */
  open_tasks: number;
  kind: 'persistent' | 'ephemeral';
  description: string | null;
}

interface Work {
  statuses: Set<string>;
  tasks: {id: string; title: string | null; at: string; state: TaskState}[];
}

/** All agents of a home, by name. `files`: the facts of templates, sessions, task files and workflow instances. */
export function agentStates(files: Iterable<readonly [path: string, facts: Facts]>): AgentState[] {
  const agents = new Map<string, {file: string; facts: Facts}>();
  const work = new Map<string, Work>();
  const all = [...files];
  const members = new Set(
    all.flatMap(([path, {run}]) => (run?.agents ?? []).map(name => `${name}@${instanceOf(path)}`)),
  );
  const workOf = (agent: string) => {
    // An agent of a workflow instance is no work of its namesake.
    const name = members.has(agent) ? agent : (agent.split('@')[0] ?? agent);
    const found = work.get(name) ?? {statuses: new Set(), tasks: []};
    work.set(name, found);
    return found;
  };
  for (const [path, facts] of all) {
    const {kind, session, tasks = []} = facts;
    const id = stemOf(path);
    // If two templates have one name, the first by path counts.
    if (kind === 'template' && path < (agents.get(id)?.file ?? '\u{10ffff}')) agents.set(id, {file: path, facts});
    if (session && !session.segment) workOf(session.agent).statuses.add(session.status ?? 'new');
    for (const {id: task, title, names, assign, state, assigned, tainted} of tasks) {
      const {name} = assigneeIn(names ?? [], assign);
      if (task === undefined || name === undefined || !isOpenState(state)) continue;
      workOf(name).tasks.push({id: task, title: tainted ? null : (title ?? ''), at: assigned ?? '', state});
    }
  }
  return [...agents].map(([id, found]) => stateOf(id, found, work.get(id))).sort((a, b) => (a.id < b.id ? -1 : 1));
}

function stateOf(id: string, {file, facts}: {file: string; facts: Facts}, work: Work | undefined): AgentState {
  const {model = null, description = null, ephemeral} = facts.agent ?? {};
  const tasks = work?.tasks ?? [];
  const task = tasks.find(({state}) => state === 'in_progress') ?? tasks.find(({at}) => at !== '');
  return {
    id,
    file,
    status: model === null ? 'wrong' : statusOf(work, ephemeral === true),
    model,
    task: task ? {id: task.id, title: task.title} : null,
    open_tasks: tasks.length,
    kind: ephemeral ? 'ephemeral' : 'persistent',
    description,
  };
}

function statusOf(work: Work | undefined, ephemeral: boolean): AgentStatus {
  const {statuses = new Set(), tasks = []} = work ?? {};
  if (statuses.has('active') || statuses.has('new')) return 'active';
  for (const status of ['waiting', 'error', 'paused'] as const) if (statuses.has(status)) return status;
  return ephemeral && statuses.size > 0 && tasks.length === 0 ? 'done' : 'idle';
}
