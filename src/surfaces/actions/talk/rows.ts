import {historyProblems} from '../../../check/session-history.ts';
import {hasErrors} from '../../../formats/common/diagnostic.ts';
import {parseSession} from '../../../formats/session/session.ts';
import type {Message, SessionStatus} from '../../../formats/session/session-schema.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {readHomeFile} from '../../../home/read.ts';
import {listSessions, type SessionFile, sessionHead} from '../../../home/session-files.ts';

export interface SessionRow {
  id: string;
  agent: string | null;
  /** `new`: not seen by the daemon yet. `wrong`: the file has errors. */
  status: SessionStatus | 'new' | 'wrong';
  messages: number;
  updated: string | null;
  shared: boolean;
  /** Its agent was made for one task. */
  ephemeral: boolean;
  file: string;
  /** The beginning of the last message. */
  last: string | null;
}

const BEGINNING = 200;

export function sessionRows(home: string, agent: string | undefined): SessionRow[] {
  return listSessions(home)
    .filter(({path}) => agent === undefined || sessionHead(home, path)?.includes(agent))
    .flatMap(file => sessionRow(home, file) ?? [])
    .filter(row => agent === undefined || row.agent === agent)
    .sort((a, b) => compare(b.updated ?? '', a.updated ?? '') || compare(a.id, b.id));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function sessionRow(home: string, {id, path}: SessionFile): SessionRow | undefined {
  const read = readHomeFile(nodeDisk(home), path);
  if (!read) return undefined;
  const nothing = {
    id,
    agent: null,
    messages: 0,
    updated: null,
    shared: false,
    ephemeral: false,
    file: path,
    last: null,
  };
  if (!('text' in read)) return {...nothing, status: 'wrong'};
  const session = parseSession(read.text);
  const {header, messages} = session;
  if (!header) return {...nothing, status: 'wrong'};
  return {
    id,
    agent: header.agent_id,
    status: hasErrors(historyProblems(path, session)) ? 'wrong' : (header.status ?? 'new'),
    messages: messages.length,
    updated: header.updated ?? null,
    shared: header.shared === true,
    ephemeral: header.ephemeral === true,
    file: path,
    last: beginningOf(messages.at(-1)),
  };
}

function beginningOf(message: Message | undefined): string | null {
  if (!message) return null;
  const calls = message.tool_calls?.map(call => call.function.name).join(', ');
  const text = message.content || (calls ? `calls ${calls}` : '');
  return `${message.role === 'user' ? (message.from ?? 'user') : message.role}: ${text.slice(0, BEGINNING)}`;
}
