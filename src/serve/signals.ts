const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Resolves with the first signal that asks to stop. After it, signals do what they always do: a second Ctrl-C ends the process. */
export function untilSignal(): {signal: Promise<string>; release: () => void} {
  let resolve = (_name: string) => {};
  const signal = new Promise<string>(done => {
    resolve = done;
  });
  const handler = (name: string) => {
    release();
    resolve(name);
  };
  const release = () => {
    for (const name of names) process.off(name, handler);
  };
  for (const name of names) process.on(name, handler);
  return {signal, release};
}
