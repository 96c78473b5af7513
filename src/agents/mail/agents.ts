import {isPerson} from '../../check/names.ts';
import {nearest} from '../../formats/common/diagnostic.ts';
import {stemOf} from '../../formats/common/key.ts';
import {memberOf} from '../../formats/run.ts';
import type {HomeFiles} from '../../loop/home-files.ts';

export function agentExists({index}: HomeFiles, name: string): boolean {
  return index.definitionsOf(`agent/${name}`).length > 0;
}

/** The agent that another one means by a name: in a workflow instance, first an agent of that instance. */
export function agentMeant(files: HomeFiles, name: string, by: string): string {
  const member = memberOf(by);
  const own = member && `${name}@${member.instance}`;
  return own !== undefined && agentExists(files, own) ? own : name;
}

/** Whether the name is a person's: @human, or one listed under `people`. */
export function isPersonIn(files: HomeFiles, name: string): boolean {
  return isPerson(name, {
    hasAgent: agent => agentExists(files, agent),
    hasPerson: person => files.index.definitionsOf(`person/${person}`).length > 0,
  });
}

const MOST_NAMED = 12;

/** A hint for an unknown agent name: the nearest name, or the existing agents. */
export function suggestAgents({index}: HomeFiles, name: string): string {
  const known = index.pathsOf('template').map(stemOf);
  const near = nearest(name, known);
  if (near !== undefined) return `did you mean "${near}"?`;
  const more = known.length > MOST_NAMED ? ` and ${known.length - MOST_NAMED} more: see list_agents` : '';
  return `there are ${known.slice(0, MOST_NAMED).join(', ')}${more}`;
}
