import {exit, UserError} from '../../../formats/common/errors.ts';
import {stemOf} from '../../../formats/common/key.ts';
import {listSessions} from '../../../home/session-files.ts';
import {stopAgents} from '../agents/holds.ts';
import {instanceAgentNames, listInstances, stopInstance} from '../instances/instances.ts';
import {stopSession} from '../sessions/change-status.ts';
import {agentName, templates} from '../talk/find-agent.ts';
import {sessionFile} from '../talk/find-session.ts';

/** One target of `agentdir stop TARGET`. */
export interface StopTarget {
  kind: 'agent' | 'instance' | 'session';
  name: string;
}

export interface Stopped extends StopTarget {
  /** False: it was stopped before. */
  changed: boolean;
  /** True for a delegated task, which ends when it is stopped; the agent that asked gets the result. */
  ended?: true;
}

/**
 * `@pr-123` is an instance, `reviewer@pr-123` and `reviewer` are agents, and anything else is a session by a unique part of its id. Throws
 * if there is no such thing.
 */
export function stopTarget(home: string, wanted: string): StopTarget {
  const instances = listInstances(home).map(({instance}) => instance);
  const agents = new Set([...templates(home).map(stemOf), ...instanceAgentNames(home)]);
  const name = wanted.replace(/^@/, '');
  if (wanted.startsWith('@') && instances.includes(name)) return {kind: 'instance', name};
  if (agents.has(name)) return {kind: 'agent', name};
  if (wanted.startsWith('@') && !name.includes('@'))
    throw new UserError(
      `no workflow instance "${name}"`,
      exit.usage,
      instances.length > 0 ? `there are ${instances.slice(0, 8).join(', ')}` : 'see agentdir list',
    );
  const sessions = listSessions(home);
  if (sessions.some(({id}) => id.includes(name))) return {kind: 'session', name: sessionFile(home, name).id};
  if (instances.includes(name)) return {kind: 'instance', name};
  return {kind: 'agent', name: agentName(home, wanted)};
}

/** All instances that are not stopped, and all agents of the home. */
export function allTargets(home: string): StopTarget[] {
  return [
    ...listInstances(home).flatMap(({instance, status}): StopTarget[] =>
      status === 'wrong' ? [] : [{kind: 'instance', name: instance}],
    ),
    ...[...new Set(templates(home).map(stemOf))].map((name): StopTarget => ({kind: 'agent', name})),
  ];
}

/** Stop instances, agents and sessions. They stay stopped, also when the daemon is restarted. */
export async function stopTargets(home: string, targets: readonly StopTarget[], why?: string): Promise<Stopped[]> {
  const agents = targets.flatMap(({kind, name}) => (kind === 'agent' ? [name] : []));
  const held = agents.length > 0 ? await stopAgents(home, agents, why) : [];
  const stopped: Stopped[] = [];
  for (const target of targets) {
    const {kind, name} = target;
    if (kind === 'session') {
      const {changed, status} = await stopSession(home, sessionFile(home, name));
      stopped.push({...target, changed, ...(status === 'completed' && {ended: true})});
    } else stopped.push({...target, changed: kind === 'agent' ? held.includes(name) : await stopInstance(home, name)});
  }
  return stopped;
}
