import type {Place} from '../files/diagnostic.ts';
import {stemOf} from '../files/key.ts';
import type {Session} from '../files/session.ts';
import type {SessionHeader, SessionStatus} from '../files/session-schema.ts';
import {type Need, shortTitle} from './need.ts';
import {isSegment} from './session-history.ts';
import {placesIn} from './session-places.ts';

/** A call that waits for an approval. */
export interface Wait extends Place {
  approval: string;
}

export interface SessionFact {
  /** Its session_id, else its file name. */
  id: string;
  agent: string;
  status: SessionStatus | null;
  created: string | null;
  updated: string | null;
  /** It holds older messages of another session; only its waits are of interest. */
  segment: boolean;
  shared: boolean;
  segments: string[];
  idAt: Place;
  agentAt: Place;
  waits: Wait[];
}

export interface SessionFacts {
  defines: string[];
  counts: {sessions: number; messages: number};
  needs: Need[];
  session?: SessionFact;
}

/** A file with an error defines its name and nothing else. */
export function sessionFacts(path: string, file: Session): SessionFacts {
  const {header, messages} = file;
  const stem = stemOf(path);
  const counts = {sessions: 1, messages: messages.length};
  if (!header) return {defines: [`session/${stem}`], counts, needs: []};
  const id = header.session_id ?? stem;
  const placeOf = placesIn(file);
  return {
    // Approvals name the file; doubled ids are found by the id.
    defines: id === stem ? [`session/${stem}`] : [`session/${stem}`, `session/${id}`],
    counts,
    needs: header.status === 'error' && !isSegment(path) ? [failure(id, header, placeOf(['status']).line)] : [],
    session: {
      id,
      agent: header.agent_id,
      status: header.status ?? null,
      created: header.created ?? null,
      updated: header.updated ?? null,
      segment: isSegment(path),
      shared: header.shared === true,
      segments: header.segments ?? [],
      idAt: placeOf(['session_id']),
      agentAt: placeOf(['agent_id']),
      waits: waitsOf(file, placeOf),
    },
  };
}

function waitsOf({messages}: Session, placeOf: ReturnType<typeof placesIn>): Wait[] {
  if (!messages.some(message => message.tool_calls?.some(call => call.approval !== undefined))) return [];
  const answered = new Set(messages.map(message => message.tool_call_id));
  return messages.flatMap((message, index) =>
    (message.tool_calls ?? []).flatMap(({id, approval, started}, i) =>
      approval === undefined || started || answered.has(id)
        ? []
        : [{approval, ...placeOf(['messages', index, 'tool_calls', i, 'approval'])}],
    ),
  );
}

function failure(id: string, header: SessionHeader, line: number): Need {
  const {error} = header as {error?: unknown};
  const said = typeof error === 'string' ? error : (error as {message?: unknown} | null | undefined)?.message;
  const title = typeof said === 'string' && said.trim() !== '' ? said : 'the session stopped with an error';
  const since = header.updated ?? header.created ?? null;
  return {what: 'session', id, title: shortTitle(title), line, since, state: 'error'};
}
