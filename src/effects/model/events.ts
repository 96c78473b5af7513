const field = /^(?:data|event|id|retry)?:/;
/** Length of the longest field name with its colon. */
const FIELD_LENGTH = 6;

/** Parses server-sent events as they arrive. A body in any other format is kept as `foreign` text. */
export class Events {
  readonly #decoder = new TextDecoder();
  /** An incomplete line. */
  #rest = '';
  #data: string[] = [];
  #begun = false;
  /** The text so far, if its first line is not an event field. */
  foreign: string | undefined;

  /** Number of buffered characters. */
  get pending(): number {
    return this.#rest.length + (this.foreign?.length ?? 0) + this.#data.reduce((sum, line) => sum + line.length, 0);
  }

  /** Return the data of the events that these bytes complete. Undefined marks the end of the stream. */
  read(bytes: Uint8Array | undefined): string[] {
    const text = bytes ? this.#decoder.decode(bytes, {stream: true}) : this.#decoder.decode();
    if (this.foreign !== undefined) {
      this.foreign += text;
      return [];
    }
    // Scan a long line that arrives in many pieces only once.
    if (bytes && this.#begun && !/[\r\n]/.test(text) && !this.#rest.endsWith('\r')) {
      this.#rest += text;
      return [];
    }
    return this.#lines(this.#rest + text, !bytes);
  }

  #lines(text: string, isLast: boolean): string[] {
    if (!this.#begun) {
      const begin = text.trimStart();
      if (begin.length < FIELD_LENGTH && !isLast) {
        this.#rest = begin;
        return [];
      }
      this.#begun = true;
      if (begin !== '' && !field.test(begin)) {
        this.foreign = begin;
        return [];
      }
    }
    const events: string[] = [];
    // A CR at the very end may be the first half of a CRLF.
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    this.#rest = isLast ? '' : (lines.pop() ?? '');
    for (const line of lines) {
      if (line.startsWith('data:')) this.#data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
      else if (line === '') this.#dispatch(events);
    }
    if (isLast) this.#dispatch(events);
    return events;
  }

  #dispatch(events: string[]): void {
    if (this.#data.length > 0) events.push(this.#data.join('\n'));
    this.#data = [];
  }
}
