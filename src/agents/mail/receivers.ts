import {blocks} from '../../formats/common/diagnostic.ts';
import {isId} from '../../formats/common/values.ts';
import {plainName, shortHash} from '../../formats/inbox-message.ts';
import type {SessionHeader} from '../../formats/session/session-schema.ts';
import type {HomeFiles} from '../../loop/home-files.ts';

/** Where a delivery goes: a session that is there, or one that is made with it. */
export interface Receiver {
  path: string;
  opening: Partial<SessionHeader>;
  /** Its file has errors: whose it is is known when it is mended. */
  unsure?: true;
}

/** The session of this id, if it is there and not over. */
export function openSession({index}: HomeFiles, session: string | undefined): string | undefined {
  if (session === undefined) return undefined;
  const path = index.definitionsOf(`session/${session}`)[0]?.path;
  const fact = path === undefined ? undefined : index.facts(path)?.session;
  return fact && !fact.segment && fact.status !== 'completed' ? path : undefined;
}

/** The same, if it is this agent's. Of a file with errors nobody knows whose it is: what comes waits until it is mended. */
export function sessionOfAgent(files: HomeFiles, session: string | undefined, agent: string): Receiver | undefined {
  const {index} = files;
  const path = session === undefined ? undefined : index.definitionsOf(`session/${session}`)[0]?.path;
  const facts = path === undefined ? undefined : index.facts(path);
  if (path === undefined || !facts) return undefined;
  if (!facts.session && blocks(facts.problems)) return {path, opening: {}, unsure: true};
  const isOwn = facts.session?.agent === agent && openSession(files, session) !== undefined;
  return isOwn ? {path, opening: {}} : undefined;
}

/** The agent's shared session: the one that there is, else the one that its first delivery makes. */
export function sharedSession({index}: HomeFiles, agent: string): Receiver {
  const [there] = index.definitionsOf(`shared/${agent}`);
  if (there) return {path: there.path, opening: {}};
  for (let n = 1; ; n++) {
    const id = `${agent.slice(0, 100)}-shared${n === 1 ? '' : `-${n}`}`;
    const [other] = index.definitionsOf(`session/${id}`);
    if (!other) return {path: `sessions/${agent}/${id}.session.yaml`, opening: {shared: true}};
    // Nobody knows whether a file with errors is the shared one: what comes waits until it is mended.
    if (blocks(index.facts(other.path)?.problems ?? [])) return {path: other.path, opening: {}};
  }
}

/** A session of its own for one try at a task: always the same. */
export function taskSession(
  {index}: HomeFiles,
  agent: string,
  task: {id: string; attempt: string},
  opening: Partial<SessionHeader>,
): Receiver {
  const name = `${agent.slice(0, 40)}-${task.id.slice(0, 80)}${task.attempt === '1' ? '' : `-${task.attempt}`}`;
  const id = isId(name) ? name : `${agent.slice(0, 40)}-task`;
  const path = `sessions/${agent}/${id}.session.yaml`;
  const there = index.definitionsOf(`session/${id}`)[0]?.path;
  return {path: there ?? path, opening: {...opening, task: task.id}};
}

/**
 * A line of an inbox goes to the session of its thread (of all files of a route, `scope`), if it has one; with `fresh` to one of its own, always the same; else
 * to the agent's shared session.
 */
export function inboxSession(
  files: HomeFiles,
  agent: string,
  {scope, thread, id, fresh}: {scope: string; thread: string | undefined; id: string; fresh: boolean},
): Receiver {
  if (thread === undefined && !fresh) return sharedSession(files, agent);
  const hash = shortHash(thread === undefined ? id : `${scope}\0${thread}`);
  const stem = `${agent.slice(0, 50)}-${plainName(scope.replace(/\.jsonl$/, ''))
    .replace(/%(?:2A)?/g, '_')
    .slice(0, 50)}-${hash}`;
  const opening = thread === undefined ? {} : {thread: thread.slice(0, 200)};
  for (let n = 1; ; n++) {
    const session = n === 1 ? stem : `${stem}-${n}`;
    const there = files.index.definitionsOf(`session/${session}`)[0]?.path;
    // What a person ended is not begun again; but what has a session of its own has been delivered.
    if (there === undefined) return {path: `sessions/${agent}/${hash.slice(0, 2)}/${session}.session.yaml`, opening};
    if (thread === undefined || openSession(files, session) !== undefined) return {path: there, opening: {}};
  }
}
