import {exit} from '../../formats/common/errors.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {daemonOf} from '../../home/status.ts';
import {type AgentHealth, agentHealth, type SessionHealth} from '../actions/agents/health.ts';
import {holdsIn, startAgents, stopAgents} from '../actions/agents/holds.ts';
import {restartAgents} from '../actions/agents/restart-agents.ts';
import {agentName} from '../actions/talk/find-agent.ts';
import {colors, note, print, printJson} from '../terminal/output.ts';
import {ago} from './short-text.ts';

interface NamedAgents {
  home: string;
  names: readonly string[];
  json: boolean;
}

function agentsNamed(home: string, names: readonly string[]): string[] {
  return [...new Set(names.map(name => agentName(home, name)))];
}

export async function stopAgentsCommand({
  home,
  names,
  why,
  json,
}: NamedAgents & {why: string | undefined}): Promise<number> {
  const agents = agentsNamed(home, names);
  return tell({agents, changed: await stopAgents(home, agents, why), word: 'stopped', json});
}

/** Without names: all that are held. */
export async function startAgentsCommand({home, names, json}: NamedAgents): Promise<number> {
  const agents = names.length === 0 ? Object.keys(holdsIn(home)) : agentsNamed(home, names);
  const changed = await startAgents(home, agents);
  if (!json && !daemonOf(nodeDisk(home))) note('no daemon is running: agentdir start');
  return tell({agents, changed, word: 'started', json});
}

export async function restartAgentsCommand({home, names, json}: NamedAgents): Promise<number> {
  const agents = agentsNamed(home, names);
  await restartAgents(home, agents);
  return tell({agents, changed: agents, word: 'restarted', json});
}

function tell({
  agents,
  changed,
  word,
  json,
}: {
  agents: readonly string[];
  changed: readonly string[];
  word: string;
  json: boolean;
}): number {
  if (json) printJson(agents.map(name => ({name, [word]: true, changed: changed.includes(name)})));
  else
    for (const name of agents)
      print(
        changed.includes(name)
          ? `${colors.green(word)} ${colors.bold(name)}`
          : `${colors.bold(name)} is ${word === 'stopped' ? 'stopped already' : 'not stopped'}`,
      );
  return exit.done;
}

const BAD: ReadonlySet<AgentHealth['status']> = new Set(['stuck', 'failed', 'error', 'wrong']);

export function healthCommand({home, names, json}: NamedAgents): number {
  const only = names.length === 0 ? undefined : agentsNamed(home, names);
  const found = agentHealth(home, only, Date.now());
  if (json) printJson(found);
  else for (const line of healthLines(found)) print(line, 4);
  return found.some(({status}) => BAD.has(status)) ? exit.failed : exit.done;
}

const paints: Partial<Record<string, (text: string) => string>> = {
  stuck: colors.red,
  failed: colors.red,
  error: colors.red,
  wrong: colors.red,
  stopped: colors.yellow,
  waiting: colors.yellow,
  paused: colors.yellow,
  working: colors.cyan,
  idle: colors.dim,
};

/** Busy and troubled agents first, each with its sessions. */
export function healthLines(found: readonly AgentHealth[]): string[] {
  const order = (one: AgentHealth) => (BAD.has(one.status) ? 0 : one.status === 'idle' ? 2 : 1);
  const width = Math.max(0, ...found.map(({agent}) => agent.length));
  return found
    .toSorted((a, b) => order(a) - order(b))
    .flatMap(({agent, status, why, sessions}) => [
      `${colors.bold(visibleLine(agent).padEnd(width))}  ${painted(status)}${why === null ? '' : `  ${visibleLine(why)}`}`,
      ...sessions.map(sessionLine),
    ]);
}

function sessionLine({session, state, why, since}: SessionHealth): string {
  const when = since === null ? '' : ` ${colors.dim(ago(since, Date.now()))}`;
  return `  ${visibleLine(session)} ${painted(state)}: ${visibleLine(why)}${when}`;
}

function painted(status: string): string {
  return (paints[status] ?? String)(status);
}
