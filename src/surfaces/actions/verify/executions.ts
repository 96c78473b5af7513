import {createHash} from 'node:crypto';
import {taintsIn} from '../../../decide/taint.ts';
import {isSegment, stemOf} from '../../../formats/common/key.ts';
import type {Session} from '../../../formats/session/session.ts';
import type {Call, Message} from '../../../formats/session/session-schema.ts';
import {toolNamed} from '../../../policy/tools.ts';
import type {Objection} from './finding.ts';
import {effectOf} from './verdict-of.ts';

/** A started call, in the first version that says so. */
export interface Execution {
  session: string;
  agent: string;
  call: Call;
  tainted: boolean;
}

/** Changes to calls that a version of a session brings. */
export interface VersionNews {
  started: Execution[];
  odd: {session: string; call: CallSummary; objection: Objection}[];
  /** Started calls that did not run, because they were rejected at the last moment. */
  refused: {session: string; call: CallSummary}[];
}

export interface CallSummary {
  id: string;
  tool: string;
  approval?: string;
}

interface Known {
  call: CallSummary;
  started: string | undefined;
  /** Its approval when it was started. */
  by: string | undefined;
  /** Hash of the result, to save memory. */
  result: string | undefined;
}

/** Reads versions of sessions in order; ignores repetitions by copies, forks and renames. */
export class Executions {
  /** By session and call. */
  readonly #known = new Map<string, Known>();
  /** Starts and results of all sessions. */
  readonly #told = new Set<string>();
  readonly approvals = new Set<string>();
  readonly sessions = new Set<string>();
  /** Ids of tasks that were delivered to a session. */
  readonly tasks = new Set<string>();
  /** Calls that ran elsewhere, in sessions that a person brought along. */
  readonly elsewhere = new Set<string>();
  /** Sessions that do tasks for others, with the calls that gave them. */
  readonly #children = new Map<string, {session: string; call: string}>();
  /** The started calls that gave tasks, by the session that each was given to. */
  readonly #delegated = new Map<string, string>();
  /** Sessions that were tainted in an earlier version. */
  readonly #tainted = new Set<string>();

  /** Skips messages that are the same objects as in `before`. `byPerson`: a person wrote this version. */
  read(path: string, {header, messages}: Session, before: readonly Message[], byPerson: boolean): VersionNews {
    const news: VersionNews = {started: [], odd: [], refused: []};
    const stem = stemOf(path);
    const session = isSegment(path) ? stem.replace(/\.\d+$/, '') : stem;
    const agent = header?.agent_id ?? '';
    if (byPerson && !this.sessions.has(session)) this.#findElsewhere(session, messages);
    this.sessions.add(session);
    if (header?.parent && !this.#children.has(session)) this.#children.set(session, header.parent);
    const taintedAt = this.#taint(session, header?.tainted, messages);
    for (const [index, message] of messages.entries()) {
      if (message === before[index]) continue;
      for (const call of message.tool_calls ?? [])
        this.#call({session, agent, call, tainted: taintedAt(index, call.started)}, news);
      if (message.role === 'tool_result') this.#result(session, message, news);
      const task = /^task\/(.+)#\d+$/.exec(message.delivery ?? '')?.[1];
      if (task !== undefined) this.tasks.add(task);
    }
    return news;
  }

  /** Sessions with a task that no started call gave to them: neither a rule nor a person allowed them. */
  undelegated(): string[] {
    return [...this.#children].flatMap(([session, {session: parent, call}]) =>
      this.#delegated.get(session) === `${parent}\0${call}` ? [] : [session],
    );
  }

  /** Remember calls of a new session that have a result and no start: another system ran them. */
  #findElsewhere(session: string, messages: readonly Message[]): void {
    const ended = new Set(messages.map(({tool_call_id}) => tool_call_id));
    for (const {id, started} of messages.flatMap(({tool_calls}) => tool_calls ?? []))
      if (started === undefined && ended.has(id)) this.elsewhere.add(`${session}\0${id}`);
  }

  /**
   * Whether the session was tainted when a call was started. One version may hold several steps (a crash, a person's
   * commit), so taint of the same version counts by place and time.
   */
  #taint(
    session: string,
    known: unknown,
    messages: readonly Message[],
  ): (index: number, started: string | undefined) => boolean {
    const taints = [...taintsIn(messages)];
    const named = Array.isArray(known) ? known : [];
    const told = new Set<unknown>(taints.flatMap(([, sources]) => sources));
    const always = this.#tainted.has(session) || named.some(source => !told.has(source));
    if (named.length > 0 || taints.length > 0) this.#tainted.add(session);
    return (index, started = '') =>
      always || taints.some(([at]) => at < index || (messages[at]?.timestamp ?? '') <= started);
  }

  #call(execution: Execution, news: VersionNews): void {
    const {session} = execution;
    const {id, function: called, run, child} = execution.call;
    const key = `${session}\0${id}`;
    const known = this.#known.get(key);
    const {call, started} = copyOf(execution.call);
    // Restored from before it ran and approved again: a separate run.
    const anew = known?.started !== undefined && started !== known.started && isAskedAnew(call, known);
    this.#known.set(key, {
      call,
      started: started ?? known?.started,
      by: started === undefined ? known?.by : call.approval,
      result: started !== undefined && anew ? undefined : known?.result,
    });
    if (started === undefined) return;
    if (child !== undefined && toolNamed(call.tool) === 'task') this.#delegated.set(child, key);
    if (call.approval !== undefined) this.approvals.add(call.approval);
    if (effectOf(call.tool) === 'read') return;
    const isNew = this.#tell([id, started, run, called.name, called.arguments]);
    // Deliveries are repeated after a crash; their id makes them unique.
    const repeats = effectOf(call.tool) === 'deliver' && known?.result === undefined;
    // A known start is not a second one, whatever the order of versions.
    if (isNew && known?.started !== undefined && known.started !== started && !anew && !repeats)
      news.odd.push({
        session,
        call,
        objection: {kind: 'started-twice', what: `it was started ${known.started} and again ${started}`},
      });
    else if (isNew && (anew || known?.started === undefined)) news.started.push(execution);
  }

  #result(session: string, {tool_call_id: id, content}: Message, news: VersionNews): void {
    const known = this.#known.get(`${session}\0${id}`);
    const result = hash([content]);
    if (!known || known.result === result || this.elsewhere.has(`${session}\0${id}`)) return;
    const {call, started} = known;
    // Reading calls have no mark.
    if (call.approval !== undefined) this.approvals.add(call.approval);
    if (started !== undefined && known.result === undefined && wasRefused(content ?? ''))
      news.refused.push({session, call});
    const isNew = this.#tell([id, result]);
    const refused = isAskedAnew(call, known) && !saysItRan(content ?? '');
    if (known.result !== undefined && !refused)
      news.odd.push({
        session,
        call,
        objection: {kind: 'result-changed', what: 'its result was changed after it was recorded'},
      });
    else if (isNew && started === undefined && effectOf(call.tool) !== 'read' && saysItRan(content ?? ''))
      news.odd.push({session, call, objection: {kind: 'unmarked', what: 'it has a result, but was never started'}});
    known.result = result;
  }

  /** Whether this is new. */
  #tell(values: readonly unknown[]): boolean {
    return this.#told.size !== this.#told.add(hash(values)).size;
  }
}

function isAskedAnew({approval}: CallSummary, {started, by}: Known): boolean {
  return started !== undefined && approval !== undefined && approval !== by;
}

/** Copies strings, because a substring keeps its whole text in memory. */
function copyOf({id, approval, started, function: {name: tool}}: Call): {call: CallSummary; started?: string} {
  return JSON.parse(JSON.stringify({call: {id, tool, approval}, started}));
}

function hash(values: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('base64');
}

/** A started call is checked again before it runs. */
function wasRefused(result: string): boolean {
  try {
    const value = JSON.parse(result) as {success?: unknown; code?: unknown} | null;
    return value?.success === false && (value.code === 'REJECTED' || value.code === 'EXPIRED');
  } catch {
    return false;
  }
}

/** Refused and invalid calls have results without running. */
function saysItRan(result: string): boolean {
  try {
    const value = JSON.parse(result) as {success?: unknown; code?: unknown; ran?: unknown} | null;
    return value?.success !== false || value.code === 'TIMEOUT' || value.ran !== undefined;
  } catch {
    return true;
  }
}
