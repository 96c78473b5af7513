/** Why something waits. Reported only once the wait has lasted, and cleared when it is over. */
export class WaitNotice {
  /** Called when `waiting` changes. */
  onChange: (why: string | undefined) => void = () => {};
  waiting: string | undefined;
  readonly #tellMs: number;
  #since = 0;

  /** A wait that is over sooner is not worth telling of. */
  constructor(tellMs: number) {
    this.#tellMs = tellMs;
  }

  update(why: string | undefined): void {
    const now = performance.now();
    if (why === undefined) this.#since = 0;
    else this.#since ||= now;
    const lasting = why !== undefined && (this.waiting !== undefined || now - this.#since >= this.#tellMs);
    const told = lasting ? why : undefined;
    if (told === this.waiting) return;
    this.waiting = told;
    this.onChange(told);
  }
}

/** What to tell of an error that a later try may not meet. */
export function failureWords(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT')
    return 'the disk is full; edits are committed when there is room';
  if (error.code === 'EACCES' || error.code === 'EROFS' || error.code === 'EPERM')
    return `the repository cannot be written (${error.message}); edits are committed when it can`;
  return `git cannot be written to (${error.message}); tried again`;
}
