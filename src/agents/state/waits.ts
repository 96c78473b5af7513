import {isDeepStrictEqual} from 'node:util';
import type {Facts} from '../../check/facts.ts';
import type {SessionFact} from '../../check/session-facts.ts';
import type {TaskFact} from '../../check/task-facts.ts';
import {blocks} from '../../formats/common/diagnostic.ts';
import {stemOf} from '../../formats/common/key.ts';
import type {Work} from '../../formats/session/spent.ts';
import type {FactsFollower} from '../../loop/reconciler.ts';

/** A session that waits for a request for more to be decided. */
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

/** What may have to be done since somebody last asked. */
export interface DueWaits {
  all: boolean;
  /** Sessions. */
  paths: readonly string[];
  /** Requests that nobody waits for any more. */
  left: readonly string[];
  /** Requests that something became of. */
  changed: readonly string[];
}

const NONE: ReadonlySet<string> = new Set();

/** Which sessions wait for which request, and which of them may not have to any more. */
export class Waits implements FactsFollower {
  readonly #byPath = new Map<string, WaitState>();
  readonly #byApproval = new Map<string, Set<string>>();
  /** Sessions that began to wait or whose request has become another, and requests that one has let go. */
  readonly #due = new Set<string>();
  readonly #left = new Set<string>();
  readonly #changed = new Set<string>();
  #allDue = true;

  /** A file with errors goes on waiting for what it waited for. */
  factsChanged(path: string, before: Facts | undefined, now: Facts | undefined): void {
    if (!now || !blocks(now.problems)) this.set(path, now?.session, now?.tasks);
    if (!isDeepStrictEqual(before?.limits, now?.limits)) this.allChanged();
    for (const id of changedStates(before?.approvals, now?.approvals)) this.changed(id);
  }

  /** What the file says now; undefined if it is gone or does not wait. Tasks wait for a person to let them start. */
  set(path: string, fact: SessionFact | undefined, tasks: readonly TaskFact[] = []): void {
    const waiting = fact && !fact.segment && fact.status !== 'completed' ? waitingIn(path, fact) : waitingTasks(tasks);
    const before = this.#byPath.get(path);
    if (isDeepStrictEqual(before, waiting)) return;
    for (const approval of before ? approvalsOf(before) : []) {
      const paths = this.#byApproval.get(approval);
      paths?.delete(path);
      if (paths?.size !== 0) continue;
      this.#byApproval.delete(approval);
      this.#left.add(approval);
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

  /** What it waits for as a whole. */
  get(path: string): WaitingSession | undefined {
    return this.#byPath.get(path)?.more;
  }

  /** Approvals that calls of this session wait for. */
  callsOf(path: string): readonly string[] {
    return this.#byPath.get(path)?.calls ?? [];
  }

  /** Paths of the sessions that wait for it. */
  for(approval: string): ReadonlySet<string> {
    return this.#byApproval.get(approval) ?? NONE;
  }

  /** Sessions that wait for a limit to be raised, by path. */
  *forMore(): IterableIterator<[path: string, waiting: WaitingSession]> {
    for (const [path, {more}] of this.#byPath) if (more) yield [path, more];
  }

  paths(): IterableIterator<string> {
    return this.#byPath.keys();
  }

  /** Limits or the day are others now. */
  allChanged(): void {
    this.#allDue = true;
  }

  /** Something became of this request. */
  changed(approval: string): void {
    this.#changed.add(approval);
    for (const path of this.for(approval)) this.#due.add(path);
  }

  /** What is to be looked at again, once. Undefined: nothing. */
  takeDue(): DueWaits | undefined {
    if (!this.#allDue && this.#due.size + this.#left.size + this.#changed.size === 0) return undefined;
    const due = {
      all: this.#allDue,
      paths: [...(this.#allDue ? this.#byPath : this.#due).keys()],
      left: [...this.#left].filter(approval => !this.#byApproval.has(approval)),
      changed: [...this.#changed],
    };
    this.#allDue = false;
    this.#due.clear();
    this.#left.clear();
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
    waitingFor === undefined || work === undefined
      ? undefined
      : {approval: waitingFor, session: stemOf(path), agent, work};
  return more || calls.length > 0 ? {more, calls} : undefined;
}

function approvalsOf({more, calls}: WaitState): readonly string[] {
  return more ? [more.approval, ...calls] : calls;
}
