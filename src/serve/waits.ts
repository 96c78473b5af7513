import {isDeepStrictEqual} from 'node:util';
import type {SessionFact} from '../check/session-facts.ts';
import {stemOf} from '../files/key.ts';
import type {Work} from '../files/spent.ts';

/** A session that waits for a request for more to be decided. */
export interface WaitingSession {
  approval: string;
  session: string;
  agent: string;
  work: Work;
}

const NONE: ReadonlySet<string> = new Set();

/** Which sessions wait for which request, and which of them may not have to any more. */
export class Waits {
  readonly #byPath = new Map<string, WaitingSession>();
  readonly #byApproval = new Map<string, Set<string>>();
  /** Sessions that began to wait, and requests that one has let go. */
  readonly #begun = new Set<string>();
  readonly #left = new Set<string>();
  #allDue = true;

  /** What the file says now; undefined if it is gone or does not wait. */
  set(path: string, fact: SessionFact | undefined): void {
    const {waitingFor, work, agent} = fact && !fact.segment ? fact : ({} as Partial<SessionFact>);
    const waiting =
      waitingFor === undefined || work === undefined || agent === undefined
        ? undefined
        : {approval: waitingFor, session: stemOf(path), agent, work};
    const before = this.#byPath.get(path);
    if (isDeepStrictEqual(before, waiting)) return;
    if (before) {
      const paths = this.#byApproval.get(before.approval);
      paths?.delete(path);
      if (paths?.size === 0) {
        this.#byApproval.delete(before.approval);
        this.#left.add(before.approval);
      }
    }
    if (!waiting) {
      this.#byPath.delete(path);
      return;
    }
    this.#byPath.set(path, waiting);
    this.#begun.add(path);
    const paths = this.#byApproval.get(waiting.approval);
    if (paths) paths.add(path);
    else this.#byApproval.set(waiting.approval, new Set([path]));
  }

  get(path: string): WaitingSession | undefined {
    return this.#byPath.get(path);
  }

  /** Paths of the sessions that wait for it. */
  for(approval: string): ReadonlySet<string> {
    return this.#byApproval.get(approval) ?? NONE;
  }

  approvals(): IterableIterator<string> {
    return this.#byApproval.keys();
  }

  /** Limits, decisions or the day are others now. */
  allChanged(): void {
    this.#allDue = true;
  }

  /** What is to be looked at again, once: sessions, and requests that nobody waits for any more. Undefined: nothing. */
  takeDue(): {all: boolean; paths: readonly string[]; left: readonly string[]} | undefined {
    if (!this.#allDue && this.#begun.size + this.#left.size === 0) return undefined;
    const due = {
      all: this.#allDue,
      paths: [...(this.#allDue ? this.#byPath : this.#begun).keys()],
      left: [...this.#left].filter(approval => !this.#byApproval.has(approval)),
    };
    this.#allDue = false;
    this.#begun.clear();
    this.#left.clear();
    return due;
  }
}
