/** The last piece of work of each workspace, in this process. */
const last = new Map<string, Promise<unknown>>();

/** One after the other for each workspace, in this process; among processes a lock orders those who write (`lockOf`). */
export function inTurn<T>({home, agent}: {home: string; agent: string}, work: () => Promise<T>): Promise<T> {
  const key = `${home}\0${agent}`;
  const result = (last.get(key) ?? Promise.resolve()).then(work);
  const settled = result.then(
    () => {},
    () => {},
  );
  last.set(key, settled);
  settled.then(() => {
    if (last.get(key) === settled) last.delete(key);
  });
  return result;
}
