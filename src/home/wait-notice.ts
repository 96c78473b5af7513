/** The reason of a wait, reported once the wait has lasted `tellMs`, and cleared when it is over. */
export class WaitNotice {
  /** Called when `waiting` changes. */
  onChange: (why: string | undefined) => void = () => {};
  waiting: string | undefined;
  readonly #tellMs: number;
  #since = 0;

  constructor(tellMs: number) {
    this.#tellMs = tellMs;
  }

  update(why: string | undefined): void {
    const now = performance.now();
    if (why === undefined) this.#since = 0;
    else this.#since ||= now;
    const lasting = why !== undefined && (this.waiting !== undefined || now - this.#since >= this.#tellMs);
    const reported = lasting ? why : undefined;
    if (reported === this.waiting) return;
    this.waiting = reported;
    this.onChange(reported);
  }
}

/** Describe an error that a retry may not meet. */
export function failureWords(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT')
    return 'the disk is full; edits are committed when there is room';
  if (error.code === 'EACCES' || error.code === 'EROFS' || error.code === 'EPERM')
    return `the repository cannot be written (${error.message}); edits are committed once it can be`;
  return `cannot commit (${error.message}); retrying`;
}
