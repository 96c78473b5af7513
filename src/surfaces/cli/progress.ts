/** Show progress only after this time. */
const PATIENCE_MS = 400;
const EVERY_MS = 100;

/** Shows progress on one line, which disappears at the end. */
export function progressOn(
  stream: NodeJS.WriteStream,
  json: boolean,
  what: string,
): (done: number, total: number) => void {
  if (!stream.isTTY || json || process.env.TERM === 'dumb') return () => {};
  let next = performance.now() + PATIENCE_MS;
  let shown = false;
  return (done, total) => {
    if (done >= total) {
      if (shown) stream.write('\r\x1b[K');
      shown = false;
      return;
    }
    const now = performance.now();
    if (now < next) return;
    next = now + EVERY_MS;
    shown = true;
    stream.write(`\r${done} of ${total} ${what}\x1b[K`);
  };
}
