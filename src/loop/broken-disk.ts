/** Signals that a disk lost data that it had accepted. The daemon stops then. */
export function brokenDisk(): {seen: Promise<Error>; found: () => boolean; report: (error: Error) => void} {
  let found = false;
  let resolve = (_error: Error) => {};
  const seen = new Promise<Error>(done => {
    resolve = done;
  });
  const report = (error: Error) => {
    found = true;
    resolve(error);
  };
  return {seen, found: () => found, report};
}
