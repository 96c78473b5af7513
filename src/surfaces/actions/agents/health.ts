import {parseFile} from '../../../check/parse-file.ts';
import {nextSessionAction} from '../../../decide/turn.ts';
import {stemOf} from '../../../formats/common/key.ts';
import {type AgentHold, holdOf} from '../../../formats/holds-file.ts';
import type {SessionHeader} from '../../../formats/session/session-schema.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {readLive} from '../../../home/live-read.ts';
import {listFolder, readHomeFile} from '../../../home/read.ts';
import {listSessions, type SessionFile} from '../../../home/session-files.ts';
import {daemonOf, readStatus} from '../../../home/status.ts';
import {awaitedRequests} from '../decide/waits-for.ts';
import {instanceAgentNames} from '../instances/instances.ts';
import {errorOf} from '../talk/answer.ts';
import {readSession} from '../talk/find-session.ts';
import {type Holds, holdsIn} from './holds.ts';

/** How a session is, if it has something to do. */
export interface SessionHealth {
  session: string;
  state: 'working' | 'waiting' | 'stuck' | 'error' | 'paused';
  /** In words: what it does, waits for, or what is wrong. */
  why: string;
  since: string | null;
}

/** Whether an agent can work, and what its sessions do or wait for. */
export interface AgentHealth {
  agent: string;
  status: 'stopped' | 'failed' | 'wrong' | 'stuck' | 'error' | 'waiting' | 'working' | 'idle';
  why: string | null;
  sessions: SessionHealth[];
}

/** A turn without output for so long counts as stuck. */
const QUIET_MS = 5 * 60_000;

/** From files and live output alone. */
export function agentHealth(home: string, only: readonly string[] | undefined, now: number): AgentHealth[] {
  const holds = holdsIn(home);
  const served = daemonOf(nodeDisk(home)) !== undefined;
  const byAgent = new Map<string, SessionHealth[]>();
  for (const file of listSessions(home)) {
    const found = sessionHealth(home, file, {served, holds, now});
    if (found) byAgent.set(found.agent, [...(byAgent.get(found.agent) ?? []), found.health]);
  }
  const troubles = readStatus(nodeDisk(home))?.troubles ?? [];
  return agentNames(home, byAgent.keys())
    .filter(name => only === undefined || only.includes(name))
    .map(agent => {
      const sessions = byAgent.get(agent) ?? [];
      const held = holdOf(holds, agent);
      const wrong = templateError(home, agent);
      const trouble = troubles[0];
      if (held) return {agent, status: held.status, why: holdWords(held), sessions};
      if (wrong !== undefined) return {agent, status: 'wrong' as const, why: wrong, sessions};
      const worst = (['stuck', 'error', 'waiting', 'working'] as const).find(state =>
        sessions.some(one => one.state === state),
      );
      const why = worst === 'stuck' && served && trouble ? trouble.what : null;
      return {agent, status: worst ?? ('idle' as const), why, sessions};
    });
}

function agentNames(home: string, withSessions: Iterable<string>): string[] {
  const named = listFolder(nodeDisk(home), 'templates').map(stemOf);
  return [...new Set([...named, ...instanceAgentNames(home), ...withSessions])].sort();
}

function templateError(home: string, agent: string): string | undefined {
  if (instanceAgentNames(home).includes(agent)) return undefined;
  const name = agent.split('@')[0] ?? agent;
  const path = listFolder(nodeDisk(home), 'templates').find(each => stemOf(each) === name);
  if (path === undefined) return 'its template is gone: its sessions rest until it is back';
  const read = readHomeFile(nodeDisk(home), path);
  const parsed = read && 'text' in read ? parseFile(path, read.text) : undefined;
  if (parsed?.kind === 'template' && parsed.file.value) return undefined;
  return `${path} has errors: agentdir check`;
}

function holdWords({status, at, by, why}: AgentHold): string {
  const who = [by && `by ${by.replace(/ <[^>]*>$/, '')}`, at && `at ${at}`].filter(Boolean).join(' ');
  return [who || status, why].filter(Boolean).join(': ');
}

interface Surroundings {
  served: boolean;
  holds: Holds;
  now: number;
}

function sessionHealth(
  home: string,
  file: SessionFile,
  around: Surroundings,
): {agent: string; health: SessionHealth} | undefined {
  let found: ReturnType<typeof readSession>;
  try {
    found = readSession(home, file);
  } catch {
    return undefined;
  }
  if (!found || found.header.status === 'completed') return undefined;
  const {header, session} = found;
  const since = header.updated ?? null;
  const health = (state: SessionHealth['state'], why: string) => ({
    agent: header.agent_id,
    health: {session: file.id, state, why, since},
  });
  if (header.status === 'error') return health('error', errorOf(header));
  if (header.status === 'paused') return health('paused', `to go on: agentdir resume ${file.id}`);
  const ids = awaitedRequests(header, session.messages);
  if (header.status === 'waiting') return health('waiting', waitWords(header, ids));
  if (nextSessionAction(session).do === 'rest') return undefined;
  if (holdOf(around.holds, header.agent_id)) return health('paused', 'its agent is stopped');
  if (!around.served) return health('stuck', 'no daemon is running: agentdir start');
  return turnHealth(home, file, around.now, health);
}

function waitWords({waiting_for}: SessionHeader, ids: readonly string[]): string {
  if (ids.length > 0) return `waits for your decision: agentdir approvals ${ids[0]}`;
  return typeof waiting_for === 'string' ? `waits for ${waiting_for}` : 'waits';
}

/** By its live output: when the turn last said something. */
function turnHealth<T>(
  home: string,
  {id}: SessionFile,
  now: number,
  health: (state: SessionHealth['state'], why: string) => T,
): T {
  const last = readLive(home, id).at(-1);
  if (last?.event === 'retry') return health('stuck', `${last.why}; asked again at ${last.next}`);
  const quiet = last && last.event !== 'end' ? now - Date.parse(last.at) : 0;
  if (quiet > QUIET_MS) return health('stuck', `no output for ${Math.round(quiet / 60_000)} minutes`);
  return health('working', last && last.event !== 'end' ? 'answering' : 'at work');
}
