import {childrenOf} from '../../../formats/session/child-session.ts';
import type {Message, SessionHeader, SessionStatus} from '../../../formats/session/session-schema.ts';
import {listSessions, type SessionFile} from '../../../home/session-files.ts';
import {usageOf} from '../talk/answer.ts';
import {readSession} from '../talk/find-session.ts';

/** A session that does a task for another one. */
export interface ChildRow {
  session: string;
  agent: string;
  file: string;
  /** How the task ended, or the status of the session. */
  status: string;
  request: string;
  tool_calls: number;
  tokens_used: number;
  /** Null: unknown. */
  cost_usd: number | null;
  duration_seconds: number;
  summary: string | null;
  children: ChildRow[];
}

/** The sessions that do tasks for this one, each with its own. */
export function childRows(home: string, session: string, now = Date.now()): ChildRow[] {
  const files = listSessions(home);
  const below = (parent: string): ChildRow[] =>
    files
      .filter(({id}) => id.startsWith(`${parent}.`) && /^\d+$/.test(id.slice(parent.length + 1)))
      .sort((a, b) => Number(a.id.slice(parent.length + 1)) - Number(b.id.slice(parent.length + 1)))
      .flatMap(file => {
        const row = childRow(home, file, now);
        return row && row.parent === parent ? [{...row.row, children: below(file.id)}] : [];
      });
  return below(session);
}

function childRow(
  home: string,
  file: SessionFile,
  now: number,
): {parent: string | undefined; row: Omit<ChildRow, 'children'>} | undefined {
  const found = readable(home, file);
  if (!found) return undefined;
  const {header, messages} = found;
  const {result, parent, created} = header;
  const usage = usageOf(messages);
  const isPriced = usage === null || usage.cost_usd !== undefined;
  const seconds = created === undefined ? 0 : Math.max(0, Math.round((now - Date.parse(created)) / 100) / 10);
  return {
    parent: parent?.session,
    row: {
      ...{session: file.id, agent: header.agent_id, file: file.path},
      status: result?.status ?? statusWord(header.status),
      request: messages[0]?.content ?? '',
      tool_calls: result?.tool_calls ?? messages.reduce((sum, {tool_calls = []}) => sum + tool_calls.length, 0),
      tokens_used: result?.tokens_used ?? (usage ? usage.input_tokens + usage.output_tokens : 0),
      cost_usd: result ? (result.cost_usd ?? null) : isPriced ? (usage?.cost_usd ?? 0) : null,
      duration_seconds: result?.duration_seconds ?? seconds,
      summary: result?.summary ?? null,
    },
  };
}

function statusWord(status: SessionStatus | undefined): string {
  return status === 'active' || status === undefined ? 'running' : status;
}

/** Undefined: the file is gone or has errors, which are reported elsewhere. */
function readable(home: string, file: SessionFile): {header: SessionHeader; messages: readonly Message[]} | undefined {
  try {
    const found = readSession(home, file);
    return found && {header: found.header, messages: found.session.messages};
  } catch {
    return undefined;
  }
}

/** Ids of the sessions whose results the calls of a session wait for. */
export function openChildIds(messages: readonly Message[]): string[] {
  return [...childrenOf({messages})].flatMap(([id, state]) => (state === 'open' ? [id] : []));
}
