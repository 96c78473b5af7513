import {nearest} from '../formats/common/diagnostic.ts';
import {stemOf} from '../formats/common/key.ts';
import type {Home} from './home.ts';
import type {Look} from './look.ts';

/** The agents that can be addressed in this home. */
export interface Names {
  hasAgent(name: string): boolean;
  /** Whether a workflow has this agent, addressed as name@instance. */
  hasMember(name: string): boolean;
  agents(): readonly string[];
}

export function namesOf(home: Home): Names {
  const members = new Set(home.workflows.flatMap(({file}) => Object.keys(file.value?.agents ?? {})));
  const agents = new Set(home.templates.map(({path}) => stemOf(path)));
  return {hasAgent: name => agents.has(name), hasMember: name => members.has(name), agents: () => [...agents]};
}

/** The names as seen by the check of one file. */
export function namesSeen(look: Look): Names {
  return {
    hasAgent: name => look.named(`agent/${name}`).length > 0,
    hasMember: name => look.named(`member/${name}`).length > 0,
    agents: () => look.all('agent'),
  };
}

/** An agent of this home, of a workflow instance (`coder@pr-123`), or of another home (`buildbox/coder`). */
export function isAgent(name: string, names: Names): boolean {
  const at = name.indexOf('@');
  if (at > 0) return names.hasMember(name.slice(0, at)) || names.hasAgent(name.slice(0, at));
  return names.hasAgent(name) || /^[^/]+\/[^/]+$/.test(name);
}

export function isKnownName(name: string, names: Names): boolean {
  return name === 'human' || isAgent(name, names);
}

export function agentHint(name: string, names: Names): string {
  const agents = names.agents();
  const near = nearest(name, [...agents, 'human']);
  if (near) return `did you mean "${near}"?`;
  const known = agents.slice(0, 8).join(', ');
  return `add templates/${name}.agent.yaml${known ? `, or use one of: ${known}` : ''}`;
}
