import {setImmediate as nextTurn, setTimeout as pause} from 'node:timers/promises';

/** Stops a timer. Does nothing if it has fired. */
export type Cancel = () => void;

/** The daemon's clock. The simulator has its own (docs/simulation.md). */
export interface Clock {
  /** When this process started, in milliseconds since 1970. */
  readonly origin: number;
  /** Milliseconds since 1970, for times in files. */
  now: () => number;
  /** Milliseconds that never go back, for durations. */
  monotonic: () => number;
  /** Call `work` once, after `ms`. The timer keeps the process alive only if `held` is set. */
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

/** The current time in ISO 8601, as written into files. */
export function timestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}
