import {randomBytes} from 'node:crypto';
import {UserError} from '../../../formats/common/errors.ts';
import {memberOf, sessionPlaceOf} from '../../../formats/run.ts';
import {newSession} from '../../../formats/session/session.ts';
import type {Message, SessionHeader} from '../../../formats/session/session-schema.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {save} from '../../../home/save.ts';
import type {SessionFile} from '../../../home/session-files.ts';
import {notWritten} from '../../../home/write-failure.ts';
import type {Agent} from './read-agent.ts';

export interface NewSession {
  home: string;
  agent: Agent;
  shared: boolean;
  /** The session is for the first message alone, and ends with a result. */
  task?: boolean;
  /** The first message; without one, the file is prepared for an editor. */
  message?: Message;
  /** ISO time. */
  now: string;
}

/** Creates a complete session file. */
export async function makeSession({home, agent, shared, task = false, message, now}: NewSession): Promise<SessionFile> {
  const {name, template} = agent;
  const {id, path} = (shared && sharedPlace(home, name)) || newPlace(name);
  const header: SessionHeader = {
    session_id: id,
    agent_id: name,
    agent_type: template.type,
    model: template.model ?? 'default',
    system_prompt: template.system_prompt,
    created: now,
    updated: now,
    status: message ? 'active' : 'sleeping',
    ...(shared ? {shared: true} : {}),
    ...(task ? {kind: 'task' as const} : {}),
  };
  const text = newSession(header, message ? [message] : [], '../../schemas/session.json');
  await saveNew(home, path, message ? text : text.replace(/^messages: \[\]\n$/m, EXAMPLE));
  return {id, path};
}

export function newPlace(agent: string): SessionFile {
  const id = `${agent.slice(0, 100).replace('@', '.')}-${random()}`;
  return {id, path: `${sessionPlaceOf(agent).folder}${id}.session.yaml`};
}

/** The shared session of an agent of a workflow instance has a fixed name. Undefined: it is taken, or the agent is of no instance. */
function sharedPlace(home: string, agent: string): SessionFile | undefined {
  const {folder, shared: id} = sessionPlaceOf(agent);
  const path = `${folder}${id}.session.yaml`;
  return memberOf(agent) && !nodeDisk(home).exists(path) ? {id, path} : undefined;
}

export async function saveNew(home: string, path: string, text: string): Promise<void> {
  const result = await save(nodeDisk(home), {path, expected: undefined, bytes: Buffer.from(text)});
  if ('failed' in result) throw notWritten(path, result.failed);
  if ('changed' in result) throw new UserError(`${path} is there already`);
}

/** A session text to which an editor can append. */
const EXAMPLE = `# A message:
#  - role: user
#    content: What is to be done?
messages:
`;

/** 60 random bits, in letters and digits that are hard to misread. */
function random(): string {
  const letters = '0123456789abcdefghjkmnpqrstvwxyz';
  return [...randomBytes(12)].map(byte => letters[byte % 32]).join('');
}
