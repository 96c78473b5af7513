import {isDeepStrictEqual} from 'node:util';
import type {Facts} from '../../check/facts.ts';
import type {SessionFact} from '../../check/session-facts.ts';
import type {TaskFact} from '../../check/task-facts.ts';
import {isRequestLimit} from '../../decide/limits.ts';
import {blocks} from '../../formats/common/diagnostic.ts';
import {stemOf} from '../../formats/common/key.ts';
import {isChildId} from '../../formats/session/child-session.ts';
import type {Work} from '../../formats/session/spent.ts';
import type {FactsFollower} from '../../loop/reconciler.ts';

/** A session that waits for a decision to raise a limit. */
export interface WaitingSession {
  approval: string;
  session: string;
  agent: string;
  work: Work;
}

interface WaitState {
  more: WaitingSession | undefined;
  /** Approvals that its calls wait for. */
  calls: readonly string[];
}

/** Changes since the last `takeDue`. */
export interface DueWaits {
  all: boolean;
  /** Sessions to look at. */
  paths: readonly string[];
  /** Requests that no session waits for any more. */
  unneeded: readonly string[];
  /** Requests whose state has changed. */
  changed: readonly string[];
}

const NONE: ReadonlySet<string> = new Set();

/** Which sessions wait for which requests, and which of them must be looked at again. */
export class Waits implements FactsFollower {
  readonly #byPath = new Map<string, WaitState>();
  readonly #byApproval = new Map<string, Set<string>>();
  /** Sessions that began to wait or whose request has changed. */
  readonly #due = new Set<string>();
  /** Requests that no session waits for any more. */
  readonly #unneeded = new Set<string>();
  readonly #changed = new Set<string>();
  #allDue = true;

  /** A file with errors keeps its former waits. */
  factsChanged(path: string, before: Facts | undefined, now: Facts | undefined): void {
    if (!now || !blocks(now.problems)) this.set(path, now?.session, now?.tasks);
    if (!isDeepStrictEqual(before?.limits, now?.limits)) this.allChanged();
    const changed = changedStates(before?.approvals, now?.approvals);
    for (const id of changed) this.changed(id);
    if (changed.length > 0) this.fewerRequests();
  }

  /** There may be room for requests again: look at the sessions that wait for it. */
  fewerRequests(): void {
    for (const [id, paths] of this.#byApproval) if (isRequestLimit(id)) for (const path of paths) this.#due.add(path);
  }

  /** Update the waits of a file; `fact` is undefined if it is gone. Tasks wait for approval to start. */
  set(path: string, fact: SessionFact | undefined, tasks: readonly TaskFact[] = []): void {
    const waiting = fact && !fact.segment && fact.status !== 'completed' ? waitingIn(path, fact) : waitingTasks(tasks);
    const before = this.#byPath.get(path);
    if (isDeepStrictEqual(before, waiting)) return;
    for (const approval of before ? approvalsOf(before) : []) {
      const paths = this.#byApproval.get(approval);
      paths?.delete(path);
      if (paths?.size !== 0) continue;
      this.#byApproval.delete(approval);
      this.#unneeded.add(approval);
    }
    if (!waiting) {
      this.#byPath.delete(path);
      return;
    }
    this.#byPath.set(path, waiting);
    this.#due.add(path);
    for (const approval of approvalsOf(waiting)) {
      const paths = this.#byApproval.get(approval);
      if (paths) paths.add(path);
      else this.#byApproval.set(approval, new Set([path]));
    }
  }

  /** The raised limit that the session waits for, if any. */
  get(path: string): WaitingSession | undefined {
    return this.#byPath.get(path)?.more;
  }

  /** Approvals that calls of this session wait for. */
  callsOf(path: string): readonly string[] {
    return this.#byPath.get(path)?.calls ?? [];
  }

  /** Paths of the sessions and task files that wait for this request. */
  for(approval: string): ReadonlySet<string> {
    return this.#byApproval.get(approval) ?? NONE;
  }

  /** Ids of all requests that something waits for. */
  approvals(): IterableIterator<string> {
    return this.#byApproval.keys();
  }

  /** Sessions that wait for a limit to be raised, by path. */
  *forMore(): IterableIterator<[path: string, waiting: WaitingSession]> {
    for (const [path, {more}] of this.#byPath) if (more) yield [path, more];
  }

  paths(): IterableIterator<string> {
    return this.#byPath.keys();
  }

  /** Limits or the day have changed. */
  allChanged(): void {
    this.#allDue = true;
  }

  /** The state of this request has changed. */
  changed(approval: string): void {
    this.#changed.add(approval);
    for (const path of this.for(approval)) this.#due.add(path);
  }

  /** Return and clear the changes; undefined if there are none. */
  takeDue(): DueWaits | undefined {
    if (!this.#allDue && this.#due.size + this.#unneeded.size + this.#changed.size === 0) return undefined;
    const due = {
      all: this.#allDue,
      paths: [...(this.#allDue ? this.#byPath : this.#due).keys()],
      unneeded: [...this.#unneeded].filter(approval => !this.#byApproval.has(approval)),
      changed: [...this.#changed],
    };
    this.#allDue = false;
    this.#due.clear();
    this.#unneeded.clear();
    this.#changed.clear();
    return due;
  }
}

/** Requests whose state has changed. */
function changedStates(before: Facts['approvals'] = {}, after: Facts['approvals'] = {}): string[] {
  if (before === after) return [];
  const gone = Object.keys(before).filter(id => !Object.hasOwn(after, id));
  return [...Object.keys(after).filter(id => before[id] !== after[id]), ...gone];
}

function waitingTasks(tasks: readonly TaskFact[]): WaitState | undefined {
  const calls = tasks.flatMap(({state, approval, assigned}) =>
    state === 'pending' && approval !== undefined && assigned === undefined ? [approval] : [],
  );
  return calls.length > 0 ? {more: undefined, calls} : undefined;
}

function waitingIn(path: string, {waitingFor, work, agent, waits}: SessionFact): WaitState | undefined {
  const calls = waits.map(({approval}) => approval);
  const more =
    waitingFor === undefined || work === undefined || isChildId(waitingFor)
      ? undefined
      : {approval: waitingFor, session: stemOf(path), agent, work};
  return more || calls.length > 0 ? {more, calls} : undefined;
}

function approvalsOf({more, calls}: WaitState): readonly string[] {
  return more ? [more.approval, ...calls] : calls;
}
