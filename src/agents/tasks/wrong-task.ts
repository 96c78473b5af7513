import {isTime} from '../../formats/common/values.ts';
import {idsIn} from '../../formats/task/task.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {agentExists, suggestAgents} from '../mail/agents.ts';

/** What a task is to say that other files decide about. */
export interface TaskReferences {
  names?: readonly string[] | undefined;
  assign?: string | undefined;
  depends_on?: string | undefined;
  parent?: string | undefined;
  due?: string | undefined;
}

/** What would be a problem in the file is told to whoever writes it. `own`: ids of tasks that come with it. */
export function problemInTask(
  files: HomeFiles,
  said: TaskReferences,
  own: ReadonlySet<string> = new Set(),
): string | undefined {
  const {assign, depends_on, parent, due} = said;
  const isThere = (id: string) => own.has(id) || files.index.definitionsOf(`task/${id}`).length > 0;
  for (const name of said.names ?? [])
    if (name !== 'human' && !agentExists(files, name))
      return `assignee: there is no agent "${name}"; ${suggestAgents(files, name)}`;
  const template = /^new:([^/\s]*)$/.exec(assign ?? '')?.[1];
  if (template !== undefined && !agentExists(files, template))
    return `assignee: there is no template "${template}"; ${suggestAgents(files, template)}`;
  if (assign !== undefined && template === undefined && !/^new:[^/\s]+\/\S+$/.test(assign))
    return `assignee: expected new:TEMPLATE or new:provider/model, got ${JSON.stringify(assign)}`;
  const unknown = idsIn(depends_on).find(id => !isThere(id));
  if (unknown !== undefined) return `depends_on: there is no task "${unknown}"`;
  if (parent !== undefined && !isThere(parent)) return `parent: there is no task "${parent}"`;
  if (due !== undefined && !isTime(due))
    return `due: expected a date or time such as 2026-01-31, got ${JSON.stringify(due)}`;
  return undefined;
}

/** What tasks are to wait for, by their id, in place of what they wait for now: which of them would wait for ever. */
export function findCircle({index}: HomeFiles, waits: ReadonlyMap<string, readonly string[]>): string | undefined {
  const over = new Set<string>();
  for (const root of waits.keys()) {
    const way: {id: string; left: string[]}[] = [];
    const open = new Set<string>();
    const enter = (id: string) => {
      open.add(id);
      way.push({id, left: [...(waits.get(id) ?? index.definitionsOf(`task/${id}`)[0]?.waitsFor ?? [])]});
    };
    if (!over.has(root)) enter(root);
    for (let at = way.at(-1); at; at = way.at(-1)) {
      const id = at.left.pop();
      if (id === undefined) {
        way.pop();
        open.delete(at.id);
        over.add(at.id);
      } else if (open.has(id)) {
        const ids = way.slice(way.findIndex(each => each.id === id)).map(each => each.id);
        return `depends_on: these would wait for each other: ${[...ids.slice(0, 12), id].join(' → ')}`;
      } else if (!over.has(id)) enter(id);
    }
  }
  return undefined;
}
