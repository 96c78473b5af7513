/** A disk that does not keep what was written: nothing more may be built on it, so the daemon stops. */
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
