import {isChildId} from '../../../formats/session/child-session.ts';
import type {Message, SessionHeader} from '../../../formats/session/session-schema.ts';
import {isUndecided, type Request, readQueue} from './queue.ts';

/** Ids of the requests that a session waits for: a limit, or calls of its last answer. */
export function awaitedRequests({waiting_for}: SessionHeader, messages: readonly Message[]): string[] {
  const last = messages.findLastIndex(({tool_calls}) => tool_calls?.length);
  const ended = new Set(messages.slice(last + 1).map(({tool_call_id}) => tool_call_id));
  const asked = (messages[last]?.tool_calls ?? []).flatMap(({id, approval, started}) =>
    approval === undefined || started !== undefined || ended.has(id) ? [] : [approval],
  );
  return [...new Set([...(typeof waiting_for === 'string' && !isChildId(waiting_for) ? [waiting_for] : []), ...asked])];
}

/** The undecided requests of a session, and of the sessions that do tasks for it. */
export function requestsBelow(home: string, ids: readonly string[], sessions: readonly string[]): Request[] {
  const isOwn = ({id, session}: Request) => ids.includes(id) || (session !== undefined && sessions.includes(session));
  return readQueue(home).requests.filter(request => isOwn(request) && isUndecided(home, request));
}

/** The undecided ones. */
export function openRequests(home: string, ids: readonly string[]): Request[] {
  return readQueue(home).requests.filter(request => ids.includes(request.id) && isUndecided(home, request));
}
