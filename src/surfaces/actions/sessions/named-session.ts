import {exit, UserError} from '../../../formats/common/errors.ts';
import {stemOf} from '../../../formats/common/key.ts';
import type {SessionFile} from '../../../home/session-files.ts';
import {listSessions} from '../../../home/session-files.ts';
import {instanceAgentNames} from '../instances/instances.ts';
import {templates} from '../talk/find-agent.ts';
import {findSharedSession, sessionFile} from '../talk/find-session.ts';

/** A session by any unique part of its id, or the shared session of the agent with this name. */
export function namedSession(home: string, wanted: string): SessionFile {
  const name = wanted.replace(/^@/, '');
  const isAgent = templates(home).some(path => stemOf(path) === name) || instanceAgentNames(home).includes(name);
  if (!isAgent || listSessions(home).some(({id}) => id === wanted)) return sessionFile(home, wanted);
  const shared = findSharedSession(home, name);
  if (shared) return shared;
  throw new UserError(`${name} has no shared session`, exit.usage, `see its sessions: agentdir list --agent ${name}`);
}
