/** From so many commits on it takes long enough to be told of. */
const LONG = 1_000;

/** How far a walk through the journal is, for who waits at a terminal. */
export function progressOn(stream: NodeJS.WriteStream, json: boolean): (done: number, total: number) => void {
  return (done, total) => {
    if (!stream.isTTY || json || total < LONG || (done % 200 !== 0 && done !== total)) return;
    stream.write(done === total ? '\r\x1b[K' : `\r${done} of ${total} commits`);
  };
}
