import {nearest} from '../formats/common/diagnostic.ts';
import {stemOf} from '../formats/common/key.ts';
import {instanceOf, type Run} from '../formats/run.ts';
import type {Home} from './home.ts';
import type {Look} from './look.ts';

/** Who can be addressed in this home. */
export interface Names {
  hasAgent(name: string): boolean;
  /** Whether a workflow has this agent, addressed as name@instance. */
  hasMember(name: string): boolean;
  /** Whether agentdir.yaml lists the name under `people`. */
  hasPerson(name: string): boolean;
  /** Whether a workflow instance has this name. */
  hasInstance(name: string): boolean;
  /** Whether agentdir.yaml names a NATS server, so that other homes can be reached. */
  reachesHomes(): boolean;
  agents(): readonly string[];
}

export function namesOf(home: Home): Names {
  const members = new Set(home.workflows.flatMap(({file}) => Object.keys(file.value?.agents ?? {})));
  const agents = new Set(home.templates.map(({path}) => stemOf(path)));
  const ofInstances = new Set(home.files.flatMap(file => (file.kind === 'run' ? instanceAgents(file.file.value) : [])));
  const settings = home.settings?.file.value;
  const instances = new Set(home.files.flatMap(({path}) => instanceOf(path) ?? []));
  return {
    hasAgent: name => agents.has(name) || ofInstances.has(name),
    hasMember: name => members.has(name),
    hasPerson: name => settings?.people?.includes(name) === true,
    hasInstance: name => instances.has(name),
    reachesHomes: () => settings?.nats?.server !== undefined,
    agents: () => [...agents],
  };
}

/** The agents of a workflow instance, as others address them. */
export function instanceAgents(run: Run | undefined): string[] {
  return run ? Object.keys(run.definitions).map(name => `${name}@${run.instance}`) : [];
}

/** A definition in the index that agentdir.yaml makes by naming a NATS server. */
export const NATS_NAME = 'setting/nats';

/** The names as defined in the index. */
export function namesIn(isDefined: (name: string) => boolean, agents: () => readonly string[]): Names {
  return {
    hasAgent: name => isDefined(`agent/${name}`),
    hasMember: name => isDefined(`member/${name}`),
    hasPerson: name => isDefined(`person/${name}`),
    hasInstance: name => isDefined(`instance/${name}`),
    reachesHomes: () => isDefined(NATS_NAME),
    agents,
  };
}

/** The names as seen by the check of one file. */
export function namesSeen(look: Look): Names {
  return namesIn(
    name => look.named(name).length > 0,
    () => look.all('agent').filter(name => !name.includes('@')),
  );
}

/** Whether a session may belong to this agent: of this home, of a workflow (`coder@pr-123`), or of another home (`buildbox/coder`). */
export function isAgent(name: string, names: Names): boolean {
  if (names.hasAgent(name)) return true;
  const at = name.indexOf('@');
  if (at > 0) return names.hasMember(name.slice(0, at)) || names.hasAgent(name.slice(0, at));
  return OTHER_HOME.test(name);
}

const OTHER_HOME = /^[^/]+\/[^/]+$/;

export function isPerson(name: string, names: Pick<Names, 'hasAgent' | 'hasPerson'>): boolean {
  return name === 'human' || (names.hasPerson(name) && !names.hasAgent(name));
}

/** Why an address leads nowhere. */
export interface AddressFault {
  message: string;
  hint: string;
}

/** Why nothing can be delivered to this agent; undefined if it can. `name` is written without `@` in front. */
export function agentFault(name: string, names: Names): AddressFault | undefined {
  if (names.hasAgent(name)) return undefined;
  const at = name.indexOf('@');
  if (at > 0) return memberFault(name.slice(0, at), name.slice(at + 1), names);
  if (OTHER_HOME.test(name))
    return names.reachesHomes()
      ? undefined
      : {
          message: `@${name} is in another home, and agentdir.yaml names no NATS server, so nothing gets there`,
          hint: 'name an agent of this home; this version cannot reach other homes',
        };
  return {message: `@${name} is not an agent`, hint: agentHint(name, names)};
}

function memberFault(member: string, instance: string, names: Names): AddressFault | undefined {
  if (!names.hasInstance(instance))
    return {
      message: `@${member}@${instance} leads nowhere: there is no workflow instance "${instance}"`,
      hint: names.hasAgent(member) ? `did you mean "${member}"?` : 'correct the name, or start the workflow',
    };
  if (names.hasMember(member) || names.hasAgent(member)) return undefined;
  return {
    message: `@${member}@${instance} leads nowhere: no workflow has an agent "${member}"`,
    hint: 'correct the name',
  };
}

/** Why a task cannot be assigned to this name: like `agentFault`, but a task may be a person's. */
export function assigneeFault(name: string, names: Names): AddressFault | undefined {
  const fault = isPerson(name, names) ? undefined : agentFault(name, names);
  return fault?.message.endsWith(' is not an agent')
    ? {
        message: `${fault.message}; listed under people?`,
        hint: `${fault.hint}${fault.hint.endsWith('?') ? ' If' : '; if'} it is a person, write people: [${name}] in agentdir.yaml`,
      }
    : fault;
}

/** What to do about an unknown name. */
export function agentHint(name: string, names: Pick<Names, 'agents'>): string {
  const agents = names.agents();
  const near = nearest(name, [...agents, 'human']);
  if (near) return `did you mean "${near}"?`;
  const known = agents.slice(0, 8).join(', ');
  return `add templates/${name}.agent.yaml${known ? `, or use one of: ${known}` : ''}`;
}
