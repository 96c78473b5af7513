import {serve} from '../dist/daemon/daemon.js';

/** Serves a home in this process. */
export function serveHere(home) {
  const listeners = new Set();
  const report = happening => {
    const at = performance.now();
    for (const listener of listeners) listener(happening, at);
  };
  const served = serve({home, once: false, version: 'bench', report});

  /** The first event that `wanted` wants, and its moment; after `ms`, none, at Infinity. */
  const when = (wanted, ms) =>
    new Promise(resolve => {
      const done = (happening, at) => {
        listeners.delete(listener);
        clearTimeout(timer);
        resolve({happening, at});
      };
      const listener = (happening, at) => {
        if (wanted(happening)) done(happening, at);
      };
      const timer = ms && setTimeout(() => done(undefined, Number.POSITIVE_INFINITY), ms);
      listeners.add(listener);
    });

  return {served, when, momentOf: async (wanted, ms) => (await when(wanted, ms)).at};
}
