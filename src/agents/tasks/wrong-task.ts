import {isTime} from '../../formats/common/values.ts';
import {escapeAll} from '../../formats/common/visible.ts';
import {idsIn} from '../../formats/task/task.ts';
import {assigneeIn} from '../../formats/task/task-assignee.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {agentExists, isPersonIn, suggestAgents} from '../mail/agents.ts';

/** Fields of a task whose validity depends on other files. */
export interface TaskReferences {
  names?: readonly string[] | undefined;
  assign?: string | undefined;
  depends_on?: string | undefined;
  parent?: string | undefined;
  due?: string | undefined;
}

/** The first problem with references of a new or changed task, if any. `own`: ids of tasks created together with it. */
export function problemInTask(
  files: HomeFiles,
  references: TaskReferences,
  own: ReadonlySet<string> = new Set(),
): string | undefined {
  const {assign, depends_on, parent, due} = references;
  const isThere = (id: string) => own.has(id) || files.index.definitionsOf(`task/${id}`).length > 0;
  for (const name of references.names ?? [])
    if (!isPersonIn(files, name) && !agentExists(files, name))
      return `assignee: there is no agent ${escapeAll(name)}; ${suggestAgents(files, name)}`;
  const template = /^new:([^/\s]*)$/.exec(assign ?? '')?.[1];
  if (template !== undefined && !agentExists(files, template))
    return `assignee: there is no template ${escapeAll(template)}; ${suggestAgents(files, template)}`;
  if (assign !== undefined && template === undefined && assigneeIn([], assign).model === undefined)
    return `assignee: expected new:TEMPLATE or new:provider/model in plain letters, without "..", spaces and line breaks; got ${escapeAll(assign.slice(0, 220))}`;
  const unknown = idsIn(depends_on).find(id => !isThere(id));
  if (unknown !== undefined) return `depends_on: there is no task ${escapeAll(unknown)}`;
  if (parent !== undefined && !isThere(parent)) return `parent: there is no task ${escapeAll(parent)}`;
  if (due !== undefined && !isTime(due))
    return `due: expected a date or time such as 2026-01-31, got ${escapeAll(due)}`;
  return undefined;
}

/** Find tasks that would wait for each other. `waits`: new dependencies by task id, which replace the current ones. */
export function findCircle({index}: HomeFiles, waits: ReadonlyMap<string, readonly string[]>): string | undefined {
  const visited = new Set<string>();
  for (const root of waits.keys()) {
    const path: {id: string; unvisited: string[]}[] = [];
    const open = new Set<string>();
    const enter = (id: string) => {
      open.add(id);
      path.push({id, unvisited: [...(waits.get(id) ?? index.definitionsOf(`task/${id}`)[0]?.waitsFor ?? [])]});
    };
    if (!visited.has(root)) enter(root);
    for (let at = path.at(-1); at; at = path.at(-1)) {
      const id = at.unvisited.pop();
      if (id === undefined) {
        path.pop();
        open.delete(at.id);
        visited.add(at.id);
      } else if (open.has(id)) {
        const ids = path.slice(path.findIndex(each => each.id === id)).map(each => each.id);
        return `depends_on: these would wait for each other: ${[...ids.slice(0, 12), id].join(' → ')}`;
      } else if (!visited.has(id)) enter(id);
    }
  }
  return undefined;
}
