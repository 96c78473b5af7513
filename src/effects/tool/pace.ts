/** Work in one go blocks everybody else: after so many milliseconds others get their turn. */
const SLICE = 5;

/**
 * To be called often in long work, and awaited if it returns a promise: it lets others run every few milliseconds, and
 * throws once the call is stopped.
 */
export function pace(signal: AbortSignal): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < SLICE) return undefined;
    return new Promise<void>((resolve, reject) => {
      setImmediate(() => {
        since = performance.now();
        if (signal.aborted) reject(signal.reason);
        else resolve();
      });
    });
  };
}
