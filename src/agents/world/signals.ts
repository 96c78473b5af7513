const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** One Ctrl-C may arrive twice: from the terminal, and from `npm start`, which forwards it. */
const SAME_MS = 500;

/** Resolves to the name of the signal that asks the daemon to stop. Call `release` when the daemon has stopped. */
export interface StopRequest {
  signal: Promise<string>;
  release: () => void;
}

/**
 * Handle the first signal that asks to stop. Shortly after it, the default handling returns: a second Ctrl-C ends the
 * process.
 */
export function untilSignal(): StopRequest {
  let resolve = (_name: string) => {};
  const signal = new Promise<string>(done => {
    resolve = done;
  });
  let received = false;
  const removeHandlers = () => {
    for (const name of names) process.off(name, handler);
  };
  const handler = (name: string) => {
    if (!received) setTimeout(removeHandlers, SAME_MS).unref();
    received = true;
    resolve(name);
  };
  for (const name of names) process.on(name, handler);
  return {
    signal,
    release: () => {
      if (!received) removeHandlers();
    },
  };
}
