/** A text that may be half saved counts only after it has stayed so for a second. */
export const HALF_SAVED_MS = 1_000;
/** Anything else: two looks this far apart must agree. Longer than a tick of the file system's clock. */
export const STABLE_MS = 15;
/** And these, if it has the end of what was there before and comes to an end itself. */
const WHOLE_MS = 6;
const END = 200;

/** How long a text that is not doubtful must have stayed so. What is still being written mostly lacks its end. */
export function stableMs(before: string | undefined, now: string): number {
  return hasItsEnd(before, now) ? WHOLE_MS : STABLE_MS;
}

/** Whether a text has the end of what was there before, and comes to an end itself. */
export function hasItsEnd(before: string | undefined, now: string): boolean {
  // Searched from the end, where it mostly stands.
  return now.endsWith('\n') && now.lastIndexOf(before?.slice(-END) ?? '') !== -1;
}

/**
 * Whether `now` looks like a save that is still under way: nothing there, less than there was, or not in order. Editors
 * remove the file first (vim), or empty it and write it again (nano, VS Code, `cat >`).
 */
export function mayBeHalfSaved(before: string | undefined, now: string | undefined, wrong: boolean): boolean {
  if (now === undefined || now === '' || wrong) return true;
  if (before === undefined) return false;
  return (now.length < before.length && before.startsWith(now)) || (before.endsWith('\n') && !now.endsWith('\n'));
}
