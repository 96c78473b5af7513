import {blocks} from '../../formats/common/diagnostic.ts';
import {isId} from '../../formats/common/values.ts';
import {plainName, shortHash} from '../../formats/inbox-message.ts';
import {sessionPlaceOf} from '../../formats/run.ts';
import type {SessionHeader} from '../../formats/session/session-schema.ts';
import type {HomeFiles} from '../../loop/home-files.ts';

/** The destination of a delivery: an existing session, or one to create. */
export interface Receiver {
  path: string;
  /** Header fields for a session to create. */
  opening: Partial<SessionHeader>;
  /** The file has errors, so its agent is unknown until they are fixed. */
  unsure?: true;
}

/** The path of the session with this id, if it exists and is not completed. */
export function openSession({index}: HomeFiles, session: string | undefined): string | undefined {
  if (session === undefined) return undefined;
  const path = index.definitionsOf(`session/${session}`)[0]?.path;
  const fact = path === undefined ? undefined : index.facts(path)?.session;
  return fact && !fact.segment && fact.status !== 'completed' ? path : undefined;
}

/** The open session with this id, if it belongs to the agent. A file with errors counts too: letters wait until it is fixed. */
export function sessionOfAgent(files: HomeFiles, session: string | undefined, agent: string): Receiver | undefined {
  const {index} = files;
  const path = session === undefined ? undefined : index.definitionsOf(`session/${session}`)[0]?.path;
  const facts = path === undefined ? undefined : index.facts(path);
  if (path === undefined || !facts) return undefined;
  if (!facts.session && blocks(facts.problems)) return {path, opening: {}, unsure: true};
  const isOwn = facts.session?.agent === agent && openSession(files, session) !== undefined;
  return isOwn ? {path, opening: {}} : undefined;
}

/** The agent's shared session, which its first delivery creates. */
export function sharedSession({index}: HomeFiles, agent: string): Receiver {
  const [existing] = index.definitionsOf(`shared/${agent}`);
  if (existing) return {path: existing.path, opening: {}};
  const {folder, shared} = sessionPlaceOf(agent);
  for (let n = 1; ; n++) {
    const id = n === 1 ? shared : `${shared}-${n}`;
    const [other] = index.definitionsOf(`session/${id}`);
    if (!other) return {path: `${folder}${id}.session.yaml`, opening: {shared: true}};
    // A file with errors may be the shared session: letters wait until it is fixed.
    if (blocks(index.facts(other.path)?.problems ?? [])) return {path: other.path, opening: {}};
  }
}

/** An agent's name as part of a session id: `reviewer.pr-123`. */
function plainAgent(agent: string): string {
  return agent.replace('@', '.');
}

/** The session for one attempt at a task. */
export function taskSession(
  {index}: HomeFiles,
  agent: string,
  task: {id: string; attempt: string},
  opening: Partial<SessionHeader>,
): Receiver {
  const name = `${plainAgent(agent).slice(0, 40)}-${task.id.slice(0, 80)}${task.attempt === '1' ? '' : `-${task.attempt}`}`;
  const id = isId(name) ? name : `${plainAgent(agent).slice(0, 40)}-task`;
  const path = `${sessionPlaceOf(agent).folder}${id}.session.yaml`;
  const existing = index.definitionsOf(`session/${id}`)[0]?.path;
  return {path: existing ?? path, opening: {...opening, task: task.id}};
}

/**
 * The session for an inbox line. A line with a thread goes to the session of that thread within `scope` (the files of a
 * route). With `fresh`, a line without thread gets its own session. Other lines go to the agent's shared session.
 */
export function inboxSession(
  files: HomeFiles,
  agent: string,
  {scope, thread, id, fresh}: {scope: string; thread: string | undefined; id: string; fresh: boolean},
): Receiver {
  if (thread === undefined && !fresh) return sharedSession(files, agent);
  const hash = shortHash(thread === undefined ? id : `${scope}\0${thread}`);
  const stem = `${plainAgent(agent).slice(0, 50)}-${plainName(scope.replace(/\.jsonl$/, ''))
    .replace(/%(?:2A)?/g, '_')
    .slice(0, 50)}-${hash}`;
  const opening = thread === undefined ? {} : {thread: thread.slice(0, 200)};
  for (let n = 1; ; n++) {
    const session = n === 1 ? stem : `${stem}-${n}`;
    const existing = files.index.definitionsOf(`session/${session}`)[0]?.path;
    // A completed thread session is not reopened: use the next number. A line's own session means it was delivered.
    if (existing === undefined)
      return {path: `${sessionPlaceOf(agent).folder}${hash.slice(0, 2)}/${session}.session.yaml`, opening};
    if (thread === undefined || openSession(files, session) !== undefined) return {path: existing, opening: {}};
  }
}
