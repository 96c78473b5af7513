const field = /^(?:data|event|id|retry)?:/;
/** As long as the longest of them. */
const FIELD_LENGTH = 6;

/** Server-sent events, read as they come. What is no such stream at all is kept as `foreign` text. */
export class Events {
  readonly #decoder = new TextDecoder();
  /** A line that has not ended. */
  #rest = '';
  #data: string[] = [];
  #begun = false;
  /** The text so far, if its first line is none of an event's. */
  foreign: string | undefined;

  /** Characters that are kept. */
  get pending(): number {
    return this.#rest.length + (this.foreign?.length ?? 0) + this.#data.reduce((sum, line) => sum + line.length, 0);
  }

  /** The data of the events that these bytes complete; undefined: there are no more bytes. */
  read(bytes: Uint8Array | undefined): string[] {
    const text = bytes ? this.#decoder.decode(bytes, {stream: true}) : this.#decoder.decode();
    if (this.foreign !== undefined) {
      this.foreign += text;
      return [];
    }
    // A long line in many pieces is looked at once only.
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
    // A return at the very end may be half of a line end.
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
