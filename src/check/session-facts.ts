import type {Place} from '../formats/common/diagnostic.ts';
import {isSegment, stemOf} from '../formats/common/key.ts';
import {type CausedBy, causedInSession} from '../formats/session/causes.ts';
import {type ChildState, childrenOf} from '../formats/session/child-session.ts';
import type {Session} from '../formats/session/session.ts';
import type {SessionHeader, SessionStatus} from '../formats/session/session-schema.ts';
import {type DaySpent, spentIn, type Work, workIn} from '../formats/session/spent.ts';
import {type CopiedFact, copiedFact} from './copied.ts';
import {type Need, shortTitle} from './need.ts';
import {approvalPlaces, placesIn} from './session-places.ts';

/** A call that waits for an approval. */
interface Wait extends Place {
  approval: string;
}

export interface SessionFact {
  /** The session_id, or the file name. */
  id: string;
  agent: string;
  status: SessionStatus | null;
  created: string | null;
  updated: string | null;
  /** The file holds older messages of another session; only its waits matter. */
  segment: boolean;
  shared: boolean;
  /** The agent was created for one task. */
  ephemeral?: true;
  segments: string[];
  idAt: Place;
  agentAt: Place;
  waits: Wait[];
  copied: CopiedFact;
  /** The file of the checkpoint in force. */
  checkpoint?: Place & {file: string};
  /** A call was started outside the sandbox and has no result. */
  host?: true;
  /** Usage on the latest day. */
  spent?: DaySpent;
  /** The session does a task for another one. `delivery`: the message that gave it the task. */
  child?: {parent: string; call: string; delivery: string; ended: boolean; due: boolean};
  /** Sessions that do tasks for this one, and what its calls say about them. */
  children?: Record<string, ChildState>;
  /** The request to raise a limit or the session that the session waits for, and the limited work. */
  waitingFor?: string;
  work?: Work;
}

export interface SessionFacts {
  defines: string[];
  counts: {sessions: number; messages: number};
  needs: Need[];
  session?: SessionFact;
  causes?: CausedBy;
}

/** A file with an error defines its name and nothing else. */
export function sessionFacts(path: string, file: Session): SessionFacts {
  const {header, messages} = file;
  const stem = stemOf(path);
  const counts = {sessions: 1, messages: messages.length};
  if (!header) return {defines: [`session/${stem}`], counts, needs: []};
  const id = header.session_id === undefined || header.session_id === stem ? stem : ownString(header.session_id);
  const placeOf = placesIn(file);
  const segment = isSegment(path);
  const causes = causedInSession(messages, segment ? isFirstSegment(path) : (header.segments ?? []).length === 0);
  return {
    ...(causes && {causes}),
    // Approvals refer to the file name; duplicates are found by id.
    defines: [
      ...new Set([`session/${stem}`, `session/${id}`]),
      ...(header.shared === true && !segment && header.status !== 'completed' ? [`shared/${header.agent_id}`] : []),
    ],
    counts,
    needs: header.status === 'error' && !segment ? [failure(id, header, placeOf(['status']).line)] : [],
    session: {
      id,
      agent: ownString(header.agent_id),
      status: header.status ?? null,
      created: ownString(header.created ?? null),
      updated: ownString(header.updated ?? null),
      segment,
      shared: header.shared === true,
      segments: header.segments ?? [],
      idAt: placeOf(['session_id']),
      agentAt: placeOf(['agent_id']),
      waits: waitsOf(file, placeOf),
      copied: detachStrings(copiedFact(file.head, header)),
      ...checkpointFact(file),
      ...(runsOnHost(file) && {host: true as const}),
      ...(header.ephemeral === true && {ephemeral: true as const}),
      ...family(header, messages),
      ...spending(header, messages),
    },
  };
}

/** Its place is looked for in the text: this is done at every turn, and parsing a long session again would cost far more. */
function checkpointFact({head, header}: Session): Pick<SessionFact, 'checkpoint'> {
  const {version, versions = []} = header?.context ?? {};
  const file = version === 1 ? undefined : versions.find(each => each.version === version)?.file;
  if (file === undefined) return {};
  const before = head.slice(0, Math.max(0, head.lastIndexOf(file))).split('\n');
  return detachStrings({checkpoint: {file, line: before.length, column: (before.at(-1)?.length ?? 0) + 1}});
}

function isFirstSegment(path: string): boolean {
  return path.endsWith('.1.session.yaml');
}

/** A deep copy with detached strings. A substring would keep the whole file text in memory. */
export function detachStrings<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** Short strings are always copies in V8. */
function ownString<T extends string | null>(text: T): T {
  return text === null || text.length < 13 ? text : detachStrings(text);
}

function family({parent, result, result_due}: SessionHeader, messages: Session['messages']): Partial<SessionFact> {
  const children = childrenOf({messages});
  const child = parent && {
    ...{parent: parent.session, call: parent.call, delivery: messages[0]?.delivery ?? ''},
    ...{ended: result !== undefined, due: result_due === true},
  };
  return {...(child && {child}), ...(children.size > 0 && {children: Object.fromEntries(children)})};
}

function spending(header: SessionHeader, messages: Session['messages']): Partial<SessionFact> {
  const spent = spentIn(messages, header.forked_from ? header.created : undefined);
  const waitingFor = header.status === 'waiting' ? header.waiting_for : undefined;
  return {...(spent && {spent}), ...(waitingFor !== undefined && {waitingFor, work: workIn(messages)})};
}

function waitsOf(file: Session, placeOf: ReturnType<typeof placesIn>): Wait[] {
  const {messages} = file;
  if (!hasApprovals(messages)) return [];
  const quickly = approvalPlaces(file);
  const answered = new Set(messages.map(message => message.tool_call_id));
  return messages.flatMap((message, index) =>
    (message.tool_calls ?? []).flatMap(({id, approval, started}, i) =>
      approval === undefined || started || answered.has(id)
        ? []
        : [{approval, ...(quickly(index, approval) ?? placeOf(['messages', index, 'tool_calls', i, 'approval']))}],
    ),
  );
}

function hasApprovals(messages: Session['messages']): boolean {
  for (const {tool_calls} of messages) if (tool_calls?.some(({approval}) => approval !== undefined)) return true;
  return false;
}

function runsOnHost({messages}: Session): boolean {
  const last = messages.findLastIndex(({tool_calls}) => tool_calls !== undefined);
  const calls =
    messages[last]?.tool_calls?.filter(({where, started}) => where === 'host' && started !== undefined) ?? [];
  if (calls.length === 0) return false;
  const answered = new Set(messages.slice(last + 1).map(({tool_call_id}) => tool_call_id));
  return calls.some(({id}) => !answered.has(id));
}

function failure(id: string, header: SessionHeader, line: number): Need {
  const {error} = header as {error?: unknown};
  const text = typeof error === 'string' ? error : (error as {message?: unknown} | null | undefined)?.message;
  const title = typeof text === 'string' && text.trim() !== '' ? text : 'the session stopped with an error';
  const since = header.updated ?? header.created ?? null;
  return {what: 'session', id, title: shortTitle(title), line, since, state: 'error'};
}
