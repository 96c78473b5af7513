import {nearest} from '../files/diagnostic.ts';
import {stemOf} from '../files/key.ts';
import type {Home} from './home.ts';

/** Whom one can address in this home. */
export interface Names {
  agents: ReadonlySet<string>;
  /** Agents of workflows, addressed as name@instance. */
  members: ReadonlySet<string>;
}

export function namesOf(home: Home): Names {
  const members = home.workflows.flatMap(({file}) => Object.keys(file.value?.agents ?? {}));
  // A template with an error still exists: its own problem is enough.
  return {agents: new Set(home.templates.map(({path}) => stemOf(path))), members: new Set(members)};
}

/** An agent of this home, of a workflow instance (`coder@pr-123`), or of another home (`buildbox/coder`). */
export function isAgent(name: string, names: Names): boolean {
  const at = name.indexOf('@');
  if (at > 0) return names.members.has(name.slice(0, at)) || names.agents.has(name.slice(0, at));
  return names.agents.has(name) || /^[^/]+\/[^/]+$/.test(name);
}

export function isKnown(name: string, names: Names): boolean {
  return name === 'human' || isAgent(name, names);
}

export function agentHint(name: string, names: Names): string {
  const near = nearest(name, [...names.agents, 'human']);
  if (near) return `did you mean "${near}"?`;
  const known = [...names.agents].slice(0, 8).join(', ');
  return `add templates/${name}.agent.yaml${known ? `, or use one of: ${known}` : ''}`;
}
