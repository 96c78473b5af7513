import type {RunRequest, RunResult} from './request.ts';

type Why = Exclude<RunResult['how'], 'ended' | 'failed'>;

/** Ends a run before its programs do. The first reason wins. */
export interface CutShort {
  why: () => Why | undefined;
  happened: Promise<void>;
  now: (why: Why) => void;
  over: () => void;
}

const longestTimer = 2 ** 31 - 1;

export function cutShort({timeoutMs, signal}: RunRequest): CutShort {
  let why: Why | undefined;
  let happen = (): void => {};
  const happened = new Promise<void>(resolve => {
    happen = resolve;
  });
  const now = (reason: Why): void => {
    why ??= reason;
    happen();
  };
  const stop = (): void => now('stopped');
  const timer = setTimeout(now, Math.min(timeoutMs, longestTimer), 'timeout');
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, {once: true});
  const over = (): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  };
  return {why: () => why, happened, now, over};
}
