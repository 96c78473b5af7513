import type {Facts} from '../../check/facts.ts';
import {type Caused, NOTHING_CAUSED} from '../../formats/session/causes.ts';
import {causeName} from '../../formats/session/chain.ts';
import type {FactsFollower} from '../../loop/reconciler.ts';

/** How many sessions, tasks and messages follow from each cause, in all files of the home. A new daemon counts the same. */
export class Causes implements FactsFollower {
  readonly #caused = new Map<string, Caused>();

  factsChanged(_path: string, before: Facts | undefined, now: Facts | undefined): void {
    if (before?.causes === now?.causes) return;
    this.#add(before?.causes, -1);
    this.#add(now?.causes, 1);
  }

  /** Count what is about to be written. Call the returned function when the files have it, or never will. */
  expect(cause: string, more: Partial<Caused>): () => void {
    const expected = {[causeName(cause)]: {...NOTHING_CAUSED, ...more}};
    this.#add(expected, 1);
    return () => this.#add(expected, -1);
  }

  /** Counts of sessions, tasks and messages that follow from a cause, by the cause's name in messages and tasks. */
  of(cause: string): Caused {
    return this.#caused.get(causeName(cause)) ?? NOTHING_CAUSED;
  }

  #add(causes: Facts['causes'] = {}, by: number): void {
    for (const [name, {sessions, tasks, messages}] of Object.entries(causes)) {
      const sum = this.#caused.get(name) ?? NOTHING_CAUSED;
      const now = {
        sessions: sum.sessions + by * sessions,
        tasks: sum.tasks + by * tasks,
        messages: sum.messages + by * messages,
      };
      if (now.sessions + now.tasks + now.messages === 0) this.#caused.delete(name);
      else this.#caused.set(name, now);
    }
  }
}
