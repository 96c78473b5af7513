/** How long a text that may be half saved must stay unchanged. */
export const HALF_SAVED_MS = 1_000;
/** How long any other text must stay unchanged. Longer than a tick of the file system's clock. */
export const STABLE_MS = 15;
/** How long a text must stay unchanged if `hasItsEnd` holds. */
const WHOLE_MS = 6;
/** How many characters of the previous text's end to look for. */
const END = 200;

/** How long a text must stay unchanged if `mayBeHalfSaved` is false. A text that is still being written mostly lacks its end. */
export function stableMs(before: string | undefined, now: string): number {
  return hasItsEnd(before, now) ? WHOLE_MS : STABLE_MS;
}

/** Whether a text contains the end of the previous text and ends with a newline. */
export function hasItsEnd(before: string | undefined, now: string): boolean {
  // Searching backwards finds it sooner.
  return now.endsWith('\n') && now.lastIndexOf(before?.slice(-END) ?? '') !== -1;
}

/**
 * Whether `now` looks like an unfinished save: missing, empty, truncated or with errors. Editors remove the file first (vim), or empty
 * it and write it again (nano, VS Code, `cat >`).
 */
export function mayBeHalfSaved(before: string | undefined, now: string | undefined, wrong: boolean): boolean {
  if (now === undefined || now === '' || wrong) return true;
  if (before === undefined) return false;
  return (now.length < before.length && before.startsWith(now)) || (before.endsWith('\n') && !now.endsWith('\n'));
}
