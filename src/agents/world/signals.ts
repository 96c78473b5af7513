const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** One Ctrl-C may come twice: from the terminal, and from an `npm start` that hands it on. */
const SAME_MS = 500;

/** A wish that the daemon stops, by the name of the signal; `release` when it has stopped. */
export interface StopRequest {
  signal: Promise<string>;
  release: () => void;
}

/**
 * Resolves with the first signal that asks to stop. A moment after it, signals do what they always do: a second Ctrl-C ends the
 * process.
 */
export function untilSignal(): StopRequest {
  let resolve = (_name: string) => {};
  const signal = new Promise<string>(done => {
    resolve = done;
  });
  let came = false;
  const letGo = () => {
    for (const name of names) process.off(name, handler);
  };
  const handler = (name: string) => {
    if (!came) setTimeout(letGo, SAME_MS).unref();
    came = true;
    resolve(name);
  };
  for (const name of names) process.on(name, handler);
  return {
    signal,
    release: () => {
      if (!came) letGo();
    },
  };
}
