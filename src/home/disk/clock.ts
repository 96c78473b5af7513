import {setImmediate as nextTurn, setTimeout as pause} from 'node:timers/promises';

/** Stops a timer; harmless once it has fired. */
export type Cancel = () => void;

/** Time, as the daemon sees it. The simulator has one of its own (docs/simulation.md). */
export interface Clock {
  /** When this process began, in milliseconds since 1970. */
  readonly origin: number;
  /** Milliseconds since 1970: what is written into files. */
  now: () => number;
  /** Milliseconds since some moment, never going back: how long something takes. */
  monotonic: () => number;
  /** Do `work` once, after `ms`. The timer alone keeps no process alive unless `held` is set. */
  after: (ms: number, work: () => void, held?: 'held') => Cancel;
  /** Resolves after `ms`. */
  pause: (ms: number) => Promise<void>;
  /** Resolves when timers, signals and the watch have had their turn. */
  nextTurn: () => Promise<void>;
}

export const systemClock: Clock = {
  origin: performance.timeOrigin,
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, work, held) => {
    const timer = setTimeout(work, ms);
    if (held === undefined) timer.unref();
    return () => clearTimeout(timer);
  },
  pause: ms => pause(ms),
  nextTurn: () => nextTurn(),
};

/** The time now, as files have it. */
export function timestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}
