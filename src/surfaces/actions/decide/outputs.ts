import {statSync} from 'node:fs';
import {join} from 'node:path';
import {UserError} from '../../../formats/common/errors.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import type {LiveEvent} from '../../../home/live.ts';
import {type LiveFilter, liveSessions, readLive} from '../../../home/live-read.ts';
import {listSessions, sessionHead} from '../../../home/session-files.ts';
import {daemonOf} from '../../../home/status.ts';
import {errorOf} from '../talk/answer.ts';
import {readSession} from '../talk/find-session.ts';
import {awaitedRequests} from './waits-for.ts';

/** The latest output of a session. */
export interface SessionOutput {
  session: string;
  agent: string;
  /** A turn is running; `text` is what it has so far. */
  running: boolean;
  at: string | null;
  text: string;
  calls: {name: string; args: string}[];
  error: string | null;
  waits_for: string[];
}

/** Running sessions first, then the latest. */
export function outputs(home: string, {session, agent}: LiveFilter, count: number): SessionOutput[] {
  const found: SessionOutput[] = [];
  const fits = (output: SessionOutput) => agent === undefined || output.agent === agent;
  if (daemonOf(nodeDisk(home))) {
    for (const id of session === undefined ? liveSessions(home) : [session]) {
      const output = runningOf(readLive(home, id));
      if (output && fits(output)) found.push(output);
    }
  }
  const seen = new Set(found.map(output => output.session));
  for (const file of latest(home, session)) {
    if (found.length >= count) break;
    if (seen.has(file.id) || (agent !== undefined && !sessionHead(home, file.path)?.includes(agent))) continue;
    const output = lastOf(home, file);
    if (output && fits(output)) found.push(output);
  }
  return found.slice(0, count);
}

function latest(home: string, session: string | undefined) {
  const all = listSessions(home).filter(({id}) => session === undefined || id === session);
  if (all.length < 2) return all;
  return all
    .map(file => ({file, time: statSync(join(home, file.path), {throwIfNoEntry: false})?.mtimeMs ?? 0}))
    .sort((a, b) => b.time - a.time)
    .map(({file}) => file);
}

/** Undefined if the last turn has ended. Text before a retry is dropped. */
function runningOf(events: readonly LiveEvent[]): SessionOutput | undefined {
  const [first] = events;
  if (!first || events.at(-1)?.event === 'end') return undefined;
  const valid = events.slice(events.findLastIndex(({event}) => event === 'retry') + 1);
  return {
    session: first.session,
    agent: first.agent,
    running: true,
    at: first.at,
    text: valid.map(event => (event.event === 'text' ? event.text : '')).join(''),
    calls: valid.flatMap(event => (event.event === 'call' ? [{name: event.name, args: event.args}] : [])),
    error: null,
    waits_for: [],
  };
}

function lastOf(home: string, file: {id: string; path: string}): SessionOutput | undefined {
  try {
    const found = readSession(home, file);
    const message = found?.session.messages.findLast(({role}) => role === 'assistant');
    const error = found?.header.status === 'error' ? errorOf(found.header) : null;
    if (!found || (!message && error === null)) return undefined;
    return {
      session: file.id,
      agent: found.header.agent_id,
      running: false,
      at: message?.timestamp ?? found.header.updated ?? null,
      text: message?.content ?? '',
      calls: (message?.tool_calls ?? []).map(call => ({name: call.function.name, args: call.function.arguments})),
      error,
      waits_for: found.header.status === 'waiting' ? awaitedRequests(found.header, found.session.messages) : [],
    };
  } catch (error) {
    // Skip files with errors; `check` reports them.
    if (error instanceof UserError) return undefined;
    throw error;
  }
}
