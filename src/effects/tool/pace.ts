/** Milliseconds of work before others get a turn. */
const SLICE = 5;

/** Call this often in long work and await any promise: it yields every few milliseconds, and throws once aborted. */
export function pace(signal?: AbortSignal): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < SLICE) return undefined;
    return new Promise<void>((resolve, reject) => {
      setImmediate(() => {
        since = performance.now();
        if (signal?.aborted) reject(signal.reason);
        else resolve();
      });
    });
  };
}
